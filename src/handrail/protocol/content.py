"""What a window shows and how it may be updated, with seed 004's own validation helpers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from handrail.protocol.component import ComponentLayout
from handrail.protocol.model import CamelModel, Count

Renderer = Literal["markdown", "html", "text", "table", "iframe", "component"]
TextRenderer = Literal["markdown", "html", "text"]
Body = Annotated[str, Field(max_length=2_000_000)]
Cell = Annotated[str, Field(max_length=100_000)]


class TableContentData(CamelModel):
    """Headers and rows of text."""

    headers: Annotated[tuple[Cell, ...], Field(max_length=1_000)]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(max_length=100_000)]


class IframeContentData(CamelModel):
    """An embedded page; `sandbox` can only narrow what the desk allows."""

    url: Annotated[str, Field(min_length=1, max_length=8_192)]
    sandbox: Annotated[str, Field(max_length=1_000)] | None = None


class TextContent(CamelModel):
    """Markdown, HTML or plain text."""

    renderer: TextRenderer
    data: Body


class TableContent(CamelModel):
    """A structured table."""

    renderer: Literal["table"]
    data: TableContentData


class IframeContent(CamelModel):
    """A page in a sandbox: its address, or an object with the sandbox's words."""

    renderer: Literal["iframe"]
    data: Annotated[str, Field(min_length=1, max_length=8_192)] | IframeContentData


class ComponentContent(CamelModel):
    """Interactive components."""

    renderer: Literal["component"]
    data: ComponentLayout


WindowContent = Annotated[
    TextContent | TableContent | IframeContent | ComponentContent, Field(discriminator="renderer")
]


class Append(CamelModel):
    """Add text at the end."""

    op: Literal["append"]
    data: Body


class Prepend(CamelModel):
    """Add text at the beginning."""

    op: Literal["prepend"]
    data: Body


class InsertAt(CamelModel):
    """Add text at a position, counted in Unicode code points."""

    op: Literal["insertAt"]
    data: Body
    position: Count


class Replace(CamelModel):
    """Put other data in place of all there is."""

    op: Literal["replace"]
    data: Body | dict[str, Any]


class Clear(CamelModel):
    """Empty the window."""

    op: Literal["clear"]


ContentUpdateOperation = Annotated[Append | Prepend | InsertAt | Replace | Clear, Field(discriminator="op")]

_CONTENT: TypeAdapter[Any] = TypeAdapter(WindowContent, config=ConfigDict(defer_build=True))
_OPERATION: TypeAdapter[Any] = TypeAdapter(ContentUpdateOperation, config=ConfigDict(defer_build=True))


def _fits(adapter: TypeAdapter[Any] | type[BaseModel], value: Any) -> bool:
    try:
        check = adapter.model_validate if isinstance(adapter, type) else adapter.validate_python
        check(value)
    except ValidationError:
        return False
    return True


def is_table_content_data(value: Any) -> bool:
    """`{headers: string[], rows: string[][]}`."""
    return _fits(TableContentData, value)


def is_iframe_content_data(value: Any) -> bool:
    """A URL string, or `{url, sandbox?}`."""
    return _fits(IframeContent, {"renderer": "iframe", "data": value})


def is_component_layout(value: Any) -> bool:
    """`{components: […], cols?, gap?}` with components of the seven kinds."""
    return _fits(ComponentLayout, value)


def is_window_content_data(renderer: str, value: Any) -> bool:
    """True when `value` is what this renderer shows; an unknown renderer shows nothing."""
    return _fits(_CONTENT, {"renderer": renderer, "data": value})


def is_content_update_operation_valid(renderer: str, operation: Any) -> bool:
    """True when this operation, with its data, is legal for this renderer."""
    if renderer not in get_args(Renderer) or not _fits(_OPERATION, operation):
        return False
    checked = _OPERATION.validate_python(operation)
    match checked:
        case Append() | Prepend() | InsertAt():
            return renderer in get_args(TextRenderer)
        case Replace():
            return is_window_content_data(renderer, checked.data)
        case _:
            return True
