"""Views: built from functions, laid out in px, touched, scrolled, typed into.

A complete tiny app::

    from handrail_sim.system.activities import Activity, App
    from handrail_sim.view import Style, View, button, column, field, item, lazy_list, screen, text, toolbar

    class Main(Activity):
        title = "Groceries"

        def on_create(self) -> None:                 # first start only; `state` survives rotation, snapshots
            self.state["things"] = ["Bread", "Milk"]

        def build(self) -> View:                     # called after every change; throw-away views
            return screen(
                toolbar("Groceries"),
                field("name", hint="What to buy", on_submit=self.add),
                button("Add", self.add, id="add"),
                lazy_list(self.state["things"], self.thing, item_key=str, id="list", weight=1),
            )

        def thing(self, name: str) -> View:
            return item(name, on_click=lambda: self.start("Detail", name=name),
                        on_long_click=lambda: self.dialog("Delete?", name,
                            {"Cancel": None, "Delete": partial(self.remove, name)}))

        def add(self) -> None:
            name = self.field("name").strip()        # what is typed in the field with this id
            if not name:
                self.toast("Type something")
                return
            self.state["things"].append(name)
            self.set_field("name", "")

        def remove(self, name: str) -> None:         # dialogs keep a method's name: they survive a snapshot
            self.state["things"].remove(name)

    class Detail(Activity):
        def build(self) -> View:
            return column(toolbar(self.extras["name"], on_up=self.finish), text("One of many", "headline"))

    class Groceries(App):
        package = "com.example.groceries"
        label = "Groceries"
        icon = "cart"
        activities = {"Main": Main, "Detail": Detail}   # the first is the launcher's

Handlers take no arguments; after any handler, timer or callback the screen is built again, so `changed()`
is needed only for changes from elsewhere. Sizes are dp (text: sp), "fill" or "wrap"; `weight` shares what is
left in a row or column. Ids without a colon get the app's package; "=tag" is written as it is.
Fields, scroll positions and focus are remembered by `key`, else by id, else by place in the tree.
Overlays: `activity.dialog`, `.sheet`, `.menu`, `.toast`, `.snackbar`. Time: `activity.later(ms, run)`,
`activity.every(ms, self.method)`; the phone's time is `phone.now_ms()`, the date `phone.wall_ms()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from handrail_sim.view.view import PLAIN, SCROLLING, Handler, Style, View

__all__ = ["PLAIN", "SCROLLING", "Style", "View"]  # besides the builders below

SIZES = {"display": 36.0, "headline": 24.0, "title": 20.0, "subtitle": 16.0, "body": 16.0, "label": 14.0}
CAPTION = 12.0


@lru_cache(maxsize=512)
def styled(kind: str, role: str = "", size: float = 14.0, **more: Any) -> Style:
    """Styles are values: the same words give the same object."""
    return Style(kind=kind, role=role, size=size, **more)


def _build(defaults: dict[str, Any], options: dict[str, Any], **fixed: Any) -> View:
    """`defaults` is the builder's own: it may be changed."""
    defaults.update(options, **fixed)
    return View.built(defaults)


def text(words: str, role: str = "body", **options: Any) -> View:
    """A TextView. Roles: display, headline, title, subtitle, body, label, caption, error."""
    size = SIZES.get(role, CAPTION)
    style = options.pop("style", None) or styled("text", role, size, bold=role in {"title", "headline"})
    if not style.kind:
        style = replace(style, kind="text")
    return _build({"cls": "android.widget.TextView"}, options, text=words, style=style)


def button(words: str, on_click: Handler | None = None, role: str = "filled", **options: Any) -> View:
    """A Button. Roles: filled, tonal, outlined, text."""
    style = styled("button", role, bold=True, radius=20.0, align="center")
    defaults = {"cls": "android.widget.Button", "min_height": 48.0, "padding": (24.0, 8.0), "style": style}
    return _build(defaults, options, text=words, on_click=on_click or _nothing)


def icon_button(name: str, desc: str, on_click: Handler | None = None, **options: Any) -> View:
    """An ImageButton of 48 dp with a vector icon."""
    defaults = {"cls": "android.widget.ImageButton", "width": 48.0, "height": 48.0, "padding": 12.0}
    defaults["style"] = styled("icon", icon=name)
    return _build(defaults, options, desc=desc, on_click=on_click or _nothing)


def icon(name: str, desc: str = "", size: float = 24.0, **options: Any) -> View:
    """An ImageView with a vector icon; it takes no taps."""
    return _picture(styled("icon", icon=name), size, options, desc=desc)


def image(seed: str, desc: str = "", **options: Any) -> View:
    """An ImageView with a drawn picture, e.g. image("landscape:3", width="fill", height=200)."""
    return _picture(styled("image", image=seed), 96.0, options, desc=desc)


