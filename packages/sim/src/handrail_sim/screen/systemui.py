"""The system's own windows: status bar, navigation bar, shade, heads-up, toasts, recents, volume.

Everything is drawn from the phone's data; only what is open or how far it is pulled is kept here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from handrail_sim.system.android import Android
from handrail_sim.system.notifications import Notification
from handrail_sim.system.tasks import Task
from handrail_sim.timers import Timer
from handrail_sim.view import (
    button,
    column,
    frame,
    grid,
    hscroll,
    icon,
    icon_button,
    row,
    scroll,
    slider,
    styled,
    text,
)
from handrail_sim.view.view import Rect, Style, View
from handrail_sim.view.windows import Window

PACKAGE = "com.android.systemui"
RECENTS_PACKAGE = "com.android.launcher3"
RECENTS_COMPONENT = f"{RECENTS_PACKAGE}/com.android.quickstep.RecentsActivity"
TOAST_MS = (2000.0, 3500.0)
HEADS_UP_MS = 5000.0
VOLUME_MS = 3000.0


_IN_THE_BARS = frozenset({
    "airplane_mode_on", "wifi_on", "bluetooth_on", "ui_night_mode_on", "ui_night_mode", "font_scale",
    "user_rotation",
})  # fmt: skip


class SystemUi:
    """The system's windows, which of them are open, and what they show."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.shade_open = False
        self.quick_settings = False
        self.recents_open = False
        self.toast: dict[str, Any] | None = None
        self.toasts: list[dict[str, Any]] = []  # waiting
        self.last_toast = ""
        self.heads_up: int | None = None  # a notification's number
        self.volume_shown = False
        self._timers: dict[str, Timer] = {}
        self.status = Window("StatusBar", PACKAGE, "status_bar", self._status, focusable=False)
        self.navigation = Window(
            "NavigationBar0", PACKAGE, "navigation_bar", self._navigation, focusable=False
        )
        self.shade = Window("NotificationShade", PACKAGE, "shade", partial(build_shade, self), dim=0.3)
        self.recents = Window("Recents", RECENTS_PACKAGE, "recents", partial(build_recents, self))
        self.recents.component = RECENTS_COMPONENT
        self.toast_window = Window(
            "Toast", "android", "toast", self._toast, placement="bottom", focusable=False
        )
        self.toast_window.touchable = False
        self.banner = Window(
            "HeadsUp", PACKAGE, "heads_up", partial(banner, self), placement="top", focusable=False
        )
        phone.faults.listeners.append(self._fault)
        self.volume = Window(
            "VolumeDialog", PACKAGE, "volume", self._volume, placement="center", focusable=False
        )

    def reset(self) -> None:
        """As after boot: nothing is open."""
        self.shade_open = self.quick_settings = self.recents_open = self.volume_shown = False
        self.toast, self.toasts, self.heads_up = None, [], None
        self._timers.clear()
        self.invalidate()

    def invalidate(self) -> None:
        for window in (
            self.status,
            self.navigation,
            self.shade,
            self.recents,
            self.toast_window,
            self.banner,
        ):
            window.invalidate()

    def setting_changed(self, name: str) -> None:
        """The bars show few settings and are drawn with every screen; the shade may show any."""
        if name in _IN_THE_BARS:
            self.invalidate()
        else:
            self.shade.invalidate()

    # opening and closing

    def open_shade(self, quick_settings: bool = False) -> None:
        self.quick_settings = quick_settings
        self.heads_up = None
        if not self.shade_open:
            self.shade_open = True
            self.phone.window_opened(PACKAGE, 300.0)
        self.shade.invalidate()

    def close_shade(self) -> bool:
        if not self.shade_open:
            return False
        self.shade_open = False
        self.phone.window_closed(PACKAGE)
        return True

    def open_recents(self) -> None:
        self.close_shade()
        self.phone.hide_keyboard()
        self.recents_open = True
        self.recents.memory.clear()
        self.recents.invalidate()
        self.phone.window_opened(RECENTS_PACKAGE, 300.0)

    def close_recents(self) -> bool:
        if not self.recents_open:
            return False
        self.recents_open = False
        self.phone.window_closed(RECENTS_PACKAGE)
        return True

    def show_toast(self, words: str, package: str, long: bool) -> None:
        self.toasts.append({"text": words, "package": package, "long": long})
        if self.toast is None:
            self._next_toast()

    def _next_toast(self) -> None:
        self.toast = self.toasts.pop(0) if self.toasts else None
        self.toast_window.invalidate()
        if self.toast is None:
            return
        self.last_toast = self.toast["text"]
        self.toast_window.package = self.toast["package"]
        self.phone.emit("TYPE_NOTIFICATION_STATE_CHANGED", self.toast["package"], self.last_toast)
        self._timer("toast", TOAST_MS[self.toast["long"]], self._next_toast)

    def _timer(self, name: str, delay_ms: float, run: Callable[[], object]) -> None:
        old = self._timers.get(name)
        if old is not None:
            old.cancel()
        self._timers[name] = self.phone.later(delay_ms, run)

    def posted(self, number: int, importance: int) -> None:
        """A notification came: the shade and the status bar show it, an important one drops down."""
        self.shade.invalidate()
        self.status.invalidate()
        if importance >= 4 and not self.shade_open:
            self.heads_up = number
            self.banner.invalidate()
            self._timer("heads_up", HEADS_UP_MS, self.end_heads_up)

    def end_heads_up(self) -> None:
        """One that stays, such as a call that rings, comes back until its own screen is in front."""
        top = self.phone.tasks.top
        front = top.app.package if top else ""
        posted = self.phone.notifications.posted
        staying = [
            notification
            for notification in posted
            if notification.importance > 4 and notification.package != front
        ]
        self.heads_up = staying[-1].number if staying else None
        self.banner.invalidate()

    def show_volume(self) -> None:
        self.volume_shown = True
        self.volume.invalidate()
        self._timer("volume", VOLUME_MS, self.end_volume)

    def end_volume(self) -> None:
        self.volume_shown = False

    def _fault(self, name: str, _on: bool) -> None:
        if name == "clock_ticks":
            self.status.invalidate()
            self._tick()

    def _tick(self) -> None:
        """The fault `clock_ticks`: the bar's clock shows seconds and never lets the screen be quiet."""
        fault = self.phone.faults.active("clock_ticks")
        if fault is not None:
            self.phone.emit("TYPE_WINDOW_CONTENT_CHANGED", PACKAGE)
            self._timer("clock", float(fault.options["ms"]), self._tick)

    def clock_text(self) -> str:
        """In the phone's own zone; asked at every look at the screen."""
        moment = self.phone.local()
        minute = f"{moment.hour:02d}:{moment.minute:02d}"
        seconds = self.phone.faults.active("clock_ticks") is not None
        return f"{minute}:{moment.second:02d}" if seconds else minute

    # touch that starts at an edge

    def may_pull(self, start: tuple[float, float], y: float) -> bool:
        return start[1] < self.phone.display.status_px and y > start[1]

    def pulled(self) -> None:
        """A finger came down from the top edge: the shade follows, a second time the quick settings."""
        self.open_shade(quick_settings=self.shade_open)

    # windows

    def below(self) -> list[Window]:
        """Windows that stand above the app and below the keyboard: nothing but recents."""
        return [self._fit(self.recents, self.phone.display.screen)] if self.recents_open else []

    def above(self) -> list[Window]:
        display = self.phone.display
        width, height = display.width, display.height
        foot = height - display.navigation_px
        windows = []
        if self.toast is not None:
            windows.append(self._fit(self.toast_window, (0, 0, width, foot - display.units.px(64.0))))
        if self.volume_shown:
            windows.append(self._fit(self.volume, (width - display.units.px(80.0), 0, width, height)))
        if self.shade_open:
            windows.append(self._fit(self.shade, (0, 0, width, height)))
        elif self.heads_up is not None:
            windows.append(self._fit(self.banner, (0, display.status_px, width, height)))
        self.status_text()
        windows.append(self._fit(self.status, (0, 0, width, display.status_px)))
        windows.append(self._fit(self.navigation, (0, foot, width, height)))
        return windows

    def _fit(self, window: Window, area: Rect) -> Window:
        window.resize(area, self.phone.display.units)
        return window

    # views

    def status_text(self) -> str:
        """The bar is built again when its clock shows another time."""
        now = self.clock_text()
        if self.status.tree is not None and self.status.tree.tag != now:
            self.status.invalidate()
        return now

    def _status(self) -> View:
        now = self.clock_text()
        small = styled("text", "label", 13.0, bold=True)
        hints = [icon(name, desc, 16.0, id=name) for name, desc in self._signs()]
        notes = [
            icon("dot", f"{notification.title} notification", 14.0)
            for notification in self.phone.notifications.posted[-4:]
        ]
        bar = row(
            text(now, id="clock", style=small, desc=now, cls="android.widget.TextView"),
            row(*notes, id="notificationIcons", weight=1.0, gap=4.0),
            row(*hints, id="statusIcons", width="wrap", gap=4.0),
            id="status_bar_contents",
            height="fill",
            padding=(16.0, 0.0),
            gap=8.0,
        )
        view = frame(bar, id="status_bar", height="fill", style=styled("status"))
        view.tag = now
        return view

    def _signs(self) -> list[tuple[str, str]]:
        settings = self.phone.settings["global"]
        if settings.get("airplane_mode_on") == "1":
            signs = [("airplane", "Airplane mode")]
        else:
            signs = [("signal", "Phone signal full.")]
        if settings.get("wifi_on") == "1":
            signs.insert(0, ("wifi", "Wifi signal full."))
        if settings.get("bluetooth_on") == "1":
            signs.insert(0, ("bluetooth", "Bluetooth on."))
        return [*signs, ("battery", f"Battery {self.phone.battery} per cent.")]

    def _navigation(self) -> View:
        phone = self.phone
        keys = [
            ("back", "nav_back", "Back", lambda: phone.key(4), None),
            ("home", "nav_home", "Home", lambda: phone.key(3), None),
            ("recent_apps", "nav_recents", "Overview", lambda: phone.key(187), None),
        ]
        parts = [
            icon_button(name, desc, run, id=own, weight=1.0, height="fill", on_long_click=held)
            for own, name, desc, run, held in keys
        ]
        return frame(
            row(*parts, id="nav_buttons", height="fill", padding=(24.0, 0.0)),
            id="navigation_bar_view",
            height="fill",
            style=styled("nav"),
        )

    def _toast(self) -> View:
        style = Style(kind="toast", background="inverse_surface", radius=24.0, elevation=4.0)
        words = self.toast["text"] if self.toast else ""
        inner = text(
            words,
            "label",
            id="android:id/message",
            style=Style(
                kind="text", role="label", size=14.0, color="inverse_on_surface", align="center", max_lines=2
            ),
        )
        box = frame(inner, width="wrap", padding=(24.0, 12.0), style=style, align="center_h")
        return frame(box, padding=(32.0, 0.0))

    def _volume(self) -> View:
        level = self.phone.volume
        return column(
            text(str(level), "label", align="center_h"),
            slider(level, 0, 15, self._set_volume, 1, id="volume_row_slider", desc="Media volume"),
            style=Style(kind="card", background="surface_container", radius=24.0),
            padding=8.0,
        )

    def _set_volume(self, value: float) -> None:
        self.phone.volume = int(value)
        self.show_volume()


