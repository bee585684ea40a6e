"""Settings > Display, sound, battery, storage, location, system, about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from handrail_sim.apps.settings.page import Page, group, link, toggle
from handrail_sim.view import Style, View, column, icon, progress, row, slider, text

_TAPS = 7
_TAPS_BEFORE_A_WORD = 3


class Battery(Page):
    """What the simulated battery says."""

    title = "Battery"

    def rows(self) -> Sequence[View | None]:
        level = self.phone.battery
        return [
            link(f"{level}%", None, "Should last until about bedtime", "battery"),
            progress(level, id="battery_header_bar", margin=(16.0, 0.0), key="level"),
            *self.listed("battery"),
        ]


class Storage(Page):
    """A phone of 128 GB, always equally full."""

    title = "Storage"

    def rows(self) -> Sequence[View | None]:
        return [
            link("48.6 GB used", None, "of 128 GB"),
            progress(38, id="storage_bar", margin=(16.0, 0.0), key="level"),
            *self.listed("storage"),
        ]


class System(Page):
    """Developer options stand here once somebody has become a developer."""

    title = "System"

    def rows(self) -> Sequence[View | None]:
        developer = self.get("global", "development_settings_enabled") == "1"
        return [
            link("Languages", None, "English (United States)", "language"),
            link("Keyboard", None, "On-screen keyboard", "keyboard"),
            link("Gestures", None, picture="swap"),
            self.link("Date & time", "date_time", zone_words(self.phone.local())[:9], "clock"),
            link("Backup", None, "Off", "upload"),
            link("System update", self.check_for_update, "Up to date", "download"),
            link("Reset options", None, picture="refresh"),
            self.link("Developer options", "developer", picture="code") if developer else None,
        ]

    def check_for_update(self) -> None:
        self.toast("Your system is up to date")


def zone_words(now: datetime) -> str:
    """`GMT+00:00 Coordinated Universal Time`, or the zone's short name."""
    ahead = f"{now:%z}"
    name = now.tzname() or ""
    return f"GMT{ahead[:3]}:{ahead[3:5]} {'Coordinated Universal Time' if name == 'UTC' else name}"


class DateTime(Page):
    """The time on this page is as old as its last look."""

    title = "Date & time"

    def rows(self) -> Sequence[View | None]:
        now = self.phone.local()
        return [
            self.toggle("Set time automatically", "global", "auto_time", otherwise="1"),
            link("Date", None, f"{now:%B} {now.day}, {now.year}"),
            link("Time", None, f"{now.hour % 12 or 12}:{now:%M %p}"),
            self.toggle("Set time zone automatically", "global", "auto_time_zone", otherwise="1"),
            link("Time zone", None, zone_words(now)),
            self.toggle("Use 24-hour format", "system", "time_12_24"),
        ]


class About(Page):
    """Seven taps on the build number make a developer."""

    title = "About phone"

    def on_create(self) -> None:
        self.state["taps"] = 0

    def rows(self) -> Sequence[View | None]:
        seconds = int(self.phone.now_ms() // 1000)
        return [
            group("Basic info"),
            link("Device name", None, self.get("global", "device_name", "Handrail Phone")),
            *self.listed("about_legal"),
            self.link("Android version", "android_version", self._prop("ro.build.version.release")),
            *self.listed("about_addresses"),
            link("Up time", None, f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"),
            link("Build number", self.tap_build, self._prop("ro.build.display.id")),
        ]

    def _prop(self, name: str) -> str:
        return self.phone.props.get(name, "")

    def tap_build(self) -> None:
        if self.get("global", "development_settings_enabled") == "1":
            self.toast("No need, you are already a developer.")
            return
        self.state["taps"] += 1
        left = _TAPS - self.state["taps"]
        if not left:
            self.put("global", "development_settings_enabled", "1")
            self.toast("You are now a developer!")
        elif left <= _TAPS - _TAPS_BEFORE_A_WORD:
            self.toast(f"You are now {left} step{'s' if left > 1 else ''} away from being a developer.")


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
            *self.listed("display"),
        ]

    def _brightness(self) -> View:
        value = int(self.get("system", "screen_brightness", "102"))
        percent = round(100 * value / BRIGHTEST)
        words = row(
            text("Brightness level", "body", id="android:id/title", weight=1.0),
            text(f"{percent}%", "label", id="android:id/summary"),
        )
        bar = slider(
            value, 0, BRIGHTEST, self.set_brightness, 1, id="slider", desc="Display brightness", weight=1.0
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


# setting, label, icon, loudest step of that stream on Android, as delivered
VOLUMES = (
    ("volume_music_speaker", "Media volume", "music", 15, 5),
    ("volume_voice", "Call volume", "call", 5, 4),
    ("volume_ring", "Ring volume", "phone", 7, 5),
    ("volume_notification", "Notification volume", "notifications", 7, 5),
    ("volume_alarm", "Alarm volume", "alarm", 7, 6),
)


class Sound(Page):
    """Volumes live in the system settings, one step at a time."""

    title = "Sound & vibration"

    def rows(self) -> Sequence[View | None]:
        return [*(self._volume(*volume) for volume in VOLUMES), *self.listed("sound")]

    def _volume(self, name: str, label: str, picture: str, loudest: int, delivered: int) -> View:
        value = int(self.get("system", name, str(delivered)))
        bar = slider(
            value,
            0,
            loudest,
            partial(self.set_volume, name),
            1,
            id="android:id/seekbar",
            key=name,
            desc=label,
            weight=1.0,
        )
        return column(
            text(label, "body", id="android:id/title"),
            row(icon(picture, id="android:id/icon"), bar, gap=8.0),
            padding=(16.0, 8.0),
            key=f"row:{label}",
            style=Style(kind="item"),
        )

    def set_volume(self, name: str, value: float) -> None:
        self.put("system", name, str(round(value)))


class Location(Page):
    """`location_mode` 3 is on, 0 is off."""

    title = "Location"

    def rows(self) -> Sequence[View | None]:
        on = self.get("secure", "location_mode", "3") != "0"
        return [toggle("Use location", on, self.set_location), *self.listed("location")]

    def set_location(self, on: bool) -> None:
        self.put("secure", "location_mode", "3" if on else "0")
