"""The phone itself: battery, storage, system, date, about, developer options."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.page import Page, group, link
from handrail_sim.view import View, progress

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
            link("Battery usage", None, "Past 24 hours"),
            self.toggle("Battery Saver", "global", "low_power"),
            self.toggle("Adaptive Battery", "global", "adaptive_battery_management_enabled", otherwise="1"),
            self.toggle("Battery percentage", "system", "status_bar_show_battery_percent"),
        ]


class Storage(Page):
    """A phone of 128 GB, always equally full."""

    title = "Storage"

    def rows(self) -> Sequence[View | None]:
        parts = (
            ("System", "18 GB", "info"),
            ("Apps", "14 GB", "apps"),
            ("Images", "9.2 GB", "image"),
            ("Videos", "5.1 GB", "video"),
            ("Audio", "1.3 GB", "music"),
            ("Documents & other", "0.9 GB", "file"),
            ("Trash", "0 B", "delete"),
        )
        return [
            link("48.6 GB used", None, "of 128 GB"),
            progress(38, id="storage_bar", margin=(16.0, 0.0), key="level"),
            *(link(name, None, size, picture) for name, size, picture in parts),
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
            self.link("Date & time", places.DATE_TIME, zone_words(self.phone.local())[:9], "clock"),
            link("Backup", None, "Off", "upload"),
            link("System update", self.check_for_update, "Up to date", "download"),
            link("Reset options", None, picture="refresh"),
            self.link("Developer options", places.DEVELOPER, picture="code") if developer else None,
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
            link("Phone number", None, "07700 900001"),
            group("Legal & regulatory"),
            link("Legal information", None),
            group("Device details"),
            link("Model", None, self._prop("ro.product.model")),
            link("IMEI", None, "Not available"),
            self.link("Android version", places.ANDROID_VERSION, self._prop("ro.build.version.release")),
            group("Device identifiers"),
            link("IP address", None, "192.168.7.21"),
            link("Wi‑Fi MAC address", None, "02:00:00:00:00:00"),
            link("Bluetooth address", None, "02:00:00:00:00:01"),
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


class AndroidVersion(Page):
    """What the build says of itself."""

    title = "Android version"

    def rows(self) -> Sequence[View | None]:
        props = self.phone.props
        return [
            link("Android version", None, props.get("ro.build.version.release", "")),
            link("Android security update", None, props.get("ro.build.version.security_patch", "")),
            link("Kernel version", None, "5.15.0-handrail"),
            link("Build number", None, props.get("ro.build.display.id", "")),
        ]


class Developer(Page):
    """A few of the many."""

    title = "Developer options"

    def rows(self) -> Sequence[View | None]:
        return [
            self.toggle("Use developer options", "global", "development_settings_enabled"),
            self.toggle(
                "Stay awake", "global", "stay_on_while_plugged_in", "Screen will never sleep while charging"
            ),
            group("Debugging"),
            self.toggle("USB debugging", "global", "adb_enabled", "Debug mode when USB is connected", "1"),
            self.toggle("Wireless debugging", "global", "adb_wifi_enabled"),
            group("Input"),
            self.toggle("Show taps", "system", "show_touches"),
            self.toggle("Pointer location", "system", "pointer_location"),
            group("Drawing"),
            link("Window animation scale", None, f"{self.get('global', 'window_animation_scale', '1')}x"),
            link(
                "Transition animation scale",
                None,
                f"{self.get('global', 'transition_animation_scale', '1')}x",
            ),
            link("Animator duration scale", None, f"{self.get('global', 'animator_duration_scale', '1')}x"),
            group("Apps"),
            self.toggle("Don't keep activities", "global", "always_finish_activities"),
        ]