def build_recents(ui: SystemUi) -> View:
    tasks = ui.phone.tasks.recent()
    cards = [_task_card(ui, task) for task in tasks]
    clear = button("Clear all", lambda: clear_recents(ui), "text", id="clear_all")
    body = [
        hscroll(row(*cards, width="wrap", gap=16.0, padding=(40.0, 0.0)), id="overview_panel", weight=1.0),
        clear,
    ]
    empty = text("No recent items", "body", id="empty_message")
    return column(
        *(body if cards else [empty]),
        cls="android.widget.FrameLayout",
        height="fill",
        padding=(0.0, 80.0, 0.0, 80.0),
        gravity="center",
        style=Style(kind="recents", background="surface_dim"),
    )


def _task_card(ui: SystemUi, task: Task) -> View:
    app = ui.phone.packages.classes[task.package]
    top = task.top
    picture = View(
        cls="android.view.View",
        id="snapshot",
        width=220.0,
        height=220.0 * ui.phone.display.height / ui.phone.display.width,
        style=Style(kind="thumbnail", background="surface", radius=24.0, elevation=4.0),
        tag=top.window if top is not None else None,
    )
    return column(
        row(icon(app.icon, id="icon"), text(app.label, "label"), width="wrap", gap=8.0, align="center_h"),
        picture,
        cls="android.widget.FrameLayout",
        id="task",
        key=f"task:{task.number}",
        desc=(top.title if top is not None and top.title else app.label),
        width="wrap",
        gap=8.0,
        on_click=lambda: open_task(ui, task),
        on_swipe=lambda way: close_task(ui, task) if way == "up" else None,
    )


