"""Finds the line of a path such as `expect.all[1]` in a JSON text that is known to be valid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")

Path = tuple[str | int, ...]


def split_path(path: str) -> Path:
    """`expect.all[1]` → ("expect", "all", 1)."""
    return tuple(int(index) if index else name for index, name in _PART.findall(path))


def line_of(text: str, path: Path) -> int:
    """The line where the value at this path stands, or its nearest parent that is there. From 1."""
    best, line = -1, 1
    for here, offset in _positions(text):
        if len(here) > best and path[: len(here)] == here:
            best, line = len(here), text.count("\n", 0, offset) + 1
        if here == path:
            break
    return line


def _positions(text: str) -> Iterator[tuple[Path, int]]:
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
