"""Targets and conditions in their shortest form: `{text: Save}` is "Save", `{visible: {text: Save}}` too."""

from __future__ import annotations

import re
from typing import Any

from handrail.protocol.target import REF_PATTERN

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
