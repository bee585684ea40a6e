"""Data as YAML text in its shortest form: in one line where it fits, quotes only where needed.

Targets and conditions have short forms: `{text: Save}` is "Save", `{visible: {text: Save}}` too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from handrail.flow.nodes import read_plain
from handrail.protocol.target import REF_PATTERN

WIDTH = 100
_SAFE = re.compile(r"[\w/]([\w ./+$%&()'…€£!?-]*[\w./+$%&()'…€£!?-])?")
"""Texts that are the same text in every place of a YAML file."""
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar(value: Any) -> str:
    """One value."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _SAFE.fullmatch(value) and isinstance(read_plain(value), str):
        return value
    return f'"{"".join(_escape(char) for char in value)}"'


def flat(value: Any) -> str:
    """In one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {flat(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flat(one) for one in value) + "]"
    return scalar(value)


def entry(key: str, value: Any, width: int = WIDTH) -> list[str]:
    """`key: value`, over several lines where one would be too long."""
    line = f"{scalar(key)}: {flat(value)}"
    if len(line) <= width or not value or not isinstance(value, Mapping | list | tuple):
        return [line]
    return [f"{scalar(key)}:", *indented(block(value, width - 2))]


def block(value: Mapping[str, Any] | list[Any] | tuple[Any, ...], width: int = WIDTH) -> list[str]:
    """A mapping or list, one line or more for each of its parts."""
    if isinstance(value, Mapping):
        return [line for key, one in value.items() for line in entry(str(key), one, width)]
    return [f"- {flat(one)}" for one in value]


def indented(lines: list[str], by: int = 2) -> list[str]:
    """The same lines, further in."""
    return [" " * by + line for line in lines]


def item(lines: list[str]) -> list[str]:
    """The lines of a mapping as one item of a list."""
    return [f"- {lines[0]}", *indented(lines[1:])]


def _escape(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


_REF = re.compile(REF_PATTERN)
_POINT = re.compile(r"\s*-?\d{1,5}\s*,\s*-?\d{1,5}\s*", re.ASCII)
_TARGETS = frozenset({
    "target", "from", "to", "within", "near", "left_of", "right_of", "above", "below", "visible", "absent",
})  # fmt: skip
_CONDITIONS = frozenset({"expect", "when", "condition", "while", "until"})


def is_ref(text: str) -> bool:
    """A target in short that means a handle."""
    return bool(_REF.fullmatch(text))


def is_point(text: str) -> bool:
    """A target in short that means a place on the screen."""
    return bool(_POINT.fullmatch(text))


def shorten(value: Any, key: str = "") -> Any:
    """The same data with every target and condition in it as short as it can be."""
    if isinstance(value, list):
        inner = "condition" if key in ("all", "any") else ""
        return [shorten(one, inner) for one in value]
    if not isinstance(value, dict):
        return value
    inside = {name: shorten(one, name) for name, one in value.items()}
    if key in _TARGETS:
        return _target(inside)
    return _condition(inside) if key in _CONDITIONS else inside


def _target(value: dict[str, Any]) -> Any:
    if value.keys() == {"text"} and not is_ref(value["text"]) and not is_point(value["text"]):
        return value["text"]
    if value.keys() == {"ref"}:
        return value["ref"]
    if value.keys() == {"x", "y"}:
        return f"{value['x']},{value['y']}"
    return value


def _condition(value: dict[str, Any]) -> Any:
    seen = value.get("visible")
    return seen if value.keys() == {"visible"} and isinstance(seen, str) else value
