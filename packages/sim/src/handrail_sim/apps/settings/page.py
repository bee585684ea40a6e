"""What every page of Settings is made of, and the activity names of all pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from handrail_sim.system.activities import Activity
from handrail_sim.view import View, column, header, icon, item, lazy_list, switch, text, toolbar
from handrail_sim.view.view import Handler


class Page(Activity):
    """A title and rows. Subclasses say what the rows are."""

    def rows(self) -> Sequence[View | None]:
        """The page's rows for the present state; None is left out."""
        raise NotImplementedError

    def build(self) -> View:
        rows = [row for row in self.rows() if row is not None]
        listed = lazy_list(rows, lambda row: row, id="recycler_view", height="wrap", weight=1.0)
        return column(
            toolbar(self.title, on_up=self.finish, id="action_bar"),
            listed,
            id="content_parent",
            height="fill",
        )

    def get(self, space: str, name: str, otherwise: str = "0") -> str:
        """A value of the system's settings, as `settings get` prints it."""
        return self.phone.settings[space].get(name, otherwise)

    def put(self, space: str, name: str, value: str) -> None:
        self.phone.put_setting(space, name, value)

    def toggle(self, title: str, space: str, name: str, summary: str = "", otherwise: str = "0") -> View:
        """A row with a switch that stands for one value, 0 or 1."""

        def change(on: bool) -> None:
            self.put(space, name, "1" if on else "0")

        return toggle(title, self.get(space, name, otherwise) == "1", change, summary)

    def link(self, title: str, page: str, summary: str = "", picture: str = "") -> View:
        return link(title, partial(self.start, page), summary, picture)


def link(title: str, on_click: Handler | None, summary: str = "", picture: str = "") -> View:
    """A row that leads somewhere, or, without a handler, only tells."""
    leading = icon(picture, id="android:id/icon") if picture else None
    return item(title, summary, leading, key=f"row:{title}", on_click=on_click)


def toggle(
    title: str,
    on: bool,
    change: Callable[[bool], object],
    summary: str = "",
    enabled: bool = True,
    picture: str = "",
) -> View:
    """A row with a switch: the row takes the tap, the switch shows what is."""
    handle = switch(
        "",
        on,
        id="android:id/switch_widget",
        on_click=None,
        clickable=False,
        focusable=False,
        enabled=enabled,
        key=f"switch:{title}",
    )
    leading = icon(picture, id="android:id/icon") if picture else None
    return item(
        title,
        summary,
        leading,
        handle,
        key=f"row:{title}",
        on_click=lambda: change(not on),
        enabled=enabled,
    )


def group(title: str) -> View:
    return header(title, key=f"group:{title}")


def note(words: str) -> View:
    return text(words, "label", id="android:id/title", padding=(16.0, 16.0), key="note")


HOME = ".Settings"
SEARCH = ".search.SearchActivity"
NETWORK = ".Settings$NetworkDashboardActivity"
INTERNET = ".Settings$WifiSettingsActivity"
DEVICES = ".Settings$ConnectedDeviceDashboardActivity"
BLUETOOTH = ".Settings$BluetoothSettingsActivity"
PAIRING = ".Settings$BluetoothDevicePairingActivity"
APPS = ".Settings$ManageApplicationsActivity"
APP_INFO = ".applications.InstalledAppDetails"
APP_STORAGE = ".Settings$AppStorageSettingsActivity"
APP_PERMISSIONS = ".Settings$AppPermissionsActivity"
APP_PERMISSION = ".Settings$AppPermissionActivity"
NOTIFICATIONS = ".Settings$ConfigureNotificationSettingsActivity"
BATTERY = ".Settings$PowerUsageSummaryActivity"
STORAGE = ".Settings$StorageDashboardActivity"
SOUND = ".Settings$SoundSettingsActivity"
DISPLAY = ".Settings$DisplaySettingsActivity"
TEXT_SIZE = ".Settings$TextReadingSettingsActivity"
WALLPAPER = ".Settings$WallpaperSettingsActivity"
ACCESSIBILITY = ".Settings$AccessibilitySettingsActivity"
SECURITY = ".Settings$SecurityDashboardActivity"
LOCATION = ".Settings$LocationSettingsActivity"
SAFETY = ".Settings$SafetyDashboardActivity"
ACCOUNTS = ".Settings$AccountDashboardActivity"
SYSTEM = ".Settings$SystemDashboardActivity"
DATE_TIME = ".Settings$DateTimeSettingsActivity"
DEVELOPER = ".Settings$DevelopmentSettingsDashboardActivity"
ABOUT = ".Settings$MyDeviceInfoActivity"
ANDROID_VERSION = ".Settings$FirmwareVersionActivity"

# words, where they stand, page
INDEX = (
    ("Network & internet", "Settings", NETWORK),
    ("Wi‑Fi internet", "Network & internet", INTERNET),
    ("Airplane mode", "Network & internet", NETWORK),
    ("Data Saver", "Network & internet", NETWORK),
    ("Connected devices", "Settings", DEVICES),
    ("Bluetooth", "Connected devices", BLUETOOTH),
    ("Pair new device", "Connected devices", PAIRING),
    ("Apps", "Settings", APPS),
    ("Notifications", "Settings", NOTIFICATIONS),
    ("Battery", "Settings", BATTERY),
    ("Battery Saver", "Battery", BATTERY),
    ("Storage", "Settings", STORAGE),
    ("Sound & vibration", "Settings", SOUND),
    ("Media volume", "Sound & vibration", SOUND),
    ("Do Not Disturb", "Sound & vibration", SOUND),
    ("Display", "Settings", DISPLAY),
    ("Brightness level", "Display", DISPLAY),
    ("Dark theme", "Display", DISPLAY),
    ("Screen timeout", "Display", DISPLAY),
    ("Auto-rotate screen", "Display", DISPLAY),
    ("Display size and text", "Display", TEXT_SIZE),
    ("Font size", "Display > Display size and text", TEXT_SIZE),
    ("Accessibility", "Settings", ACCESSIBILITY),
    ("Security & privacy", "Settings", SECURITY),
    ("Location", "Settings", LOCATION),
    ("Date & time", "System", DATE_TIME),
    ("System", "Settings", SYSTEM),
    ("About phone", "Settings", ABOUT),
    ("Build number", "About phone", ABOUT),
    ("Android version", "About phone", ANDROID_VERSION),
)
