"""Every action as a command, made from the index: `handrail tap @b1`, `handrail type-text Ada --target Name`.

Reads words and options by the index alone and imports nothing of the vocabulary: help is answered at once.
A wrong word goes on as it is: the vocabulary is the one place that says what is wrong.
"""

from __future__ import annotations

import atexit
import gc
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from handrail.cli.index import ACTION_COMMANDS, SELECTOR, SHARED, ActionCommand, Field
from handrail.cli.options import DeviceOptions, device_options
from handrail.errors import InvalidAction

_FIELD, _SELECT = "field_", "select_"
_ALWAYS = "Options of every action"
_FORMS = {
    "target": "@b1, 540,750 or a text",
    "selector": "@b1 or a text",
    "point": "540,750",
    "condition": "a text that can be seen, or JSON",
}
"""How a word says what a field takes."""
_LONGEST = 30  # characters of words to choose from that stand beside an option's name


@cache
def command_for(name: str) -> click.Command:
    """The command of an action, by its name in the index."""
    action = ACTION_COMMANDS[name]

    @device_options
    def run(*, target: DeviceOptions, as_json: bool, out: Path | None = None, **given: Any) -> None:
        words = given.pop("words", ())
        fields = fields_of(action, words, _given(given, _FIELD), _given(given, _SELECT))
        # The process ends with the action: its garbage is not worth looking for, least of all at the end.
        gc.disable()
        atexit.register(gc.freeze)
        from handrail.cli.perform import perform  # noqa: PLC0415  (pydantic, sqlite3, the engine)

        try:
            code = perform({"type": action.type, **fields}, target, as_json=as_json, out=out)
        except InvalidAction as error:
            raise _with_example(action, error) from None
        sys.exit(code)

    # Behind the first word of `shell`, everything is the device's: `handrail shell pm list packages -3`.
    settings = {"allow_interspersed_args": "command" not in action.positional}
    made = click.command(name, cls=_Command, help=action.text, context_settings=settings)(run)
    made.equip(action)
    return made


