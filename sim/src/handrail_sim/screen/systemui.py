"""The system's own windows: status bar, navigation bar, shade, heads-up, toasts, recents, volume.

Everything is drawn from the phone's data; only what is open or how far it is pulled is kept here.
"""

from __future__ import annotations

from handrail_sim.screen import recents, shade
from handrail_sim.screen.bars import Bars
from handrail_sim.view import View, column, frame, icon, icon_button, row, slider, text
from handrail_sim.view.view import Rect, Style
from handrail_sim.view.widgets import styled
from handrail_sim.view.windows import Window


class SystemUi(Bars):
    """The system's windows with what they show."""

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
        """Windows above everything, bottom to top."""
        display = self.phone.display
        width, height = display.width, display.height
        foot = height - display.navigation_px
        found = []
        if self.toast is not None:
            found.append(self._fit(self.toast_window, (0, 0, width, foot - display.units.px(64.0))))
        if self.volume_shown:
            found.append(self._fit(self.volume, (width - display.units.px(80.0), 0, width, height)))
        if self.shade_open:
            found.append(self._fit(self.shade, (0, 0, width, height)))
        elif self.heads_up is not None:
            found.append(self._fit(self.banner, (0, display.status_px, width, height)))
        self.status_text()
        found.append(self._fit(self.status, (0, 0, width, display.status_px)))
        found.append(self._fit(self.navigation, (0, foot, width, height)))
        return found

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

    def _shade(self) -> View:
        return shade.build(self)

    def _recents(self) -> View:
        return recents.build(self)

    def _banner(self) -> View:
        return shade.banner(self)

    def _status(self) -> View:
        now = self.clock_text()
        small = styled("text", "label", 13.0, bold=True)
        hints = [icon(name, desc, 16.0, id=name) for name, desc in self._signs()]
        notes = [
            icon("dot", f"{one.title} notification", 14.0) for one in self.phone.notifications.posted[-4:]
        ]
        bar = row(
            text(now, id="clock", style=small, desc=now, cls="android.widget.TextView"),
            row(*notes, id="notificationIcons", width="wrap", weight=1.0, gap=4.0),
            row(*hints, id="statusIcons", width="wrap", gap=4.0),
            id="status_bar_contents",
            height="fill",
            padding=(16.0, 0.0),
            gap=8.0,
        )
        made = frame(bar, id="status_bar", height="fill", style=styled("status"))
        made.tag = now
        return made

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
