"""The seven interactive components of a window, and their layout (seed 004)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.protocol.model import CamelModel, Flag, Name, Text

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
    ButtonComponent
    | InputComponent
    | SelectComponent
    | TextComponent
    | BadgeComponent
    | ProgressComponent
    | ImageComponent,
    Field(discriminator="type"),
]

_Columns = Annotated[int, Field(strict=True, ge=1, le=24)]
_Ratio = Annotated[int, _Share] | Annotated[float, _Share]


class ComponentLayout(CamelModel):
    """A flat list of components on a grid."""

    components: Annotated[tuple[Component, ...], Field(max_length=2_000)]
    cols: _Columns | Annotated[tuple[_Ratio, ...], Field(min_length=1, max_length=24)] | None = None
    """A number of equal columns, or their ratios, such as [8, 2]."""
    gap: Literal["none", "sm", "md", "lg"] | None = None
