"""`handrail check`: actions in a file, in any dialect, validated and shown in their native form.

Each problem is told with its line in the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from handrail.cli.options import DeviceOptions, device_options, json_option
from handrail.cli.output import print_json, read_input
from handrail.dialects import openpocket
from handrail.dialects.frame import Conversation, CoordinateFrame, size_from, unit_from
from handrail.dialects.registry import carry_out, read_agentest
from handrail.dialects.registry import dialect as find
from handrail.dialects.table import ActionOutcome, ReadActions
from handrail.errors import ERRORS, HandrailError, InvalidAction
from handrail.flow.document import JsonPath, nearest_node, split_path
from handrail.flow.parse import Unreadable
from handrail.flow.parse import read_json as parse_json
from handrail.invocation import run
from handrail.protocol.read import action_from, read_json

F = TypeVar("F", bound=Callable[..., Any])


def frame_options(command: F) -> F:
    for option in (
        click.option("--picture", metavar="WxH", help="Size of the picture that the model was shown."),
        click.option("--screen", metavar="WxH", help="Size of the screen in pixels."),
        click.option("--frame", metavar="UNIT", help="device, picture, resized, thousand, unit or percent."),
    ):
        command = option(command)
    return command


def conversation_of(
    dialect: str, frame: str | None = None, screen: str | None = None, picture: str | None = None
) -> Conversation:
    unit = unit_from(frame, find(dialect).unit)
    return Conversation(CoordinateFrame(unit, size_from(screen, "screen"), size_from(picture, "picture")))


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """One action of the input: the JSON text it stands in, its place there, and its value."""

    text: str
    first_line: int
    prefix: tuple[int, ...]
    value: Any

    def line_of(self, path: str) -> int:
        called = isinstance(self.value, Mapping) and isinstance(self.value.get("arguments"), Mapping)
        inside = ("arguments",) if called and path != "type" else ()
        return self.first_line - 1 + line_of(self.text, (*self.prefix, *inside, *split_path(path)))


@click.command()
@click.argument("file", default="-")
@click.option("--dialect", default="native", show_default=True, metavar="NAME", help="How it is written.")
@click.option("--to", metavar="NAME", help="Also write it in this dialect.")
@frame_options
@json_option("One JSON document with a result per action.")
def check(file: str, dialect: str, to: str | None, as_json: bool, **sizes: str | None) -> None:
    """Check one or many actions in FILE (default: standard input), without a device.

    FILE holds a JSON object, an array, one object per line, or what a model printed. Every good action is
    printed in its native form, every bad one with line, path and suggestion. Exit code 0 when all are good,
    otherwise 2. A dialect whose numbers are not pixels of the screen needs the sizes.
    """
    text = _read_text(file)
    name = "stdin" if file == "-" else file
    talk = conversation_of(dialect, **sizes)
    target = (to, conversation_of(to, **{**sizes, "frame": None})) if to else None
    results = [_check_action(entry, dialect, talk, target) for entry in _split_actions(text, dialect)]
    good = all(result["ok"] for result in results)
    if as_json:
        print_json({"ok": good, "results": results})
    for result in () if as_json else results:
        if result.pop("ok"):
            shown = result["native"] if set(result) == {"native"} else result
            click.echo(json.dumps(shown, ensure_ascii=False))
        else:
            place, wrong = f"{name}:{result['line']}", result["error"]
            click.echo(f"{place}: {wrong['code']} {wrong['message']}\n  {wrong['hint']}", err=True)
    sys.exit(0 if good else 2)


def _read_text(file: str) -> str:
    try:
        return read_input(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "Save the file as UTF-8."
        raise InvalidAction(f"{file} is not UTF-8: byte {error.start}", hint=hint) from None


def _split_actions(text: str, dialect: str) -> Iterator[CheckedEntry]:
    """The actions in the text: an object, an array, or one object per line."""
    try:
        value = read_json(text)
    except InvalidAction as error:
        own = find(dialect)
        reads_text = dialect == "openpocket" or own.is_text or own.reads_text
        is_prose = reads_text and not _has_object_per_line(text)
        yield from [CheckedEntry("{}", 1, (), text)] if is_prose else _split_lines(text, error)
        return
    if isinstance(value, list) and value:
        yield from (CheckedEntry(text, 1, (index,), entry) for index, entry in enumerate(value))
    else:
        yield CheckedEntry(text, 1, (), value)


def _has_object_per_line(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return isinstance(read_json(first), dict)
    except InvalidAction:
        return False


def _split_lines(text: str, error: InvalidAction) -> Iterator[CheckedEntry]:
    if not text.strip():
        hint = "Give JSON: an object, an array, or one object per line."
        raise InvalidAction("there is nothing to check", hint=hint)
    if not _has_object_per_line(text):
        raise error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = read_json(line)
            except InvalidAction as unreadable:
                value = unreadable
            yield CheckedEntry(line, number, (), value)


def _check_action(
    entry: CheckedEntry, dialect: str, talk: Conversation, to: tuple[str, Conversation] | None
) -> dict[str, Any]:
    try:
        if isinstance(entry.value, InvalidAction):
            raise entry.value
        read = _read_to_native(entry.value, dialect, talk)
        return {"ok": True, **read, **(_write_in_dialect(read, *to) if to else {})}
    except HandrailError as error:
        unread = isinstance(entry.value, InvalidAction)
        line = entry.first_line if unread else entry.line_of(str(error.details.get("path", "")))
        return {"ok": False, "line": line, "error": error.to_dict()}


def _read_to_native(value: Any, dialect: str, talk: Conversation) -> dict[str, Any]:
    """The native form. Dialects that express more than actions add fields of their own."""
    if dialect == "openpocket":
        step = openpocket.parse_step(value if isinstance(value, str | Mapping) else json.dumps(value))
        thought = {"thought": step.thought} if step.thought else {}
        repairs = {"repairs": step.repairs} if step.repairs else {}
        return {**thought, **step.normalised.to_dict(), **repairs}
    if dialect == "agentest":
        steps = [step.to_dict() for step in read_agentest(value)]
        return {"native": steps[0] if len(steps) == 1 else steps}
    return find(dialect).read(value, talk).to_dict()


def _write_in_dialect(read: Mapping[str, Any], name: str, talk: Conversation) -> dict[str, Any]:
    """The same actions in another dialect. Raises `Unsupported` where it can't express one."""
    native = read.get("native") or []
    steps = native if isinstance(native, list) else [native]
    actions = [action_from(step.get("action", step)) for step in steps]
    written = [find(name).write(action, talk) for action in actions]
    return {"written": written[0] if len(written) == 1 else written}


