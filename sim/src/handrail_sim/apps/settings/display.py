"""Display: brightness, dark theme, timeout, rotation, and the size of letters."""

from __future__ import annotations

from collections.abc import Sequence

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.page import Page, group, link, toggle
from handrail_sim.view import Style, View, column, icon, row, slider, text

BRIGHTEST = 255
TIMEOUTS = {
    "15 seconds": 15_000,
    "30 seconds": 30_000,
    "1 minute": 60_000,
    "2 minutes": 120_000,
    "5 minutes": 300_000,
    "10 minutes": 600_000,
    "30 minutes": 1_800_000,
}
_APPLY_MS = 400
SCALES = (0.85, 1.0, 1.15, 1.3, 1.5, 1.8, 2.0)


class Display(Page):
    """Brightness is the real value of `settings get system screen_brightness`."""

    title = "Display"

    def rows(self) -> Sequence[View | None]:
        timeout = int(self.get("system", "screen_off_timeout", "60000"))
        shown = next((words for words, ms in TIMEOUTS.items() if ms == timeout), f"{timeout // 1000} seconds")
        return [
            group("Brightness"),
            self._brightness(),
            self.toggle(
                "Adaptive brightness", "system", "screen_brightness_mode", "Follows the light around you"
            ),
            group("Lock display"),
            link("Lock screen", None, "Show all notification content"),
            link("Screen timeout", self.choose_timeout, f"After {shown} of inactivity"),
            group("Appearance"),
            toggle(
                "Dark theme",
                self.phone.display.dark,
                self.phone.set_dark,
                "Will never turn off automatically"
                if self.phone.display.dark
                else "Will never turn on automatically",
            ),
            self.link("Display size and text", places.TEXT_SIZE),
            group("Color"),
            self.toggle("Night Light", "secure", "night_display_activated", "Tints the screen amber"),
            link("Colors", None, "Natural"),
            group("Other display controls"),
            self.toggle("Auto-rotate screen", "system", "accelerometer_rotation"),
            link("Screen saver", None, "Off"),
        ]

    def _brightness(self) -> View:
        value = int(self.get("system", "screen_brightness", "102"))
        percent = round(100 * value / BRIGHTEST)
        words = row(
            text("Brightness level", "body", id="android:id/title", weight=1.0),
            text(f"{percent}%", "label", id="android:id/summary"),
        )
        bar = slider(
            value,
            0,
            BRIGHTEST,
            self.set_brightness,
            1,
            id="slider",
            desc="Display brightness",
            width="wrap",
            weight=1.0,
        )
        return column(
            words,
            row(icon("brightness"), bar, gap=8.0),
            padding=(16.0, 8.0),
            key="row:Brightness level",
            style=Style(kind="item"),
        )

    def set_brightness(self, value: float) -> None:
        """Zero would be a dark screen; Android stops at one."""
        self.put("system", "screen_brightness", str(max(1, round(value))))

    def choose_timeout(self) -> None:
        present = int(self.get("system", "screen_off_timeout", "60000"))
        chosen = [*TIMEOUTS.values()].index(present) if present in TIMEOUTS.values() else -1
        self.choose("Screen timeout", [*TIMEOUTS], self.set_timeout, chosen)

    def set_timeout(self, number: int) -> None:
        self.put("system", "screen_off_timeout", str([*TIMEOUTS.values()][number]))


class TextSize(Page):
    """The slider has one stop for each size Android 14 offers."""

    title = "Display size and text"

    def on_create(self) -> None:
        present = self.phone.display.font_scale
        self.state["stop"] = min(range(len(SCALES)), key=lambda number: abs(SCALES[number] - present))

    def rows(self) -> Sequence[View | None]:
        return [
            text(
                "Sample text in the present size", "body", id="preview", padding=(16.0, 24.0), key="preview"
            ),
            link("Font size", None, "Make text smaller or larger"),
            slider(
                self.state["stop"],
                0,
                len(SCALES) - 1,
                self.set_stop,
                1,
                id="seekbar",
                desc="Font size",
                padding=(16.0, 0.0),
                key="font_size",
            ),
            self.toggle("Bold text", "secure", "font_weight_bold"),
            self.toggle("High contrast text", "secure", "high_text_contrast_enabled"),
            link("Reset settings", self.reset),
        ]

    def set_stop(self, stop: float) -> None:
        """Letters change once the finger rests: a page that grows under it would throw it off."""
        self.state["stop"] = round(stop)
        self.later(_APPLY_MS, self.apply, round(stop))

    def apply(self, stop: int) -> None:
        if stop == self.state["stop"]:
            self.phone.set_font_scale(SCALES[stop])

    def reset(self) -> None:
        self.state["stop"] = SCALES.index(1.0)
        self.phone.set_font_scale(1.0)
        self.put("secure", "font_weight_bold", "0")
        self.put("secure", "high_text_contrast_enabled", "0")