def avatar(name: str, size: float = 40.0, **options: Any) -> View:
    return _picture(styled("avatar", image=name, radius=size / 2), size, options)


def _picture(style: Style, size: float, options: dict[str, Any], **fixed: Any) -> View:
    defaults = {"cls": "android.widget.ImageView", "width": size, "height": size, "style": style}
    return _build(defaults, options, **fixed)


def field(
    name: str, words: str | None = None, on_change: Callable[[str], object] | None = None, **options: Any
) -> View:
    """An EditText with this id. Without `words` the phone keeps what was typed (`activity.field(name)`).

    With `words` the app may set it: a new value replaces what is there.
    """
    defaults = {"cls": "android.widget.EditText", "width": "fill", "min_height": 56.0, "padding": (16.0, 8.0)}
    defaults["style"] = styled("field", "outlined", 16.0)
    texts = {"id": name, "text": words or "", "app_text": words}
    return _build(defaults, options, **texts, on_change=on_change, editable=True)


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

    defaults: dict[str, Any] = {"cls": cls, "min_height": 48.0, "min_width": 52.0, "on_click": toggle}
    defaults["style"] = styled(kind, size=16.0)
    return _build(defaults, options, text=words, checked=checked)


def slider(
    value: float,
    low: float = 0.0,
    high: float = 100.0,
    on_change: Callable[[float], object] | None = None,
    step: float = 0.0,
    **options: Any,
) -> View:
    """A SeekBar: a tap or a drag calls on_change with the value under the finger."""
    defaults = {"cls": "android.widget.SeekBar", "width": "fill", "height": 48.0, "focusable": True}
    defaults["style"] = styled("slider")
    return _build(defaults, options, value=value, low=low, high=high, step=step, on_change=on_change)


def spinner(**options: Any) -> View:
    """A round progress bar that says only that something is going on."""
    defaults = {
        "cls": "android.widget.ProgressBar",
        "width": 48.0,
        "height": 48.0,
        "style": styled("spinner"),
    }
    return _build(defaults, options)


def progress(value: float, high: float = 100.0, **options: Any) -> View:
    defaults = {
        "cls": "android.widget.ProgressBar",
        "width": "fill",
        "height": 4.0,
        "style": styled("progress"),
    }
    return _build(defaults, options, value=value, high=high)


def divider(**options: Any) -> View:
    defaults = {"cls": "android.view.View", "width": "fill", "height": 1.0, "style": styled("divider")}
    return _build(defaults, options)


def spacer(size: float = 0.0, **options: Any) -> View:
    return _build({"cls": "android.widget.Space", "width": size, "height": size}, options)


def _nothing() -> None:
    """A button without a handler still takes the tap."""


T = TypeVar("T")


def _shown(children: Sequence[View | None]) -> list[View]:
    return [child for child in children if child is not None]


def column(*children: View | None, **options: Any) -> View:
    """Children below each other; `None` is left out, so `cond and …` reads well as `… if cond else None`."""
    return _build(
        {"cls": "android.widget.LinearLayout", "width": "fill"},
        options,
        layout="column",
        children=_shown(children),
    )


def screen(*children: View | None, **options: Any) -> View:
    """A column as tall as what holds it, as most screens are."""
    return column(*children, **{"height": "fill", **options})


def message(*children: View | None, **options: Any) -> View:
    """A column in the middle of the room that is left: an empty list, or the end of a task."""
    return column(*children, **{"weight": 1.0, "gravity": "center", "gap": 16.0, **options})


def row(*children: View | None, **options: Any) -> View:
    """Children beside each other, centred vertically unless `gravity` says otherwise."""
    return _build(
        {"cls": "android.widget.LinearLayout", "width": "fill"},
        options,
        layout="row",
        children=_shown(children),
    )


def frame(*children: View | None, **options: Any) -> View:
    """Children on top of each other, each placed by its own `align`."""
    return _build(
        {"cls": "android.widget.FrameLayout", "width": "fill"},
        options,
        layout="frame",
        children=_shown(children),
    )


def grid(columns: int, *children: View | None, **options: Any) -> View:
    return _build(
        {"cls": "android.widget.GridLayout", "width": "fill"},
        options,
        layout="grid",
        columns=columns,
        children=_shown(children),
    )


def absolute(*children: View | None, **options: Any) -> View:
    """Children where their `rect` says, in px on the screen."""
    return _build(
        {"cls": "android.view.ViewGroup", "width": "fill", "height": "fill"},
        options,
        layout="absolute",
        children=_shown(children),
    )


def scroll(child: View, **options: Any) -> View:
    return _build(
        {"cls": "android.widget.ScrollView", "width": "fill", "height": "fill"},
        options,
        layout="scroll",
        children=[child],
    )


