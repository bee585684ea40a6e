"""Every action as a command, made from the index: `handrail tap @b1`, `handrail type-text Ada --target Name`.

Imports nothing of the vocabulary: a help or a slip of the pen is answered at once.
"""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path
from typing import Any

import click

from handrail.cli.device_option import DeviceOptions, device_options
from handrail.cli.index import ACTION_COMMANDS, SELECTOR, SHARED, ActionCommand, Field
from handrail.cli.words import fields_of

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

        sys.exit(perform({"type": action.type, **fields}, target, as_json=as_json, out=out))

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
    return [*made, _out()] if action.type == "screenshot" else made


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
