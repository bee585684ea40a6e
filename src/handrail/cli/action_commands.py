"""Every action as a command, made from the index: `handrail tap @b1`, `handrail type-text Ada --target Name`.

A wrong word goes on as it is: the vocabulary is the one place that says what is wrong.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter

from handrail.cli.options import DeviceOptions, device_options, json_option
from handrail.cli.output import print_json, print_table
from handrail.dialects.rules import unknown_name
from handrail.errors import InvalidAction
from handrail.protocol.act import SHARED_FIELDS, Act
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS, json_schema
from handrail.protocol.describe import DescribedAction, DescribedField, describe, describe_fields, summary
from handrail.protocol.keys import number_of_key
from handrail.protocol.schema import schema_of
from handrail.protocol.target import Selector

_FIELD, _SELECT = "field_", "select_"
_ALWAYS = "Options of every action"
_FORMS = {
    "target": "@b1, 540,750 or a text",
    "selector": "@b1 or a text",
    "point": "540,750",
    "condition": "a text that can be seen, or JSON",
}
"""What a field of this kind takes on the command line."""
_LONGEST = 30  # characters of words to choose from that stand beside an option's name


@cache
def command_for(name: str) -> click.Command:
    action = ACTION_COMMANDS[name]

    @device_options
    def run(*, target: DeviceOptions, as_json: bool, out: Path | None = None, **values: Any) -> None:
        words = values.pop("words", ())
        fields = fields_from_command_line(
            action, words, _fields_with_prefix(values, _FIELD), _fields_with_prefix(values, _SELECT)
        )
        from handrail.cli.perform import perform  # noqa: PLC0415  (sqlite3, the engine)

        try:
            code = perform({"type": action.type, **fields}, target, as_json=as_json, out=out)
        except InvalidAction as error:
            # Paths of fields mean nothing on a command line; a correct command helps more.
            if error.hint == InvalidAction.hint:
                error.hint = f"For example: {action.example}"
            raise error from None
        sys.exit(code)

    # Behind the first word of `shell`, everything is the device's: `handrail shell pm list packages -3`.
    settings = {"allow_interspersed_args": "command" not in action.positional}
    command = click.command(name, cls=_CommandOfAction, help=action.text, context_settings=settings)(run)
    command.add_parameters(action)
    return command


def _fields_with_prefix(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    present = {name: value for name, value in values.items() if name.startswith(prefix) and value is not None}
    return {name.removeprefix(prefix): value for name, value in present.items()}


class _CommandOfAction(click.Command):
    """The command of one action. Its help has three groups of options: the action's, the target's, shared
    ones."""

    action: ActionCommand
    parts: dict[str, list[click.Parameter]]

    def add_parameters(self, action: ActionCommand) -> None:
        json = click.Option(["--json", "as_json"], is_flag=True, help="Print the envelope.")
        self.action = action
        options: list[click.Parameter] = [
            _option_of_field(field) for field in action.fields if field.name not in action.positional
        ]
        own = {field.name for field in action.fields}
        if action.act.traits.gives_picture:
            path = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
            where = "Where the picture goes; - is standard output.  [default: a new temporary file]"
            options.append(click.Option(["--out"], type=path, metavar="FILE", help=where))
        selectors = selector_fields() if "target" in own else ()
        describing: list[click.Parameter] = [
            _option_of_field(field, _SELECT) for field in selectors if field.name not in own
        ]
        always = [*map(_option_of_field, shared_fields()), json, *self.params]
        self.parts = {"Options": options, "Describing the target": describing, _ALWAYS: always}
        self.params = [*options, *describing, *always]
        if action.positional:  # `TARGET VALUE`, `[PACKAGE]`, `COMMAND...`
            shown = [
                name.upper() if name in action.required else f"[{name.upper()}]" for name in action.positional
            ]
            usage = " ".join(shown) + ("..." if "command" in action.positional else "")
            self.params.insert(0, click.Argument(["words"], nargs=-1, metavar=usage))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        fields = {field.name: field for field in self.action.fields}
        arguments = [(name.upper(), _help_of_field(fields[name])) for name in self.action.positional]
        options = {
            title: [record for option in part if (record := option.get_help_record(ctx))]
            for title, part in self.parts.items()
        }
        if (help_option := self.get_help_option(ctx)) and (record := help_option.get_help_record(ctx)):
            options[_ALWAYS].append(record)
        for title, records in {"Arguments": arguments, **options}.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Example"):
            formatter.write_text(self.action.example)


def _option_of_field(field: DescribedField, prefix: str = _FIELD) -> click.Option:
    flag, kind, text = field.name.replace("_", "-"), field.kind, _help_of_field(field)
    if kind == "boolean":
        return click.Option([f"--{flag}/--no-{flag}", prefix + field.name], default=None, help=text)
    # `[up|down]`, `INTEGER`, `TARGET`, `TEXT`; long lists of words stand in the help.
    metavar = "TEXT" if kind == "string" else kind.partition(" ")[0].upper()
    if " | " in kind:
        metavar = f"[{kind.replace(' | ', '|')}]" if len(kind) <= _LONGEST else "WORD"
    return click.Option([f"--{flag}", prefix + field.name], metavar=metavar, help=text)


def _help_of_field(field: DescribedField) -> str:
    """The field's meaning, then its choices, bounds and default in brackets."""
    words = field.kind.replace(" | ", ", ") if " | " in field.kind else _FORMS.get(field.kind, "")
    bounds = field.kind.partition(" ")[2] if "…" in field.kind and not words else ""
    presence = field.presence if field.presence != "required" else ""
    beside = "; ".join(part for part in (words, bounds, presence) if part)
    return f"{field.text}  [{beside}]" if beside else field.text


