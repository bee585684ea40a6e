"""What a desk window shows (seed 004): contents, their updates, the seven components and their layout.

Seed 004's own helpers stand here too: what is valid content, and to which family an OS action belongs.
"""

from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from handrail.protocol.model import CamelModel, Count, Flag, Name, Text

Label = Annotated[str, Field(max_length=10_000)]
_Size = Field(strict=True, ge=0, le=100_000)
_Percent = Field(strict=True, ge=0, le=100)
_Share = Field(strict=True, gt=0, le=1_000)
CssSize = Annotated[int, _Size] | Annotated[float, _Size] | Annotated[str, Field(min_length=1, max_length=40)]


class ButtonComponent(CamelModel):
    """A button; a click sends `action` to the agent that made the window."""

    type: Literal["button"]
    label: Label
    action: Label
    variant: Literal["primary", "secondary", "ghost", "danger"] | None = None
    size: Literal["sm", "md", "lg"] | None = None
    icon: Label | None = None
    disabled: Flag | None = None
    parallel: Flag | None = None
    """Run beside other clicks (default) or after them."""
    submit_form: Name | None = None
    """The form whose fields go along."""


class InputComponent(CamelModel):
    """A text field; `rows` makes it a textarea."""

    type: Literal["input"]
    name: Name
    form_id: Name | None = None
    label: Label | None = None
    placeholder: Label | None = None
    default_value: Text | None = None
    variant: Literal["text", "email", "password", "number", "url"] | None = None
    rows: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    disabled: Flag | None = None


class SelectOption(CamelModel):
    """One choice of a select."""

    value: Text
    label: Label


class SelectComponent(CamelModel):
    """One choice out of several."""

    type: Literal["select"]
    name: Name
    options: Annotated[tuple[SelectOption, ...], Field(max_length=2_000)]
    form_id: Name | None = None
    label: Label | None = None
    default_value: Text | None = None
    placeholder: Label | None = None
    disabled: Flag | None = None


class TextComponent(CamelModel):
    """Text with a role in the layout."""

    type: Literal["text"]
    content: Text
    variant: Literal["body", "heading", "subheading", "caption", "code"] | None = None
    color: Literal["default", "muted", "accent", "success", "warning", "error"] | None = None
    text_align: Literal["left", "center", "right"] | None = None


class BadgeComponent(CamelModel):
    """A short coloured word."""

    type: Literal["badge"]
    label: Label
    variant: Literal["default", "success", "warning", "error", "info"] | None = None


class ProgressComponent(CamelModel):
    """A bar from 0 to 100."""

    type: Literal["progress"]
    value: Annotated[int, _Percent] | Annotated[float, _Percent]
    label: Label | None = None
    variant: Literal["default", "success", "warning", "error"] | None = None
    show_value: Flag | None = None


class ImageComponent(CamelModel):
    """A picture."""

    type: Literal["image"]
    src: Annotated[str, Field(min_length=1, max_length=5_000_000)]
    width: CssSize | None = None
    height: CssSize | None = None
    fit: Literal["contain", "cover", "fill"] | None = None


Component = Annotated[
    ButtonComponent | InputComponent | SelectComponent | TextComponent | BadgeComponent | ProgressComponent
    | ImageComponent,
    Field(discriminator="type"),
]  # fmt: skip

_Columns = Annotated[int, Field(strict=True, ge=1, le=24)]
_Ratio = Annotated[int, _Share] | Annotated[float, _Share]


class ComponentLayout(CamelModel):
    """A flat list of components on a grid."""

    components: Annotated[tuple[Component, ...], Field(max_length=2_000)]
    cols: _Columns | Annotated[tuple[_Ratio, ...], Field(min_length=1, max_length=24)] | None = None
    """A number of equal columns, or their ratios, such as [8, 2]."""
    gap: Literal["none", "sm", "md", "lg"] | None = None


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


def _is_valid(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def is_window_content_data(renderer: str, value: Any) -> bool:
    """True if a desk window of this kind of content (`renderer`) can show `value`."""
    return _is_valid(_CONTENT, {"renderer": renderer, "data": value})


is_table_content_data = partial(is_window_content_data, "table")
is_iframe_content_data = partial(is_window_content_data, "iframe")
is_component_layout = partial(is_window_content_data, "component")


def is_content_update_operation_valid(renderer: str, operation: Any) -> bool:
    """True when this operation, with its data, is legal for this renderer."""
    if renderer not in get_args(Renderer) or not _is_valid(_OPERATION, operation):
        return False
    checked = _OPERATION.validate_python(operation)
    match checked:
        case Append() | Prepend() | InsertAt():
            return renderer in get_args(TextRenderer)
        case Replace():
            return is_window_content_data(renderer, checked.data)
        case _:
            return True


def _is_of_family(family: str, action: Any) -> bool:
    kind = action.get("type") if isinstance(action, dict) else action.type
    return isinstance(kind, str) and kind.startswith(f"{family}.")


is_window_action = partial(_is_of_family, "window")
is_notification_action = partial(_is_of_family, "notification")
is_toast_action = partial(_is_of_family, "toast")
is_dialog_action = partial(_is_of_family, "dialog")
is_app_action = partial(_is_of_family, "app")
is_desktop_action = partial(_is_of_family, "desktop")
