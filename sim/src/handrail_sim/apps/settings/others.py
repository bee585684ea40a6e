"""Pages that are a few plain rows: wallpaper, accessibility, security, location, safety, accounts."""

from __future__ import annotations

from collections.abc import Sequence

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.page import Page, group, link, toggle
from handrail_sim.view import View


class Wallpaper(Page):
    """Nothing to choose from yet."""

    title = "Wallpaper & style"

    def rows(self) -> Sequence[View | None]:
        return [
            link("Wallpaper", None, "Hills at dusk"),
            self.toggle("Themed icons", "secure", "themed_icons"),
        ]


class Accessibility(Page):
    """Switches that automation likes to read."""

    title = "Accessibility"

    def rows(self) -> Sequence[View | None]:
        return [
            group("Screen reader"),
            link("TalkBack", None, "Off / Speak items on screen"),
            group("Display"),
            self.link("Display size and text", places.TEXT_SIZE),
            self.toggle("Color inversion", "secure", "accessibility_display_inversion_enabled"),
            self.toggle("Extra dim", "secure", "reduce_bright_colors_activated"),
            self.toggle("Magnification", "secure", "accessibility_display_magnification_enabled"),
            group("Interaction controls"),
            link("Timing controls", None),
            self.toggle("Remove animations", "secure", "remove_animations"),
            group("Audio"),
            self.toggle("Mono audio", "system", "master_mono"),
            self.toggle("Live Caption", "secure", "odi_captions_enabled"),
        ]


class Security(Page):
    """No screen lock is set."""

    title = "Security & privacy"

    def rows(self) -> Sequence[View | None]:
        return [
            link("App security", None, "No apps scanned"),
            link("Device unlock", None, "None"),
            link("Permission manager", None, "Control app access to your data"),
            self.toggle("Camera access", "secure", "camera_access", "For all apps", "1"),
            self.toggle("Microphone access", "secure", "microphone_access", "For all apps", "1"),
            self.toggle(
                "Show passwords", "system", "show_password", "Display characters briefly as you type", "1"
            ),
        ]


class Location(Page):
    """`location_mode` 3 is on, 0 is off."""

    title = "Location"

    def rows(self) -> Sequence[View | None]:
        on = self.get("secure", "location_mode", "3") != "0"
        return [
            toggle("Use location", on, self.set_location),
            group("Recent access"),
            link("No apps recently accessed location", None),
            link("App location permissions", None, "Control app access"),
            link("Location services", None),
        ]

    def set_location(self, on: bool) -> None:
        self.put("secure", "location_mode", "3" if on else "0")


class Safety(Page):
    """All empty."""

    title = "Safety & emergency"

    def rows(self) -> Sequence[View | None]:
        return [
            link("Medical information", None, "Not set"),
            link("Emergency contacts", None, "Not set"),
            self.toggle("Emergency SOS", "secure", "emergency_gesture_enabled"),
            link("Wireless emergency alerts", None),
        ]


class Accounts(Page):
    """A phone without an account."""

    title = "Passwords & accounts"

    def rows(self) -> Sequence[View | None]:
        return [
            group("Passwords"),
            link("No saved passwords", None),
            group("Accounts"),
            link("Add account", None, picture="add"),
            self.toggle("Automatically sync app data", "global", "auto_sync", otherwise="1"),
        ]
