"""`windowStyle` filtered to what changes only the look inside a window's own bounds.

A safe list of properties, and a small grammar of values: no position, z-index, inset, transform,
pointer-events, filters, shadows or lengths that would reach outside, no function but colours and gradients.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PROPERTIES = frozenset(
    [
        *("color", "background", "background-color", "opacity", "accent-color"),
        *("border", "border-color", "border-style", "border-width", "border-radius"),
        *("border-top", "border-right", "border-bottom", "border-left"),
        *("padding", "padding-top", "padding-right", "padding-bottom", "padding-left", "gap"),
        *("font-family", "font-size", "font-style", "font-weight", "font-variant", "line-height"),
        *("letter-spacing", "word-spacing", "text-align", "text-transform", "text-decoration", "text-indent"),
        *("white-space", "word-break", "overflow-wrap", "direction"),
    ]
)
_UNITLESS = frozenset({"opacity", "font-weight", "line-height"})
_LEAST_OPACITY = 0.3
"""A window that nobody sees must not catch anybody's clicks."""
_MOST = {"px": 100.0, "pt": 75.0, "em": 6.0, "rem": 6.0, "%": 100.0, "deg": 360.0, "turn": 1.0, "": 1_000.0}
_FUNCTIONS = frozenset({"rgb", "rgba", "hsl", "hsla", "linear-gradient", "radial-gradient"})

_ALLOWED = re.compile(r"[a-zA-Z0-9#%.,()\s/'\"-]{1,300}")
_FUNCTION = re.compile(r"([a-zA-Z-]+)\s*\(")
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}(?![0-9a-zA-Z])")
_NUMBER = re.compile(r"(?<![a-zA-Z0-9])(-?\d*\.?\d+)([a-zA-Z%]*)")


def filter_style(style: Mapping[str, str | int | float] | None) -> tuple[dict[str, str], list[str]]:
    """What may be set, in kebab-case, and the names of what was dropped."""
    kept: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in (style or {}).items():
        prop = kebab(name)
        text = written(prop, value)
        if prop in PROPERTIES and is_safe(prop, text):
            kept[prop] = text
        else:
            dropped.append(name)
    return kept, dropped


def kebab(name: str) -> str:
    """`borderRadius` → `border-radius`."""
    return re.sub(r"[A-Z]", lambda found: f"-{found[0].lower()}", name)


def written(prop: str, value: str | float) -> str:
    """A number counts as pixels where CSS wants a length, as in React."""
    if isinstance(value, str):
        return value.strip()
    number = f"{value:.4f}".rstrip("0").rstrip(".")
    return number if prop in _UNITLESS or value == 0 else f"{number}px"


def is_safe(prop: str, text: str) -> bool:
    """True when the value can't load, cover or hide anything."""
    if not _ALLOWED.fullmatch(text) or text.count("(") != text.count(")"):
        return False
    if any(name.lower() not in _FUNCTIONS for name in _FUNCTION.findall(text)):
        return False
    if re.search(r"(?:^|[^a-zA-Z-])\(", text) or "important" in text.lower():
        return False
    if prop == "opacity":
        return _is_visible(text)
    return all(_is_small(float(number), unit) for number, unit in _NUMBER.findall(_COLOUR.sub("", text)))


def _is_visible(text: str) -> bool:
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return False
    return _LEAST_OPACITY <= number <= 1


def _is_small(number: float, unit: str) -> bool:
    most = _MOST.get(unit.lower())
    return most is not None and 0 <= number <= most