_OBJECTS = ("target", "condition", "selector", "point")
"""Kinds of fields that take a JSON object as well as a word."""


def fields_from_command_line(
    command: ActionCommand, words: Sequence[str], options: Mapping[str, Any], selector: Mapping[str, Any]
) -> dict[str, Any]:
    """`options` and `selector` hold the words of the command line by field name."""
    kinds = {field.name: field for field in (*command.fields, *shared_fields())}
    texts: dict[str, Any] = {**_positional_fields(command, words, bool(selector)), **options}
    fields = {name: _parse_option(value, kinds[name]) for name, value in texts.items()}
    # A single word is a whole command line; `raw` hands all words to the device's shell.
    if "command" in fields and (fields.get("raw") or len(fields["command"]) == 1):
        fields["command"] = " ".join(fields["command"])
    if selector:
        fields["target"] = _target_with_selector(texts.get("target"), selector)
    for name in command.required:
        if name not in fields:
            more = "; a target is @b1, 540,750, a text, or --id, --role, …"
            hint = f"For example: {command.example}" + (more if kinds[name].kind == "target" else "")
            raise InvalidAction.at(name, "is required", hint=hint)
    return fields


def _positional_fields(command: ActionCommand, words: Sequence[str], has_selector: bool) -> dict[str, Any]:
    """Words in the order of the usage line. A target that options describe is not among them."""
    names = list(command.positional)
    if has_selector and "target" in names and len(words) < len(names):
        names.remove("target")
    if names == ["command"]:
        return {"command": list(words)} if words else {}
    if len(words) > len(names):
        extra = " ".join(words[len(names) :])
        hint = f"It takes {' '.join(names).upper()}. Quote a text that has spaces."
        raise InvalidAction(f"{command.type}: {extra!r} is too much", hint=hint, path="")
    return dict(zip(names, words, strict=False))


def _parse_option(value: Any, field: DescribedField) -> Any:
    if isinstance(value, str) and field.kind.startswith(("integer", "number", "boolean")):
        return _parse_scalar(value)
    if isinstance(value, str) and field.kind in _OBJECTS and value.startswith("{"):
        return _parse_object(value, field.name)
    return value


def _parse_scalar(text: str) -> Any:
    """A number, true, false or a quoted text where it is valid JSON, else the word itself."""
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, str | int | float) else text