def hscroll(child: View, **options: Any) -> View:
    return _build(
        {"cls": "android.widget.HorizontalScrollView", "width": "fill"},
        options,
        layout="hscroll",
        children=[child],
    )


def lazy_list(
    items: Sequence[T],
    build_item: Callable[[T], View],
    item_key: Callable[[T], str] | None = None,
    columns: int = 1,
    **options: Any,
) -> View:
    """A RecyclerView: only rows in sight are built. `item_key` keeps a row's memory when rows move."""
    defaults = {"cls": "androidx.recyclerview.widget.RecyclerView", "width": "fill", "height": "fill"}
    rows = {"items": items, "build_item": build_item, "item_key": item_key, "columns": columns}
    return _build(defaults, options, layout="list", **rows)


def pager(page: int, *pages: View, **options: Any) -> View:
    """Pages side by side, one in sight; a sideways swipe calls `on_change(page)`."""
    defaults = {"cls": "androidx.viewpager.widget.ViewPager", "width": "fill", "height": "fill"}
    return _build(defaults, options, layout="pager", value=float(page), children=list(pages))


def toolbar(
    title: str, *actions: View | None, on_up: Handler | None = None, up: str = "Navigate up", **options: Any
) -> View:
    """An app bar of 56 dp: an up button if `on_up` is given, the title, action buttons."""
    defaults = {"cls": "android.view.ViewGroup", "id": "toolbar", "height": 56.0, "padding": (4.0, 0.0)}
    defaults["style"] = styled("toolbar", background="surface")
    back = icon_button("back", up, on_up) if on_up else None
    return row(
        back, text(title, "title", weight=1.0, margin=(12.0, 0.0)), *actions, **{**defaults, **options}
    )


def item(
    title: str, summary: str = "", leading: View | None = None, trailing: View | None = None, **options: Any
) -> View:
    """A list row: something in front, a title, a line below it, something behind.

    Ids of the words are android:id/title and android:id/summary, as preference rows have.
    """
    defaults = {"min_height": 72.0 if summary else 56.0, "padding": (16.0, 8.0), "gap": 16.0}
    words = column(
        text(title, "body", id="android:id/title", style=styled("text", "body", 16.0, max_lines=2)),
        text(summary, "label", id="android:id/summary", style=_SUMMARY) if summary else None,
        width="wrap",
        weight=1.0,
    )
    return row(leading, words, trailing, **{**defaults, "style": styled("item"), **options})


_SUMMARY = Style(kind="text", role="label", size=14.0, color="on_surface_variant", max_lines=2)


def header(words: str, **options: Any) -> View:
    defaults: dict[str, Any] = {"id": "android:id/title", "width": "fill", "padding": (16.0, 16.0, 16.0, 8.0)}
    defaults["style"] = styled("text", "label", bold=True, color="primary")
    return text(words, "label", **{**defaults, **options})


def card(*children: View | None, **options: Any) -> View:
    defaults = {"cls": "androidx.cardview.widget.CardView", "padding": 16.0, "margin": (16.0, 8.0)}
    defaults["style"] = styled("card", background="surface_container", radius=12.0, elevation=1.0)
    return column(*children, **{**defaults, **options})


def chip(words: str, selected: bool = False, on_click: Handler | None = None, **options: Any) -> View:
    defaults = {"padding": (16.0, 6.0), "min_height": 32.0, "checked": selected}
    defaults["style"] = styled("chip", "selected" if selected else "", radius=8.0, align="center")
    return button(words, on_click, **{**defaults, **options})


def fab(name: str, desc: str, on_click: Handler | None = None, **options: Any) -> View:
    """The round button in the corner; put it last in a frame."""
    defaults = {"width": 56.0, "height": 56.0, "padding": 16.0, "margin": 16.0, "align": "end bottom"}
    style = styled("fab", icon=name, background="primary_container", radius=16.0, elevation=6.0)
    return icon_button(name, desc, on_click, **{**defaults, "style": style, **options})


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
    names: Sequence[tuple[str, str]], selected: int, on_change: Callable[[int], object], **options: Any
) -> View:
    """Destinations at the foot of a screen: (icon, label) each."""
    parts = [_destination(*pair, number == selected, on_change, number) for number, pair in enumerate(names)]
    style = styled("bottom_bar", background="surface_container")
    return row(*parts, **{"height": 80.0, "id": "bottom_navigation", "style": style, **options})


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
    page = column(*children, cls="android.view.View", text=title, padding=16.0, gap=12.0, focusable=True)
    defaults = {"cls": "android.webkit.WebView", "width": "fill", "height": "fill", "focusable": True}
    return _build(defaults, options, layout="scroll", children=[page], text=title)
