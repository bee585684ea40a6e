"""What windows show: from validated actions to plain data, and the five operations that change it."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.desk.addresses import check_page, check_picture, narrowed
from handrail.desk.state import Content
from handrail.errors import InvalidAction
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
LONGEST = 2_000_000
"""Code points of one window's text, however it got there."""

_CONTENT: TypeAdapter[Any] = TypeAdapter(WindowContent)
_Given = TextContent | TableContent | IframeContent | ComponentContent


def content_of(given: _Given, path: str, own_hosts: frozenset[str] = frozenset()) -> Content:
    """The content as plain data, after the rules that a schema can't tell."""
    if isinstance(given, TextContent):
        return Content(given.renderer, given.data)
    if isinstance(given, IframeContent):
        return Content("iframe", _frame(given, path, own_hosts))
    if isinstance(given, ComponentContent):
        for at, component in enumerate(given.data.components):
            if component.type == "image":
                check_picture(component.src, f"{path}.data.components[{at}].src")
    return Content(given.renderer, given.data.to_dict())


def _frame(given: IframeContent, path: str, own_hosts: frozenset[str]) -> Any:
    if isinstance(given.data, str):
        check_page(given.data, f"{path}.data", own_hosts)
        return given.data
    check_page(given.data.url, f"{path}.data.url", own_hosts)
    if given.data.sandbox is None:
        return {"url": given.data.url}
    return {"url": given.data.url, "sandbox": narrowed(given.data.sandbox)}


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