def _given(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    """What was said, by the field's own name."""
    found = {name: value for name, value in values.items() if name.startswith(prefix) and value is not None}
    return {name.removeprefix(prefix): value for name, value in found.items()}


class _Command(click.Command):
    """Options in three parts: special to the action, describing its target, the same for all."""

    action: ActionCommand
    parts: dict[str, list[click.Parameter]]

    def equip(self, action: ActionCommand) -> None:
        json = click.Option(["--json", "as_json"], is_flag=True, help="Print the envelope.")
        self.action = action
        self.parts = {
            "Options": _own_options(action),
            "Describing the target": _target_options(action),
            _ALWAYS: [*map(_option, SHARED), json, *self.params],
        }
        words = [click.Argument(["words"], nargs=-1, metavar=_usage(action))] if action.positional else []
        self.params = [*words, *(one for part in self.parts.values() for one in part)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        fields = {one.name: one for one in self.action.fields}
        arguments = [(name.upper(), _help(fields[name])) for name in self.action.positional]
        options = {
            title: [record for one in part if (record := one.get_help_record(ctx))]
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


def _own_options(action: ActionCommand) -> list[click.Parameter]:
    made: list[click.Parameter] = [_option(one) for one in action.fields if one.name not in action.positional]
    return [*made, _out()] if action.gives_picture else made


def _target_options(action: ActionCommand) -> list[click.Parameter]:
    own = {one.name for one in action.fields}
    return [_option(one, _SELECT) for one in SELECTOR if one.name not in own] if "target" in own else []


def _usage(action: ActionCommand) -> str:
    """`TARGET VALUE`, `[PACKAGE]`, `COMMAND...`."""
    required = {one.name for one in action.fields if one.presence == "required"}
    shown = [name.upper() if name in required else f"[{name.upper()}]" for name in action.positional]
    return " ".join(shown) + ("..." if "command" in action.positional else "")


def _option(one: Field, prefix: str = _FIELD) -> click.Option:
    flag = one.name.replace("_", "-")
    if one.kind == "boolean":
        return click.Option([f"--{flag}/--no-{flag}", prefix + one.name], default=None, help=_help(one))
    return click.Option([f"--{flag}", prefix + one.name], metavar=_metavar(one.kind), help=_help(one))


def _metavar(kind: str) -> str:
    """`[up|down]`, `INTEGER`, `TARGET`, `TEXT`; long lists of words stand in the help."""
    if " | " in kind:
        return f"[{kind.replace(' | ', '|')}]" if len(kind) <= _LONGEST else "WORD"
    return "TEXT" if kind == "string" else kind.partition(" ")[0].upper()


def _help(one: Field) -> str:
    """The meaning, with what a name and a metavar can't say."""
    words = one.kind.replace(" | ", ", ") if " | " in one.kind else _FORMS.get(one.kind, "")
    bounds = one.kind.partition(" ")[2] if "…" in one.kind and not words else ""
    presence = one.presence if one.presence != "required" else ""
    beside = "; ".join(part for part in (words, bounds, presence) if part)
    return f"{one.text}  [{beside}]" if beside else one.text


def _out() -> click.Option:
    return click.Option(
        ["--out"],
        type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
        metavar="FILE",
        help="Where the picture goes; - is standard output.  [default: a new temporary file]",
    )


_OBJECTS = ("target", "condition", "selector", "point")
"""Kinds that a JSON object can say more exactly than a word."""


def fields_of(
    command: ActionCommand,
    words: Sequence[str],
    options: Mapping[str, Any],
    selector: Mapping[str, Any],
) -> dict[str, Any]:
    """`options` and `selector` hold what was given, by field name."""
    kinds = {one.name: one for one in (*command.fields, *SHARED)}
    given: dict[str, Any] = {**_placed(command, words, bool(selector)), **options}
    fields = {name: _value(value, kinds[name]) for name, value in given.items()}
    if "command" in fields:
        fields["command"] = _tokens(fields["command"], bool(fields.get("raw")))
    if selector:
        fields["target"] = _described(given.get("target"), selector)
    _refuse_missing(command, fields)
    return fields


def _placed(command: ActionCommand, words: Sequence[str], has_selector: bool) -> dict[str, Any]:
    """Words in the order of the usage line; a target that options describe takes no place in it."""
    names = list(command.positional)
    if has_selector and "target" in names and len(words) < len(names):
        names.remove("target")
    if names == ["command"]:
        return {"command": list(words)} if words else {}
    if len(words) > len(names):
        extra = " ".join(words[len(names) :])
        raise InvalidAction(
            f"{command.type}: {extra!r} is too much",
            hint=f"It takes {' '.join(names).upper()}. Quote a text that has spaces.",
            path="",
        )
    return dict(zip(names, words, strict=False))


def _value(value: Any, field: Field) -> Any:
    if not isinstance(value, str):
        return value
    kind = field.kind
    if kind.startswith(("integer", "number", "boolean")):
        return _scalar(value)
    if kind in _OBJECTS and value.startswith("{"):
        return _object(value, field.name)
    return value


def _scalar(text: str) -> Any:
    """A number, true, false or a quoted text where it is one; any other word stays a word."""
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, str | int | float) else text


def _object(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidAction(
            f"{path}: not valid JSON: {error}", hint='Quote it: \'{"text": "Save"}\'.', path=path
        ) from None


def _tokens(words: list[str], raw: bool) -> list[str] | str:
    """One word is a command line of its own; `raw` hands all of them to the device's shell."""
    return " ".join(words) if raw or len(words) == 1 else words


def _described(bare: Any, selector: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {name: _selected(name, value) for name, value in selector.items()}
    if bare is None:
        return chosen
    if "text" in chosen:
        raise InvalidAction(
            f"{bare!r} and --text both name the target", path="target", hint="Give one of them."
        )
    return {"text": bare, **chosen}


def _selected(name: str, value: Any) -> Any:
    if name == "index":
        return _scalar(value)
    return _object(value, name) if value.startswith("{") else value


def _with_example(command: ActionCommand, error: InvalidAction) -> InvalidAction:
    """Who gives commands knows no paths of fields: a right command says more than the general hint."""
    if error.hint == InvalidAction.hint:
        error.hint = f"For example: {command.example}"
    return error


def _refuse_missing(command: ActionCommand, fields: Mapping[str, Any]) -> None:
    for one in command.fields:
        if one.presence == "required" and one.name not in fields:
            more = "; a target is @b1, 540,750, a text, or --id, --role, …" if one.kind == "target" else ""
            raise InvalidAction(
                f"{one.name}: is required", path=one.name, hint=f"For example: {command.example}{more}"
            )
