"""What an activity shows above itself: alerts, choices, sheets, popup menus, snackbars.

An overlay is plain data in `activity.overlays`; its window is made from it when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handrail_sim.system.activity_state import ActivityState
from handrail_sim.system.calls import make, to_call
from handrail_sim.view import View, button, column, frame, row, scroll, text
from handrail_sim.view.view import Style
from handrail_sim.view.windows import Window

SNACKBAR_MS = 4000.0
TYPES = {"alert": "dialog", "choices": "dialog", "sheet": "sheet", "menu": "menu"}


def _open(activity: ActivityState, kind: str, **data: Any) -> dict[str, Any]:
    number = activity.state.get("_overlays", 0) + 1
    activity.state["_overlays"] = number
    overlay = {
        "kind": kind,
        "number": number,
        "cancelable": True,
        "opened_ms": activity.phone.now_ms(),
        **data,
    }
    activity.overlays.append(overlay)
    activity.window.invalidate()
    activity.phone.window_opened(activity.window.package, 150.0 if kind != "snackbar" else 0.0)
    return overlay


def alert(
    activity: ActivityState,
    title: str,
    message: str,
    buttons: Mapping[str, Callable[[], object] | None],
    content: Callable[[], View] | None,
    cancelable: bool,
) -> None:
    calls = [[label, to_call(activity, run)] for label, run in buttons.items()]
    body = to_call(activity, content)
    _open(activity, "alert", title=title, message=message, buttons=calls, content=body, cancelable=cancelable)


def choices(
    activity: ActivityState, title: str, labels: Sequence[str], then: Callable[[int], object], chosen: int
) -> None:
    _open(activity, "choices", title=title, labels=list(labels), then=to_call(activity, then), chosen=chosen)


def sheet(activity: ActivityState, content: Callable[[], View]) -> None:
    _open(activity, "sheet", content=to_call(activity, content))


def menu(activity: ActivityState, anchor: str, entries: Mapping[str, Callable[[], object] | None]) -> None:
    calls = [[label, to_call(activity, run)] for label, run in entries.items()]
    view = activity.window.find(anchor) if activity.window.tree is not None else None
    bounds = list(view.bounds) if view is not None else list(activity.window.bounds)
    _open(activity, "menu", anchor=bounds, entries=calls)


def snackbar(activity: ActivityState, words: str, action: str, run: Callable[[], object] | None) -> None:
    """One at a time: a new one replaces the old."""
    activity.overlays = [overlay for overlay in activity.overlays if overlay["kind"] != "snackbar"]
    overlay = _open(activity, "snackbar", text=words, action=action, run=to_call(activity, run))
    activity.later(SNACKBAR_MS, activity.close_overlay, overlay["number"])


def snackbar_of(activity: ActivityState) -> View | None:
    for overlay in activity.overlays:
        if overlay["kind"] == "snackbar":
            return _snackbar(activity, overlay)
    return None


def dismiss(activity: ActivityState) -> None:
    for overlay in reversed(activity.overlays):
        if overlay["kind"] != "snackbar":
            activity.close_overlay(overlay["number"])
            return


def _press(
    activity: ActivityState, overlay: dict[str, Any], call: dict[str, Any] | None, *more: Any
) -> Callable[[], None]:
    def run() -> None:
        activity.closing = overlay.get("memory", {})  # the handler may still read the dialog's fields
        activity.close_overlay(overlay["number"])
        make(activity, call, *more)
        activity.closing = {}

    return run


def windows_of(activity: ActivityState) -> list[Window]:
    return [_window(activity, overlay) for overlay in activity.overlays if overlay["kind"] != "snackbar"]


def _window(activity: ActivityState, overlay: dict[str, Any]) -> Window:
    number = overlay["number"]
    existing = activity.overlay_windows.get(number)
    if existing is not None:
        return existing
    kind = overlay["kind"]
    window = Window(
        activity.window.component,
        activity.window.package,
        TYPES[kind],
        lambda: _BUILD[kind](activity, overlay),
        component=activity.window.component,
        placement={"sheet": "bottom"}.get(kind, "center"),
        secure=activity.secure,
        cancelable=overlay["cancelable"],
        dim=0.0 if kind == "menu" else 0.6,
        entered_ms=overlay["opened_ms"],
        enter_duration_ms=150.0,
        on_outside=lambda: activity.close_overlay(number),
    )
    window.anchor = tuple(overlay["anchor"]) if kind == "menu" else None
    window.memory = overlay.setdefault("memory", {})
    activity.overlay_windows[number] = window
    return window


def _alert(activity: ActivityState, overlay: dict[str, Any]) -> View:
    body = overlay["content"]
    content = (
        getattr(activity, body["method"])(*body["args"], **body["kwargs"])
        if body and "method" in body
        else None
    )
    if body and "live" in body:
        content = body["live"]()
    buttons = [_dialog_button(activity, overlay, number) for number in range(len(overlay["buttons"]))]
    parts = [
        text(overlay["title"], "headline", id="alertTitle", padding=(24, 20, 24, 8))
        if overlay["title"]
        else None,
        scroll(
            text(
                overlay["message"],
                "body",
                id="android:id/message",
                padding=(24, 0 if overlay["title"] else 24, 24, 16),
            ),
            id="scrollView",
            height="wrap",
        )
        if overlay["message"]
        else None,
        frame(content, id="custom", padding=(24, 0, 24, 8)) if content is not None else None,
        scroll(
            row(*buttons, cls="android.widget.LinearLayout", gravity="end", gap=8, padding=(12, 8)),
            id="buttonPanel",
            height="wrap",
        ),
    ]
    return panel(column(*parts, id="parentPanel"))


def _dialog_button(activity: ActivityState, overlay: dict[str, Any], number: int) -> View:
    label, call = overlay["buttons"][number]
    last = len(overlay["buttons"]) - 1
    ids = ["android:id/button1", "android:id/button2", "android:id/button3"]
    return button(label, _press(activity, overlay, call), "text", id=ids[min(2, last - number)])


def panel(content: View) -> View:
    style = Style(kind="dialog", background="surface_container_high", radius=28.0, elevation=6.0)
    inner = frame(content, id="android:id/content")
    return frame(frame(inner, style=style), width=340.0, padding=8.0)


def _choices(activity: ActivityState, overlay: dict[str, Any]) -> View:
    rows = [_choice(activity, overlay, number) for number in range(len(overlay["labels"]))]
    listing = scroll(column(*rows), cls="android.widget.ListView", id="select_dialog_listview", height="wrap")
    title = text(overlay["title"], "headline", id="alertTitle", padding=(24, 20, 24, 8))
    return panel(
        column(title if overlay["title"] else None, listing, id="parentPanel", padding=(0, 0, 0, 16))
    )


def _choice(activity: ActivityState, overlay: dict[str, Any], number: int) -> View:
    chosen = overlay["chosen"]
    marked = chosen >= 0
    return text(
        overlay["labels"][number],
        id="android:id/text1",
        cls="android.widget.CheckedTextView" if marked else "android.widget.TextView",
        checked=number == chosen if marked else None,
        key=f"choice:{number}",
        width="fill",
        min_height=48.0,
        padding=(24, 12),
        style=Style(kind="radio" if marked else "text", role="body", size=16.0),
        on_click=_press(activity, overlay, overlay["then"], number),
    )


def _sheet(activity: ActivityState, overlay: dict[str, Any]) -> View:
    body = overlay["content"]
    created = (
        body["live"]()
        if "live" in body
        else getattr(activity, body["method"])(*body["args"], **body["kwargs"])
    )
    style = Style(kind="sheet", background="surface_container_low", radius=28.0, elevation=8.0)
    handle = View(
        cls="android.view.View", id="drag_handle", width=32, height=4, align="center_h", margin=(0, 16)
    )
    handle.style = Style(kind="handle", background="outline", radius=2.0)
    sheet_view = column(
        handle, created, id="design_bottom_sheet", cls="android.widget.FrameLayout", style=style
    )
    sheet_view.on_swipe = lambda way: activity.close_overlay(overlay["number"]) if way == "down" else None
    return frame(frame(sheet_view, id="coordinator"), id="container")


def _menu(activity: ActivityState, overlay: dict[str, Any]) -> View:
    rows = [
        row(
            text(label, "body", id="title", weight=1.0),
            id="content",
            key=f"menu:{label}",
            min_height=48.0,
            padding=(16, 12),
            width=200.0,
            on_click=_press(activity, overlay, call),
            style=Style(kind="item"),
        )
        for label, call in overlay["entries"]
    ]
    style = Style(kind="menu", background="surface_container", radius=4.0, elevation=3.0)
    listing = scroll(column(*rows, width="wrap"), cls="android.widget.ListView", width="wrap", height="wrap")
    return frame(listing, width="wrap", style=style)


def _snackbar(activity: ActivityState, overlay: dict[str, Any]) -> View:
    style = Style(kind="snackbar", background="inverse_surface", radius=4.0, elevation=6.0)
    parts = [
        text(
            overlay["text"],
            "label",
            id="snackbar_text",
            weight=1.0,
            style=Style(size=14, color="inverse_on_surface"),
        ),
        button(overlay["action"], _press(activity, overlay, overlay["run"]), "text", id="snackbar_action")
        if overlay["action"]
        else None,
    ]
    return row(*parts, style=style, padding=(16, 4), min_height=48.0, margin=(8, 8), align="bottom")


_BUILD: dict[str, Callable[[Any, dict[str, Any]], View]] = {
    "alert": _alert,
    "choices": _choices,
    "sheet": _sheet,
    "menu": _menu,
}