def _parse_object(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidAction.at(
            path, f"not valid JSON: {error}", hint='Quote it: \'{"text": "Save"}\'.'
        ) from None


def _target_with_selector(bare: Any, selector: Mapping[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for name, value in selector.items():
        if name == "index":
            chosen[name] = _parse_scalar(value)
        else:
            chosen[name] = _parse_object(value, name) if value.startswith("{") else value
    if bare is None:
        return chosen
    if "text" in chosen:
        raise InvalidAction(
            f"{bare!r} and --text both name the target", path="target", hint="Give one of them."
        )
    return {"text": bare, **chosen}


class ActionCommand:
    """One action. It is described when it is asked for: a schema of all actions takes half a second."""

    def __init__(self, act: type[Act]) -> None:
        self.act = act

    @cached_property
    def _description(self) -> DescribedAction:
        return describe(self.act)

    @property
    def type(self) -> str:
        return self._description.type

    @property
    def text(self) -> str:
        return self._description.text

    @cached_property
    def fields(self) -> tuple[DescribedField, ...]:
        return tuple(field for field in self._description.fields if field.name not in SHARED_FIELDS)

    @cached_property
    def required(self) -> list[str]:
        return [field.name for field in self._description.fields if field.presence == "required"]

    @property
    def positional(self) -> tuple[str, ...]:
        """The fields that positional words fill, in order: the action's shorthand field, then all required
        ones."""
        short = self.act.traits.shorthand
        return tuple([short, *self.required] if short and short not in self.required else self.required)

    @property
    def example(self) -> str:
        """The class's example as a command line, without fields that have their default value."""
        example = self.act.example
        usual: dict[str, Any] = {"type": example["type"]}
        for field in self._description.fields:
            if default := field.presence.partition("default ")[2]:
                usual[field.name] = json.loads(default)
        shown = {name: value for name, value in example.items() if name not in usual or usual[name] != value}
        first = [name for name in self.positional if name in shown]
        words = [word for name in first for word in _example_words(shown[name])]
        options = [word for name in shown if name not in first for word in _example_option(name, shown[name])]
        return shlex.join(["handrail", example["type"].replace("_", "-"), *words, *options])


def _example_option(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    return [flag, *_example_words(value)]


def _example_words(value: Any) -> list[str]:
    match value:
        case {"ref": str(word)} | {"text": str(word)} if len(value) == 1:
            return [word]
        case {"x": x, "y": y}:
            return [f"{x},{y}"]
        case {"visible": shown}:
            return _example_words(shown)
        case dict():
            return [word for name, part in value.items() for word in _example_option(name, part)]
        case [dict(), *_]:
            return [" ".join(word for part in value for word in _example_words(part))]
        case [_, _, *_] if all(number_of_key(part) is not None for part in value):
            return ["+".join(value)]
        case list() | str():
            return [value] if isinstance(value, str) else [str(part) for part in value]
        case _:
            return [json.dumps(value)]


ACTION_COMMANDS = {
    kind.replace("_", "-"): ActionCommand(act) for kind, act in ACTIONS.items() if kind not in DESK_ACTIONS
}
"""Command name → action."""


@cache
def selector_fields() -> tuple[DescribedField, ...]:
    fields = describe_fields(schema_of(TypeAdapter(Selector), "")["$defs"]["Selector"])
    return tuple(field for field in fields if field.name not in ("ref", "element_id"))


@cache
def shared_fields() -> tuple[DescribedField, ...]:
    """Leaves out `device`, which every command has."""
    names = {*SHARED_FIELDS} - {"device"}
    return tuple(field for field in describe(ACTIONS["tap"]).fields if field.name in names)


@click.command()
@click.argument("names", nargs=-1)
@json_option("The vocabulary as one JSON Schema document.")
def actions(names: tuple[str, ...], as_json: bool) -> None:
    """Show every action, or the fields of the actions named."""
    for name in names:
        if name not in ACTIONS:
            raise unknown_name(name, ACTIONS)
    if as_json:
        schema = json_schema()
        if names:
            wanted = {f"#/$defs/{ACTIONS[name].__name__}" for name in names}
            schema["oneOf"] = [choice for choice in schema["oneOf"] if choice["$ref"] in wanted]
            mapping = schema["discriminator"]["mapping"]
            schema["discriminator"]["mapping"] = {kind: mapping[kind] for kind in mapping if kind in names}
        print_json(schema)
    elif not names:
        table = [
            (name, act.traits.effect, act.traits.semantic, summary(act)) for name, act in ACTIONS.items()
        ]
        print_table(f"{len(table)} actions", ("type", "effect", "semantic", "what it does"), table)
    for described in () if as_json else [describe(ACTIONS[name]) for name in names]:
        click.echo(f"{described.type}: {described.text}")
        rows = [(field.name, field.kind, field.presence, field.text) for field in described.fields]
        print_table(described.type, ("field", "type", "", "meaning"), rows)
        click.echo(f"example: {described.example}\n")