def line_of(text: str, path: JsonPath) -> int:
    """The line where the value at this path stands, or its nearest parent that is there. From 1."""
    try:
        return nearest_node(parse_json(text, []), path).start.line
    except Unreadable:  # too deep, or a number that is too long
        return 1


@click.command()
@click.argument("file", default="-")
@click.option("--dialect", required=True, metavar="NAME", help="How it is written: ui_tars, mobile_use, ….")
@frame_options
@json_option("Also print the envelopes, as one JSON document.")
@device_options
def act(file: str, dialect: str, target: DeviceOptions, as_json: bool, **sizes: str | None) -> None:
    """Run the actions in FILE (default: standard input), and print the answer in the maker's form.

    A maker's JSON or a model's text goes in: one action, or a batch where its form allows one. Exit code 0
    when all of it succeeded.
    """
    written: Any = _read_text(file)
    with suppress(ValueError, RecursionError):  # else it is a model's text
        written = json.loads(written)
    sys.exit(run(_perform_in_dialect(written, dialect, target, as_json, sizes)))


async def _perform_in_dialect(
    written: Any, dialect: str, target: DeviceOptions, as_json: bool, sizes: Mapping[str, str | None]
) -> int:
    own, talk = find(dialect), conversation_of(dialect, **sizes)
    from handrail.cli.perform import open_performer  # noqa: PLC0415  (`check` does without)

    async with open_performer(target) as perform_action:
        try:
            done = await carry_out(own, written, talk, lambda action: perform_action(action.to_dict()))
        except HandrailError as error:  # the maker's program wants an answer to this, too
            failure = ActionOutcome(False, error.message, error.code, error.hint)
            print_json(own.answer(ReadActions(()), failure))
            return error.exits.exit_code
    print_json(done.to_dict() if as_json else done.answer)
    return ERRORS[done.outcome.code]("").exits.exit_code if done.outcome.code else 0
