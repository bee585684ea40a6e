"""One entry of another program's configuration, put in or taken out as text: all other bytes stay.

JSON with comments and trailing commas, and TOML. Whatever is changed is read again and compared with what was
meant; where that differs, or the text is not understood, the answer is `InvalidAction`. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.errors import InvalidAction

Entry = dict[str, Any]
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
DEEPEST = 100


@dataclass(slots=True)
class JsonPart:
    """One value and where it stands."""

    start: int
    end: int
    value: Any
    members: dict[str, tuple[int, JsonPart]] = field(default_factory=dict)
    """Of an object: the place of each key, and its value."""
    items: list[JsonPart] = field(default_factory=list)
    is_object: bool = False


def _no_json(why: str, at: int, text: str) -> InvalidAction:
    line = text.count("\n", 0, at) + 1
    return InvalidAction(f"line {line}: {why}", hint="Mend the file, or add the entry by hand.", path="file")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def part(self, at: int, depth: int = 0) -> JsonPart:
        if depth > DEEPEST:
            raise _no_json("nested too deeply", at, self.text)
        start = self.text[at : at + 1]
        if start == "{":
            return self._object(at, depth)
        if start == "[":
            return self._list(at, depth)
        found = (_STRING if start == '"' else _WORD).match(self.text, at)
        if not found:
            raise _no_json("this is no JSON", at, self.text)
        return JsonPart(at, found.end(), self._plain(found[0], at))

    def _plain(self, written: str, at: int) -> Any:
        try:
            return json.loads(written)
        except ValueError:
            raise _no_json("this is no JSON", at, self.text) from None

    def _object(self, at: int, depth: int) -> JsonPart:
        made = JsonPart(at, at, {}, is_object=True)
        place = self.skip(at + 1)
        while self.text[place : place + 1] != "}":
            key = self.part(place) if self.text[place : place + 1] == '"' else None
            if key is None or key.value in made.members:
                raise _no_json("a key stands twice" if key else "a key should be here", place, self.text)
            colon = self.skip(key.end)
            if self.text[colon : colon + 1] != ":":
                raise _no_json("a colon should be here", colon, self.text)
            value = self.part(self.skip(colon + 1), depth + 1)
            made.members[key.value] = (place, value)
            made.value[key.value] = value.value
            place = self._next(value.end, "}")
        made.end = place + 1
        return made

    def _list(self, at: int, depth: int) -> JsonPart:
        made = JsonPart(at, at, [])
        place = self.skip(at + 1)
        while self.text[place : place + 1] != "]":
            item = self.part(place, depth + 1)
            made.items.append(item)
            made.value.append(item.value)
            place = self._next(item.end, "]")
        made.end = place + 1
        return made

    def _next(self, at: int, closing: str) -> int:
        """Where the next one begins, or the end is; a comma may stand before the end."""
        place = self.skip(at)
        if self.text[place : place + 1] == ",":
            return self.skip(place + 1)
        if self.text[place : place + 1] != closing:
            raise _no_json(f"a comma or {closing} should be here", place, self.text)
        return place


def read_json(text: str) -> JsonPart:
    """The whole text; an empty one is an empty object."""
    reader = _Reader(text)
    start = reader.skip(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return JsonPart(start, start, {}, is_object=True)
    made = reader.part(start)
    if not made.is_object or reader.skip(made.end) != len(text):
        raise _no_json("this should be one object", made.end, text)
    return made


def put_json(text: str, path: Sequence[str], value: Any) -> str:
    """The same text with this value at this path."""
    whole = read_json(text)
    if whole.start == whole.end:
        newline = "" if text.endswith("\n") or not text else "\n"
        return put_json(f"{text}{newline}{{}}\n", path, value)
    part, known = whole, 0
    while known < len(path) and part.is_object and path[known] in part.members:
        part, known = part.members[path[known]][1], known + 1
    if known == len(path):
        made = text[: part.start] + _written(value, _indent(text, part.start), text) + text[part.end :]
    elif part.is_object:
        for name in reversed(path[known + 1 :]):
            value = {name: value}
        made = _with_member(text, part, path[known], value)
    else:
        raise InvalidAction(
            f"{'.'.join(path[:known])}: should be an object", path="file", hint="Mend it first."
        )
    return made


def _with_member(text: str, part: JsonPart, name: str, value: Any) -> str:
    outer = _indent(text, part.start)
    newline = "\r\n" if "\r\n" in text else "\n"
    if not part.members:
        inner = outer + _step(text)
        line = f"{newline}{inner}{json.dumps(name)}: {_written(value, inner, text)}{newline}{outer}"
        rest = text[part.start + 1 :]
        return (
            text[: part.start + 1]
            + line
            + (rest.lstrip(" \t\r\n") if rest.lstrip().startswith("}") else rest)
        )
    first, _ = next(iter(part.members.values()))
    last = max(value.end for _, value in part.members.values())
    is_one_line = newline not in text[part.start : part.end]
    inner = "" if is_one_line else _indent(text, first)
    between = " " if is_one_line else newline + inner
    after = _Reader(text).skip(last)
    has_comma = text[after : after + 1] == ","
    tail = after + 1 if has_comma else last
    end = _after_comments(text, tail, part.end - 1)
    comma = "" if has_comma else ","
    line = f"{between}{json.dumps(name)}: {_written(value, inner, text, flat=is_one_line)}"
    return text[:tail] + comma + text[tail:end] + line + text[end:]


def _after_comments(text: str, start: int, end: int) -> int:
    """A comment behind the last member stays behind it."""
    return start + len(text[start:end].rstrip())


def drop_json(text: str, path: Sequence[str]) -> str:
    """The same text without the member at this path; as it was where there is none."""
    part = read_json(text)
    for name in path[:-1]:
        if name not in part.members:
            return text
        part = part.members[name][1]
    if path[-1] not in part.members:
        return text
    start, gone = part.members[path[-1]]
    reader = _Reader(text)
    after = reader.skip(gone.end)
    ends = [value.end for _, value in part.members.values() if value.end < start]
    if text[after : after + 1] == ",":
        follows = re.compile(r"[ \t]*(?:\r?\n)?[ \t]*").match(text, after + 1)
        return text[:start] + text[follows.end() if follows else after + 1 :]
    if not ends:
        return text[:start].rstrip() + text[gone.end :].lstrip(" \t\r\n")
    comma = text.index(",", reader.skip(max(ends)))  # a comment may have commas of its own
    kept = text[comma + 1 : start].rstrip()
    return text[:comma] + kept + text[gone.end :]


def texts_of(part: JsonPart, without: Sequence[str] = ()) -> Iterator[JsonPart]:
    """Every text value, but for those of one entry."""
    if isinstance(part.value, str):
        yield part
    for name, (_, value) in part.members.items():
        if without and name == without[0] and len(without) == 1:
            continue
        yield from texts_of(value, without[1:] if without and name == without[0] else ())
    for item in part.items:
        yield from texts_of(item)


def _indent(text: str, at: int) -> str:
    """Of the line that this place is on."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return "\t" if found and found[1].startswith("\t") else found[1] if found and len(found[1]) <= 8 else "  "


def _written(value: Any, indent: str, text: str, *, flat: bool = False) -> str:
    if flat:
        return json.dumps(value, ensure_ascii=False)
    made = json.dumps(value, ensure_ascii=False, indent=_step(text))
    newline = "\r\n" if "\r\n" in text else "\n"
    return made.replace("\n", newline + indent)
