"""What a window shows: its content, the five operations that change it, and its style. Pure.

A style is a safe list of properties and a small grammar of values, so that it changes only the look inside a
window's own bounds: no position, z-index, transform, pointer-events, filter, shadow or length that reaches
outside, and no function but colours and gradients.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.desk.addresses import check_page, is_own_picture, narrowed
from handrail.desk.state import Content
from handrail.errors import InvalidAction
from handrail.hosts import host_of
from handrail.protocol.content import (
    Append,
    Clear,
    ComponentContent,
    ContentUpdateOperation,
    IframeContent,
    InsertAt,
    Prepend,
    Replace,
    TableContent,
    TextContent,
    WindowContent,
)
from handrail.protocol.read import invalid_action

TEXTS = ("markdown", "html", "text")
FOREIGN_PICTURE = "pictures are loaded from data: and /api/storage/ only; others would tell who looks"
LONGEST = 2_000_000
"""Code points of one window's text, however it got there."""

_CONTENT: TypeAdapter[Any] = TypeAdapter(WindowContent)
_Given = TextContent | TableContent | IframeContent | ComponentContent
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


def content_of(given: _Given, path: str, own_hosts: frozenset[str] = frozenset()) -> Content:
    """The content as plain data, after the rules that a schema can't tell."""
    if isinstance(given, TextContent):
        return Content(given.renderer, given.data)
    if isinstance(given, IframeContent):
        return Content(given.renderer, _frame(given, path, own_hosts))
    data = given.data.to_dict()
    if isinstance(given, ComponentContent):
        data["components"] = [_without_stranger(one) for one in data["components"]]
    return Content(given.renderer, data)


def _without_stranger(component: dict[str, Any]) -> dict[str, Any]:
    """A picture from elsewhere never gets to a browser; where it would have come from does."""
    if component["type"] != "image" or is_own_picture(component["src"]):
        return component
    return {**component, "src": "", "leftOut": host_of(component["src"]) or "elsewhere"}


def left_out(given: _Given, path: str) -> dict[str, Any]:
    """What of it will not be there, for whoever sent it: foreign pictures, and wishes of a sandbox."""
    told: dict[str, Any] = {}
    if isinstance(given, ComponentContent):
        foreign = [
            f"{path}.data.components[{at}].src"
            for at, one in enumerate(given.data.components)
            if one.type == "image" and not is_own_picture(one.src)
        ]
        if foreign:
            told["not_shown"] = [{"path": one, "why": FOREIGN_PICTURE} for one in foreign]
    if isinstance(given, IframeContent) and not isinstance(given.data, str) and given.data.sandbox:
        kept = narrowed(given.data.sandbox).split()
        dropped = [word for word in given.data.sandbox.split() if word.lower() not in kept]
        if dropped:
            told["dropped_sandbox"] = dropped
    return told


def _frame(given: IframeContent, path: str, own_hosts: frozenset[str]) -> Any:
    if isinstance(given.data, str):
        check_page(given.data, f"{path}.data", own_hosts)
        return given.data
    check_page(given.data.url, f"{path}.data.url", own_hosts)
    if given.data.sandbox is None:
        return {"url": given.data.url}
    return {"url": given.data.url, "sandbox": narrowed(given.data.sandbox)}


def given_by(operation: ContentUpdateOperation, renderer: str) -> _Given | None:
    """The whole content that an operation brings; None where it only changes a text."""
    if not isinstance(operation, Replace):
        return None
    checked: _Given = _CONTENT.validate_python({"renderer": renderer, "data": operation.data})
    return checked


def updated(
    old: Content,
    operation: ContentUpdateOperation,
    renderer: str | None,
    own_hosts: frozenset[str] = frozenset(),
) -> Content:
    """The content after one operation, by seed 004's table of operations and renderers."""
    target = renderer or old.renderer
    match operation:
        case Append(data=data):
            text = _text(old, target, operation.op) + data
        case Prepend(data=data):
            text = data + _text(old, target, operation.op)
        case InsertAt(data=data, position=position):
            text = _inserted(_text(old, target, operation.op), data, position)
        case Replace(data=data):
            return _replaced(target, data, own_hosts)
        case Clear():
            return Content(target, empty(target))
    if len(text) > LONGEST:
        raise _bad("data", f"the window would hold {len(text):,} characters; at most {LONGEST:,} fit")
    return Content(target, text)


def empty(renderer: str) -> Any:
    """What `clear` leaves."""
    if renderer == "table":
        return {"headers": [], "rows": []}
    return {"components": []} if renderer == "component" else ""


def _text(old: Content, target: str, op: str) -> str:
    if target not in TEXTS:
        raise _bad("op", f"{op} is not valid for the renderer {target}; use replace or clear")
    if old.renderer not in TEXTS:
        raise InvalidAction(
            f"renderer: {op} can't turn {old.renderer} into {target}",
            hint="Use replace, with the whole data of the new renderer.",
            path="renderer",
        )
    return str(old.data)


def _inserted(text: str, data: str, position: int) -> str:
    """Python counts code points, as the specification does; browsers count UTF-16 units."""
    if position > len(text):
        raise _bad("position", f"{position} is outside 0…{len(text)}")
    return text[:position] + data + text[position:]


def _replaced(renderer: str, data: Any, own_hosts: frozenset[str]) -> Content:
    given = {"renderer": renderer, "data": data}
    try:
        checked = _CONTENT.validate_python(given)
    except ValidationError as error:
        found = invalid_action(error, given)
        path = f"operation.{found.details['path']}"
        raise InvalidAction(
            f"operation.{found.message} (renderer {renderer})", hint=found.hint, path=path
        ) from None
    return content_of(checked, "operation", own_hosts)


def _bad(field: str, why: str) -> InvalidAction:
    hint = "append, prepend and insertAt need markdown, html or text; insertAt counts code points from 0."
    return InvalidAction(f"operation.{field}: {why}", hint=hint, path=f"operation.{field}")


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
    if re.search(r"(?:^|[^a-zA-Z-])\(", text):
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
