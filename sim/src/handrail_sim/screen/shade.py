"""The notification shade and the heads-up banner, as views over the phone's notifications."""

from __future__ import annotations

from functools import partial

from handrail_sim.screen.bars import Bars
from handrail_sim.system.notifications import Notification
from handrail_sim.view import View, button, column, frame, grid, icon, row, scroll, slider, text
from handrail_sim.view.view import Style

TILES = (
    ("Internet", "wifi", "global", "wifi_on"),
    ("Bluetooth", "bluetooth", "global", "bluetooth_on"),
    ("Airplane mode", "airplane", "global", "airplane_mode_on"),
    ("Dark theme", "dark", "secure", "ui_night_mode_on"),
)


def build(ui: Bars) -> View:
    """The whole shade."""
    notes = [_card(ui, one) for one in reversed(ui.phone.notifications.posted)]
    body = column(
        text(ui.clock_text(), "headline", id="clock", padding=(8.0, 4.0)),
        grid(2, *[_tile(ui, *tile) for tile in TILES], id="quick_qs_panel", gap=8.0),
        _brightness(ui) if ui.quick_settings else None,
        *notes,
        text("No notifications", "body", id="no_notifications", align="center_h", margin=24.0)
        if not notes
        else None,
        button("Clear all", lambda: clear_all(ui), "text", id="dismiss_text", align="end") if notes else None,
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


def _brightness(ui: Bars) -> View:
    """Quick settings, which a second pull opens, begin with this."""
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


def clear_all(ui: Bars) -> None:
    """The button at the foot of the shade."""
    ui.phone.notifications.clear()
    ui.status.invalidate()
    ui.close_shade()


def _tile(ui: Bars, label: str, sign: str, table: str, name: str) -> View:
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


def _card(ui: Bars, note: Notification) -> View:
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


def _actions(ui: Bars, note: Notification) -> View:
    def press(label: str) -> None:
        app = ui.phone.app(note.package)
        if app is not None:
            app.on_action(label)

    made = [
        button(label, partial(press, label), "text", id="android:id/action0", key=f"action:{label}")
        for label in note.actions
    ]
    return row(*made, id="android:id/actions", gap=8.0, gravity="end")


def open_note(ui: Bars, note: Notification) -> None:
    """A tap on a notification."""
    ui.close_shade()
    ui.end_heads_up()
    if not note.ongoing:
        ui.phone.cancel_notification(note.package, note.key)
    component = ui.phone.packages.component(note.package, note.activity)
    ui.phone.start_activity(component, extras=note.extras, package=note.package)


def dismiss(ui: Bars, note: Notification, way: str) -> None:
    """A swipe over a notification: sideways it goes, upwards it hides."""
    if way in ("left", "right") and not note.ongoing:
        ui.phone.cancel_notification(note.package, note.key)
    elif way == "up":
        if ui.shade_open:
            ui.close_shade()
        else:
            ui.end_heads_up()


def banner(ui: Bars) -> View:
    """The heads-up: one notification below the status bar."""
    note = next((one for one in ui.phone.notifications.posted if one.number == ui.heads_up), None)
    return frame(_card(ui, note) if note else None, padding=8.0)
