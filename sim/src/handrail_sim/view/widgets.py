"""Builders of the small things: words, buttons, pictures, fields, switches, sliders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from handrail_sim.view.view import Handler, Style, View

SIZES = {"display": 36.0, "headline": 24.0, "title": 20.0, "subtitle": 16.0, "body": 16.0, "label": 14.0}
CAPTION = 12.0


@lru_cache(maxsize=512)
def styled(kind: str, role: str = "", size: float = 14.0, **more: Any) -> Style:
    """Styles are values: the same words give the same object."""
    return Style(kind=kind, role=role, size=size, **more)


def _build(made: dict[str, Any], options: dict[str, Any], **fixed: Any) -> View:
    """`made` holds the defaults and is the builder's own: it may be changed."""
    made.update(options, **fixed)
    return View.built(made)


def text(words: str, role: str = "body", **options: Any) -> View:
    """A TextView. Roles: display, headline, title, subtitle, body, label, caption, error."""
    size = SIZES.get(role, CAPTION)
    style = options.pop("style", None) or styled("text", role, size, bold=role in {"title", "headline"})
    if not style.kind:
        style = replace(style, kind="text")
    return _build({"cls": "android.widget.TextView"}, options, text=words, style=style)


def button(words: str, on_click: Handler | None = None, role: str = "filled", **options: Any) -> View:
    """A Button. Roles: filled, tonal, outlined, text."""
    style = options.pop("style", None) or styled("button", role, bold=True, radius=20.0, align="center")
    defaults: dict[str, Any] = {"cls": "android.widget.Button", "min_height": 48.0, "padding": (24.0, 8.0)}
    return _build(
        defaults,
        options,
        text=words,
        on_click=on_click or _nothing,
        style=style,
    )


def icon_button(name: str, desc: str, on_click: Handler | None = None, **options: Any) -> View:
    """An ImageButton of 48 dp with a vector icon."""
    style = options.pop("style", None) or styled("icon", icon=name)
    defaults: dict[str, Any] = {
        "cls": "android.widget.ImageButton",
        "width": 48.0,
        "height": 48.0,
        "padding": 12.0,
    }
    return _build(defaults, options, desc=desc, on_click=on_click or _nothing, style=style)


def icon(name: str, desc: str = "", size: float = 24.0, **options: Any) -> View:
    """An ImageView with a vector icon; it takes no taps."""
    style = options.pop("style", None) or styled("icon", icon=name)
    defaults: dict[str, Any] = {"cls": "android.widget.ImageView", "width": size, "height": size}
    return _build(defaults, options, desc=desc, style=style)


def image(seed: str, desc: str = "", **options: Any) -> View:
    """An ImageView with a drawn picture, e.g. image("landscape:3", width="fill", height=200)."""
    style = options.pop("style", None) or styled("image", image=seed)
    defaults: dict[str, Any] = {"cls": "android.widget.ImageView", "width": 96.0, "height": 96.0}
    return _build(defaults, options, desc=desc, style=style)


def avatar(name: str, size: float = 40.0, **options: Any) -> View:
    """A round picture with a person's first letter."""
    style = options.pop("style", None) or styled("avatar", image=name, radius=size / 2)
    return _build({"cls": "android.widget.ImageView", "width": size, "height": size}, options, style=style)


def field(
    name: str,
    words: str | None = None,
    on_change: Callable[[str], object] | None = None,
    **options: Any,
) -> View:
    """An EditText with this id. Without `words` the phone keeps what was typed (`activity.field(name)`).

    With `words` the app may set it: a new value replaces what is there.
    """
    style = options.pop("style", None) or styled("field", "outlined", 16.0)
    defaults: dict[str, Any] = {"cls": "android.widget.EditText", "width": "fill", "min_height": 56.0}
    defaults["padding"] = (16.0, 8.0)
    return _build(
        defaults,
        options,
        id=name,
        on_change=on_change,
        editable=True,
        style=style,
        given=words,
        text=words or "",
    )


def checkbox(
    words: str, checked: bool, on_change: Callable[[bool], object] | None = None, **options: Any
) -> View:
    """A CheckBox; a tap calls on_change with the new value."""
    return _two_state("android.widget.CheckBox", "checkbox", words, checked, on_change, options)


def switch(
    words: str, checked: bool, on_change: Callable[[bool], object] | None = None, **options: Any
) -> View:
    """A Switch; a tap calls on_change with the new value."""
    return _two_state("android.widget.Switch", "switch", words, checked, on_change, options)


def radio(
    words: str, checked: bool, on_change: Callable[[bool], object] | None = None, **options: Any
) -> View:
    """A RadioButton; a tap calls on_change(True)."""
    return _two_state("android.widget.RadioButton", "radio", words, checked, on_change, options)


def _two_state(
    cls: str,
    kind: str,
    words: str,
    checked: bool,
    on_change: Callable[[bool], object] | None,
    options: dict[str, Any],
) -> View:
    def toggle() -> None:
        if on_change is not None:
            on_change(True if kind == "radio" else not checked)

    style = options.pop("style", None) or styled(kind, size=16.0)
    defaults: dict[str, Any] = {"cls": cls, "min_height": 48.0, "min_width": 52.0, "on_click": toggle}
    return _build(defaults, options, text=words, checked=checked, style=style)


def slider(
    value: float,
    low: float = 0.0,
    high: float = 100.0,
    on_change: Callable[[float], object] | None = None,
    step: float = 0.0,
    **options: Any,
) -> View:
    """A SeekBar: a tap or a drag calls on_change with the value under the finger."""
    style = options.pop("style", None) or styled("slider")
    defaults: dict[str, Any] = {
        "cls": "android.widget.SeekBar",
        "width": "fill",
        "height": 48.0,
        "focusable": True,
    }
    return _build(
        defaults, options, value=value, low=low, high=high, step=step, on_change=on_change, style=style
    )


def spinner(**options: Any) -> View:
    """A round progress bar that says only that something is going on."""
    style = options.pop("style", None) or styled("spinner")
    return _build({"cls": "android.widget.ProgressBar", "width": 48.0, "height": 48.0}, options, style=style)


def progress(value: float, high: float = 100.0, **options: Any) -> View:
    """A straight progress bar."""
    style = options.pop("style", None) or styled("progress")
    defaults: dict[str, Any] = {"cls": "android.widget.ProgressBar", "width": "fill", "height": 4.0}
    return _build(defaults, options, value=value, high=high, style=style)


def divider(**options: Any) -> View:
    """A thin line."""
    style = options.pop("style", None) or styled("divider")
    return _build({"cls": "android.view.View", "width": "fill", "height": 1.0}, options, style=style)


def spacer(size: float = 0.0, **options: Any) -> View:
    """Nothing, with a size or a weight."""
    defaults: dict[str, Any] = {"cls": "android.widget.Space", "width": size, "height": size}
    return _build(defaults, options)


def _nothing() -> None:
    """A button without a handler still takes the tap."""