def open_task(ui: SystemUi, task: Task) -> None:
    ui.close_recents()
    ui.phone.tasks.to_front(task)


def close_task(ui: SystemUi, task: Task) -> None:
    ui.phone.tasks.remove(task)
    ui.recents.invalidate()


def clear_recents(ui: SystemUi) -> None:
    for task in ui.phone.tasks.recent():
        close_task(ui, task)
    ui.phone.key(3)


TILES = (
    ("Internet", "wifi", "global", "wifi_on"),
    ("Bluetooth", "bluetooth", "global", "bluetooth_on"),
    ("Airplane mode", "airplane", "global", "airplane_mode_on"),
    ("Dark theme", "dark", "secure", "ui_night_mode_on"),
)


def build_shade(ui: SystemUi) -> View:
    notes = [_notification_card(ui, notification) for notification in reversed(ui.phone.notifications.posted)]
    body = column(
        text(ui.clock_text(), "headline", id="clock", padding=(8.0, 4.0)),
        grid(2, *[_tile(ui, *tile) for tile in TILES], id="quick_qs_panel", gap=8.0),
        _brightness(ui) if ui.quick_settings else None,
        *notes,
        text("No notifications", "body", id="no_notifications", align="center_h", margin=24.0)
        if not notes
        else None,
        button("Clear all", lambda: clear_notifications(ui), "text", id="dismiss_text", align="end")
        if notes
        else None,
        padding=(16.0, 8.0),
        gap=8.0,
    )
    return frame(
        scroll(body, id="notification_stack_scroller", cls="android.view.ViewGroup"),
        id="notification_panel",
        height="fill",
        padding=(0.0, 32.0, 0.0, 48.0),
        style=Style(kind="shade", background="surface"),
        on_click=ui.close_shade,
        clickable=False,
        on_swipe=lambda way: ui.close_shade() if way == "up" else None,
    )


