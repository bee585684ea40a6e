"""`handrail check`: actions in a file, in any dialect, validated and shown in their native form.

Each problem is told with its line in the file.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from handrail.cli.act import frame_options, talk_of
from handrail.cli.output import print_json, read_input
from handrail.dialects import agentest, openpocket
from handrail.dialects.parts import Conversation
from handrail.dialects.registry import call_of, object_of
from handrail.dialects.registry import dialect as find
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol.read import action_from, read_json


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
@click.option("--json", "as_json", is_flag=True, help="One JSON document with a result per action.")
def check(file: str, dialect: str, to: str | None, as_json: bool, **sizes: str | None) -> None:
    """Check one or many actions in FILE (default: standard input), without a device.

    FILE holds a JSON object, an array, one object per line, or what a model printed. Every good action is
    printed in its native form, every bad one with line, path and suggestion. Exit code 0 when all are good,
    otherwise 2. A dialect whose numbers are no pixels of the screen needs to know the sizes.
    """
    text = _decode(read_input(file), file)
    name = "stdin" if file == "-" else file
    talk = talk_of(dialect, **sizes)
    target = (to, talk_of(to, **{**sizes, "frame": None})) if to else None
    results = [_check_one(entry, dialect, talk, target) for entry in _entries(text, dialect)]
    good = all(result["ok"] for result in results)
    if as_json:
        print_json({"ok": good, "results": results})
    else:
        for result in results:
            _print_result(name, result)
    sys.exit(0 if good else 2)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidAction(
            f"{name} is not UTF-8: byte {error.start}", hint="Save the file as UTF-8."
        ) from None


def _entries(text: str, dialect: str) -> Iterator[CheckedEntry]:
    """The actions in the text: an object, an array, or one object per line."""
    try:
        value = read_json(text)
    except InvalidAction as error:
        is_prose = _reads_text(dialect) and not _is_lines(text)
        yield from _as_prose(text) if is_prose else _from_lines(text, error)
        return
    if isinstance(value, list) and value:
        yield from (CheckedEntry(text, 1, (index,), one) for index, one in enumerate(value))
    else:
        yield CheckedEntry(text, 1, (), value)


def _reads_text(name: str) -> bool:
    """Whether what a model printed is understood as it is."""
    own = find(name)
    return name == "openpocket" or own.is_text or own.reads_text


def _as_prose(text: str) -> Iterator[CheckedEntry]:
    yield CheckedEntry("{}", 1, (), text)


def _is_lines(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return isinstance(read_json(first), dict)
    except InvalidAction:
        return False


def _from_lines(text: str, error: InvalidAction) -> Iterator[CheckedEntry]:
    if not text.strip():
        raise InvalidAction(
            "there is nothing to check", hint="Give JSON: an object, an array, or one object per line."
        )
    if not _is_lines(text):
        raise error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield CheckedEntry(line, number, (), _line_value(line))


def _line_value(line: str) -> Any:
    try:
        return read_json(line)
    except InvalidAction as error:
        return error


def _check_one(
    entry: CheckedEntry,
    dialect: str,
    talk: Conversation | None = None,
    to: tuple[str, Conversation] | None = None,
) -> dict[str, Any]:
    try:
        if isinstance(entry.value, InvalidAction):
            raise entry.value
        read = _read(entry.value, dialect, talk or talk_of(dialect))
        return {"ok": True, **read, **(_written(read, *to) if to else {})}
    except HandrailError as error:
        unread = isinstance(entry.value, InvalidAction)
        line = entry.first_line if unread else entry.line_of(str(error.details.get("path", "")))
        return {"ok": False, "line": line, "error": error.to_dict()}


def _print_result(name: str, result: dict[str, Any]) -> None:
    if result["ok"]:
        shown = {key: value for key, value in result.items() if key != "ok"}
        click.echo(json.dumps(shown["native"] if set(shown) == {"native"} else shown, ensure_ascii=False))
    else:
        error = result["error"]
        click.echo(
            f"{name}:{result['line']}: {error['code']} {error['message']}\n  {error['hint']}", err=True
        )


def _read(value: Any, dialect: str, talk: Conversation) -> dict[str, Any]:
    """The seeds that have more to show than actions show it."""
    if dialect == "openpocket":
        return _openpocket(value)
    if dialect == "agentest":
        return _agentest(value)
    return find(dialect).read(value, talk).to_dict()


def _written(read: Mapping[str, Any], name: str, talk: Conversation) -> dict[str, Any]:
    """The same actions in another dialect. Raises `Unsupported` where it has no words for one."""
    native = read.get("native") or []
    steps = native if isinstance(native, list) else [native]
    actions = [action_from(one.get("action", one)) for one in steps]
    written = [find(name).write(one, talk) for one in actions]
    return {"written": written[0] if len(written) == 1 else written}


def _openpocket(value: Any) -> dict[str, Any]:
    step = openpocket.parse_step(value if isinstance(value, str | Mapping) else json.dumps(value))
    thought = {"thought": step.thought} if step.thought else {}
    repairs = {"repairs": step.repairs} if step.repairs else {}
    return {**thought, **step.normalised.to_dict(), **repairs}


def _agentest(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) and ("steps" in value or "action" not in value):
        name, arguments = ("run_flow", value) if "steps" in value else call_of(value)
        steps = agentest.read_tool(name, arguments)
        return {"native": steps[0].to_dict() if len(steps) == 1 else [step.to_dict() for step in steps]}
    return {"native": agentest.read_step(object_of(value)).to_dict()}


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")

JsonPath = tuple[str | int, ...]


def split_path(path: str) -> JsonPath:
    """`expect.all[1]` → ("expect", "all", 1)."""
    return tuple(int(index) if index else name for index, name in _PART.findall(path))


def line_of(text: str, path: JsonPath) -> int:
    """The line where the value at this path stands, or its nearest parent that is there. From 1."""
    best, line = -1, 1
    for here, offset in _positions(text):
        if len(here) > best and path[: len(here)] == here:
            best, line = len(here), text.count("\n", 0, offset) + 1
        if here == path:
            break
    return line


def _positions(text: str) -> Iterator[tuple[JsonPath, int]]:
    """Every value's path and offset, in document order, without recursion."""
    stack: list[list[str | int]] = []  # one entry a container: its kind, then the current key or index
    expect_key = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in ("}", "]"):
            stack.pop()
            expect_key = False
        elif word == ",":
            if stack[-1][0] == "[":
                stack[-1][1] = int(stack[-1][1]) + 1
            expect_key = stack[-1][0] == "{"
        elif word == ":":
            expect_key = False
        elif expect_key:
            stack[-1][1] = json.loads(word)
        else:
            yield tuple(part for _, part in stack), token.start()
            if word in ("{", "["):
                stack.append([word, 0])
                expect_key = word == "{"
