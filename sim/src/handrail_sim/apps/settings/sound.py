"""Sound & vibration, notifications: volumes as sliders, Do Not Disturb, and switches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from handrail_sim.apps.settings.page import Page, link
from handrail_sim.view import Style, View, column, icon, row, slider, text

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
        return [
            *(self._volume(*each) for each in VOLUMES),
            self.toggle("Do Not Disturb", "global", "zen_mode"),
            link("Phone ringtone", None, "Paper Boats"),
            link("Default notification sound", None, "Pebble"),
            link("Default alarm sound", None, "Harbour Bell"),
            self.toggle("Vibrate when ringing", "system", "vibrate_when_ringing"),
            self.toggle("Dial pad tones", "system", "dtmf_tone", otherwise="1"),
            self.toggle("Screen locking sound", "system", "lockscreen_sounds_enabled", otherwise="1"),
            self.toggle("Touch sounds", "system", "sound_effects_enabled", otherwise="1"),
            self.toggle("Touch vibration", "system", "haptic_feedback_enabled", otherwise="1"),
        ]

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
            width="wrap",
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


class Notifications(Page):
    """The switches of the notifications page."""

    title = "Notifications"

    def rows(self) -> Sequence[View | None]:
        return [
            link("Notification history", None, "Show recent and snoozed notifications"),
            link("Conversations", None, "No priority conversations"),
            self.toggle("Bubbles", "secure", "notification_bubbles", otherwise="1"),
            self.toggle(
                "Notifications on lock screen", "secure", "lock_screen_show_notifications", otherwise="1"
            ),
            self.toggle("Notification dot on app icon", "secure", "notification_badging", otherwise="1"),
            self.toggle("Do Not Disturb", "global", "zen_mode"),
            link("Wireless emergency alerts", None),
        ]
