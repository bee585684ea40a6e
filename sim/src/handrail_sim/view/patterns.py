"""Builders of what apps repeat: toolbars, list items, cards, tabs, bottom bars, search boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from handrail_sim.view.containers import column, frame, hscroll, row
from handrail_sim.view.view import Handler, Style, View
from handrail_sim.view.widgets import button, icon, icon_button, styled, text


def toolbar(
    title: str,
    *actions: View | None,
    on_up: Handler | None = None,
    up: str = "Navigate up",
    **options: Any,
) -> View:
    """An app bar of 56 dp: an up button if `on_up` is given, the title, action buttons."""
    style = options.pop("style", None) or styled("toolbar", background="surface")
    options.setdefault("cls", "android.view.ViewGroup")
    options.setdefault("id", "toolbar")
    options.setdefault("height", 56.0)
    options.setdefault("padding", (4.0, 0.0))
    return row(
        icon_button("back", up, on_up) if on_up else None,
        text(title, "title", weight=1.0, margin=(12.0, 0.0)),
        *actions,
        style=style,
        **options,
    )


def item(
    title: str,
    summary: str = "",
    leading: View | None = None,
    trailing: View | None = None,
    **options: Any,
) -> View:
    """A list row: something in front, a title, a line below it, something behind.

    Ids of the words are android:id/title and android:id/summary, as preference rows have.
    """
    style = options.pop("style", None) or styled("item")
    options.setdefault("min_height", 72.0 if summary else 56.0)
    options.setdefault("padding", (16.0, 8.0))
    options.setdefault("gap", 16.0)
    words = column(
        text(
            title,
            "body",
            id="android:id/title",
            style=styled("text", "body", 16.0, max_lines=2),
        ),
        text(summary, "label", id="android:id/summary", style=_SUMMARY) if summary else None,
        width="wrap",
        weight=1.0,
    )
    return row(leading, words, trailing, style=style, **options)


_SUMMARY = Style(kind="text", role="label", size=14.0, color="on_surface_variant", max_lines=2)


def header(words: str, **options: Any) -> View:
    """A small coloured line above a group of rows."""
    options.setdefault("padding", (16.0, 16.0, 16.0, 8.0))
    options.setdefault("id", "android:id/title")
    style = styled("text", "label", bold=True, color="primary")
    options.setdefault("style", style)
    options.setdefault("width", "fill")
    return text(words, "label", **options)


def card(*children: View | None, **options: Any) -> View:
    """A raised box with round corners."""
    style = options.pop("style", None) or styled(
        "card", background="surface_container", radius=12.0, elevation=1.0
    )
    options.setdefault("cls", "androidx.cardview.widget.CardView")
    options.setdefault("padding", 16.0)
    options.setdefault("margin", (16.0, 8.0))
    return column(*children, style=style, **options)


def chip(words: str, selected: bool = False, on_click: Handler | None = None, **options: Any) -> View:
    """A small round button that can be selected."""
    style = options.pop("style", None) or styled(
        "chip", "selected" if selected else "", radius=8.0, align="center"
    )
    options.setdefault("padding", (16.0, 6.0))
    options.setdefault("min_height", 32.0)
    options.setdefault("checked", selected)
    return button(words, on_click, style=style, **options)


def fab(name: str, desc: str, on_click: Handler | None = None, **options: Any) -> View:
    """The round button in the corner; put it last in a frame."""
    style = options.pop("style", None) or styled(
        "fab", icon=name, background="primary_container", radius=16.0, elevation=6.0
    )
    options.setdefault("width", 56.0)
    options.setdefault("height", 56.0)
    options.setdefault("padding", 16.0)
    options.setdefault("margin", 16.0)
    options.setdefault("align", "end bottom")
    return icon_button(name, desc, on_click, style=style, **options)


def tabs(names: Sequence[str], selected: int, on_change: Callable[[int], object], **options: Any) -> View:
    """A row of tabs of equal width; more than four scroll sideways."""
    equal = len(names) <= 4
    parts = [_tab(name, number == selected, on_change, number, equal) for number, name in enumerate(names)]
    options.setdefault("height", 48.0)
    strip = row(*parts, width="fill" if equal else "wrap", height="fill")
    if equal:
        options.setdefault("cls", "android.widget.HorizontalScrollView")
        return frame(strip, **options)
    return hscroll(strip, **options)


def _tab(name: str, selected: bool, on_change: Callable[[int], object], number: int, equal: bool) -> View:
    style = styled("tab", "selected" if selected else "", bold=True, align="center")
    label = text(name, "label", style=style, align="center")
    return frame(
        label,
        cls="androidx.appcompat.app.ActionBar$Tab",
        key=f"tab:{name}",
        desc=name,
        selected=selected,
        weight=1.0 if equal else 0.0,
        width="wrap",
        height="fill",
        padding=(16.0, 0.0),
        style=styled("tab_box", "selected" if selected else ""),
        on_click=lambda: on_change(number),
    )


def bottom_bar(
    names: Sequence[tuple[str, str]],
    selected: int,
    on_change: Callable[[int], object],
    **options: Any,
) -> View:
    """Destinations at the foot of a screen: (icon, label) each."""
    parts = [_destination(*pair, number == selected, on_change, number) for number, pair in enumerate(names)]
    options.setdefault("height", 80.0)
    options.setdefault("id", "bottom_navigation")
    options.setdefault("style", styled("bottom_bar", background="surface_container"))
    return row(*parts, **options)


def _destination(
    name: str, label: str, selected: bool, on_change: Callable[[int], object], number: int
) -> View:
    role = "selected" if selected else ""
    return column(
        icon(name, style=styled("icon", role, icon=name)),
        text(label, "caption", id="navigation_bar_item_small_label_view"),
        cls="android.widget.FrameLayout",
        key=f"destination:{label}",
        desc=label,
        selected=selected,
        width="wrap",
        height="fill",
        weight=1.0,
        gravity="center",
        gap=4.0,
        style=styled("destination", role),
        on_click=lambda: on_change(number),
    )


def web(*children: View | None, title: str = "", **options: Any) -> View:
    """A WebView: its page is one View with the title as its text, blocks below each other."""
    page = column(
        *children,
        cls="android.view.View",
        text=title,
        padding=16.0,
        gap=12.0,
        focusable=True,
    )
    options.setdefault("cls", "android.webkit.WebView")
    options.setdefault("width", "fill")
    options.setdefault("height", "fill")
    options.setdefault("focusable", True)
    return View(**{**options, "layout": "scroll", "children": [page], "text": title})
