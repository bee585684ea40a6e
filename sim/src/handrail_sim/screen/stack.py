"""Which windows are on the screen, where each may stand, which has the focus, which gets a touch."""

from __future__ import annotations

from handrail_sim.screen.dialogs import Dialogs
from handrail_sim.screen.guarded import Guarded
from handrail_sim.screen.systemui import SystemUi
from handrail_sim.screen.text_toolbar import TextToolbar
from handrail_sim.system import overlays
from handrail_sim.system.activities import Activity
from handrail_sim.system.android import Android
from handrail_sim.system.users import user_of
from handrail_sim.view.units import contains
from handrail_sim.view.view import Rect, View
from handrail_sim.view.windows import Window


class Screen:
    """The phone's windows, put together anew whenever somebody looks."""

    def __init__(self, phone: Android, ui: SystemUi, dialogs: Dialogs, toolbar: TextToolbar) -> None:
        self.phone = phone
        self._ui, self._dialogs, self._toolbar = ui, dialogs, toolbar
        self._numbers = 0
        self._guarded = Guarded(phone)

    def windows(self) -> list[Window]:
        """What is on the screen, bottom to top, laid out."""
        found = [] if self._ui.recents_open else self._app_windows()
        found += self._toolbar.windows()
        found += self._ui.below()
        found += [self._fit(window) for window in self._dialogs.windows()]
        if self.phone.keyboard_shown:
            found.append(self._fit(self.phone.keyboard()))
        found = self._guarded.among([*found, *self._ui.above()])
        focused = next((window for window in reversed(found) if window.focusable), None)
        for layer, window in enumerate(found):
            window.layer = layer
            window.has_focus = window is focused
            if not window.number:
                self._numbers += 1
                window.number = self._numbers
            _ = window.root
        return found

    def _app_windows(self) -> list[Window]:
        """The activity in front, below it those that show through, above each its dialogs."""
        found: list[Window] = []
        for activity in self.shown():
            hung = self.phone.health.is_hung(activity.app.package)
            user = user_of(self.phone, activity.app.package)
            for window in [activity.window, *overlays.windows_of(activity)]:
                window.frozen, window.secure, window.user = hung, activity.secure, user
                found.append(self._fit(window))
        return found

    def shown(self) -> list[Activity]:
        """Activities in sight, the front one last."""
        stack = [one for task in self.phone.tasks.tasks for one in task.activities]
        shown: list[Activity] = []
        for activity in reversed(stack):
            shown.insert(0, activity)
            if not activity.dialog_style:
                break
        return shown

    def _fit(self, window: Window) -> Window:
        window.resize(self._area(window), self.phone.units)
        return window

    def _area(self, window: Window) -> Rect:
        display = self.phone.display
        foot = display.height - display.navigation_px
        if window.type == "application":
            return display.screen
        if window.type == "ime":
            return (0, foot - display.ime_px, display.width, foot)
        if self.phone.keyboard_shown:
            foot -= display.ime_px
        if window.anchor is not None:
            return (0, min(window.anchor[3], foot - display.units.px(48.0)), display.width, foot)
        return (0, display.status_px, display.width, foot)

    def focused(self) -> Window | None:
        return next((window for window in self.windows() if window.has_focus), None)

    def window_at(self, x: float, y: float) -> tuple[Window | None, bool]:
        """The window that gets a touch here; true if it lies outside of a modal one."""
        for window in reversed(self.windows()):
            if not window.touchable:
                continue
            if contains(window.bounds, x, y):
                return window, False
            if window.modal:
                return window, True
        return None, False

    def window_of(self, view: View) -> Window | None:
        """The window on the screen whose tree holds this view."""
        root = view
        while root.parent is not None:
            root = root.parent
        return next((window for window in self.windows() if window.tree is root), None)

    def is_still(self) -> bool:
        """No view in sight moves by itself."""
        top = self.phone.tasks.top
        if top is not None and top.animating:
            return False
        return not any(
            view.animating and view.on_screen for window in self.windows() for view in window.views()
        )