def _brightness(ui: SystemUi) -> View:
    value = float(ui.phone.settings["system"].get("screen_brightness", "102"))
    return slider(
        value,
        1.0,
        255.0,
        lambda level: ui.phone.put_setting("system", "screen_brightness", str(int(level))),
        step=1.0,
        id="slider",
        desc="Display brightness",
    )


def clear_notifications(ui: SystemUi) -> None:
    ui.phone.notifications.clear()
    ui.status.invalidate()
    ui.close_shade()


def _tile(ui: SystemUi, label: str, sign: str, table: str, name: str) -> View:
    on = ui.phone.settings[table].get(name) == "1"

    def toggle() -> None:
        ui.phone.put_setting(table, name, "0" if on else "1")

    style = Style(kind="tile", role="selected" if on else "", background="surface_variant", radius=24.0)
    return row(
        icon(sign),
        text(label, "label", id="tile_label", weight=1.0),
        cls="android.widget.Switch",
        key=f"tile:{label}",
        desc=label,
        state="On" if on else "Off",
        checked=on,
        padding=(16.0, 12.0),
        gap=12.0,
        style=style,
        on_click=toggle,
    )


def _notification_card(ui: SystemUi, note: Notification) -> View:
    package = ui.phone.packages.installed.get(note.package)
    head = text(package.label if package else note.package, "caption", id="android:id/app_name_text")
    style = Style(kind="notification", background="surface_container", radius=16.0)
    return column(
        head,
        text(
            note.title,
            "body",
            id="android:id/title",
            style=Style(kind="text", role="body", size=14.0, bold=True),
        ),
        text(note.text, "label", id="android:id/text"),
        _actions(ui, note) if note.actions else None,
        cls="android.widget.FrameLayout",
        id="expandableNotificationRow",
        key=f"notification:{note.number}",
        padding=16.0,
        gap=4.0,
        style=style,
        on_click=lambda: open_note(ui, note),
        on_swipe=lambda way: dismiss(ui, note, way),
    )


def _actions(ui: SystemUi, note: Notification) -> View:
    def press(label: str) -> None:
        app = ui.phone.app(note.package)
        if app is not None:
            app.on_action(label)

    views = [
        button(label, partial(press, label), "text", id="android:id/action0", key=f"action:{label}")
        for label in note.actions
    ]
    return row(*views, id="android:id/actions", gap=8.0, gravity="end")


def open_note(ui: SystemUi, note: Notification) -> None:
    ui.close_shade()
    ui.end_heads_up()
    if not note.ongoing:
        ui.phone.cancel_notification(note.package, note.key)
    component = ui.phone.packages.component(note.package, note.activity)
    ui.phone.start_activity(component, extras=note.extras, package=note.package)


def dismiss(ui: SystemUi, note: Notification, way: str) -> None:
    """A swipe over a notification: sideways it goes, upwards it hides."""
    if way in ("left", "right") and not note.ongoing:
        ui.phone.cancel_notification(note.package, note.key)
    elif way == "up":
        if ui.shade_open:
            ui.close_shade()
        else:
            ui.end_heads_up()


def banner(ui: SystemUi) -> View:
    """The heads-up: one notification below the status bar."""
    note = next(
        (
            notification
            for notification in ui.phone.notifications.posted
            if notification.number == ui.heads_up
        ),
        None,
    )
    return frame(_notification_card(ui, note) if note else None, padding=8.0)
