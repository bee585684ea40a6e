"""The little bar above a selection: cut, copy, paste, select all. A window of its own that takes no focus."""

from __future__ import annotations

from collections.abc import Callable

from handrail_sim.system.android import Android
from handrail_sim.view import View, button, frame, row
from handrail_sim.view.view import Rect, Style
from handrail_sim.view.windows import Window


class TextToolbar:
    """Open from a long press in a field until something is typed, tapped or chosen."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.above: Rect | None = None  # the field it belongs to
        self.chosen = False  # is something selected?
        self.window = Window("PopupWindow", "", "toolbar", self._build, placement="top", focusable=False)

    def show(self, package: str, field: Rect, chosen: bool) -> None:
        self.above, self.chosen = field, chosen
        self.window.package = package
        self.window.invalidate()
        self.phone.emit("TYPE_WINDOWS_CHANGED", package)

    def hide(self) -> None:
        self.above = None

    def windows(self) -> list[Window]:
        if self.above is None:
            return []
        display, units = self.phone.display, self.phone.units
        top = max(display.status_px, self.above[1] - units.px(52.0))
        self.window.resize((units.px(8.0), top, display.width - units.px(8.0), display.height), units)
        return [self.window]

    def _build(self) -> View:
        edit = self.phone.edit
        entries: list[tuple[str, Callable[[], object]]] = []
        if self.chosen:
            entries += [("Cut", lambda: edit("cut")), ("Copy", lambda: edit("copy"))]
        if self.phone.clipboard:
            entries.append(("Paste", lambda: edit("paste")))
        entries.append(("Select all", lambda: edit("select_all")))
        parts = [self._entry(label, run) for label, run in entries]
        style = Style(kind="menu", background="surface_container", radius=24.0, elevation=3.0)
        return frame(row(*parts, width="wrap", style=style), width="wrap")

    def _entry(self, label: str, run: Callable[[], object]) -> View:
        def press() -> None:
            field = self.above
            self.hide()
            run()
            if label == "Select all" and field is not None:
                self.show(self.window.package, field, True)

        own = "android:id/floating_toolbar_menu_item_text"
        return button(label, press, "text", id=own, key=f"edit:{label}", padding=(16.0, 8.0))
