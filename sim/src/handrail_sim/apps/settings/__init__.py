"""Settings: pages of preferences over the phone's real settings, packages and permissions."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.settings import (
    apps,
    bluetooth,
    device,
    display,
    home,
    network,
    others,
    permissions,
    places,
    sound,
)
from handrail_sim.system.activities import App
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import mapping

_ACTIONS = {
    "SETTINGS": places.HOME,
    "WIFI_SETTINGS": places.INTERNET,
    "WIRELESS_SETTINGS": places.NETWORK,
    "AIRPLANE_MODE_SETTINGS": places.NETWORK,
    "BLUETOOTH_SETTINGS": places.BLUETOOTH,
    "APPLICATION_SETTINGS": places.APPS,
    "MANAGE_APPLICATIONS_SETTINGS": places.APPS,
    "MANAGE_ALL_APPLICATIONS_SETTINGS": places.APPS,
    "APPLICATION_DEVELOPMENT_SETTINGS": places.DEVELOPER,
    "NOTIFICATION_SETTINGS": places.NOTIFICATIONS,
    "BATTERY_SAVER_SETTINGS": places.BATTERY,
    "INTERNAL_STORAGE_SETTINGS": places.STORAGE,
    "SOUND_SETTINGS": places.SOUND,
    "DISPLAY_SETTINGS": places.DISPLAY,
    "ACCESSIBILITY_SETTINGS": places.ACCESSIBILITY,
    "SECURITY_SETTINGS": places.SECURITY,
    "LOCATION_SOURCE_SETTINGS": places.LOCATION,
    "SYNC_SETTINGS": places.ACCOUNTS,
    "DATE_SETTINGS": places.DATE_TIME,
    "DEVICE_INFO_SETTINGS": places.ABOUT,
}


class Settings(App):
    """com.android.settings."""

    package = "com.android.settings"
    label = "Settings"
    labels = {"de": "Einstellungen", "es": "Ajustes", "zh": "设置"}
    icon = "settings"
    color = "#5f6368"
    version = "14"
    version_code = 34
    system = True
    activities = {
        places.HOME: home.Home,
        places.SEARCH: home.Search,
        places.NETWORK: network.Network,
        places.INTERNET: network.Internet,
        places.DEVICES: bluetooth.Devices,
        places.BLUETOOTH: bluetooth.Bluetooth,
        places.PAIRING: bluetooth.Pairing,
        places.APPS: apps.AllApps,
        places.APP_INFO: apps.AppInfo,
        places.APP_STORAGE: apps.AppStorage,
        places.APP_PERMISSIONS: permissions.AppPermissions,
        places.APP_PERMISSION: permissions.AppPermission,
        places.NOTIFICATIONS: sound.Notifications,
        places.BATTERY: device.Battery,
        places.STORAGE: device.Storage,
        places.SOUND: sound.Sound,
        places.DISPLAY: display.Display,
        places.TEXT_SIZE: display.TextSize,
        places.WALLPAPER: others.Wallpaper,
        places.ACCESSIBILITY: others.Accessibility,
        places.SECURITY: others.Security,
        places.LOCATION: others.Location,
        places.SAFETY: others.Safety,
        places.ACCOUNTS: others.Accounts,
        places.SYSTEM: device.System,
        places.DATE_TIME: device.DateTime,
        places.DEVELOPER: device.Developer,
        places.ABOUT: device.About,
        places.ANDROID_VERSION: device.AndroidVersion,
    }
    handles = (
        *(Handles(page, f"android.settings.{action}") for action, page in _ACTIONS.items()),
        Handles(places.APP_INFO, "android.settings.APPLICATION_DETAILS_SETTINGS", "package"),
    )

    def fill(self, given: Any) -> None:
        """The three tables by name; `wifi` with `name`, `secured`, `password`; `paired`; `nearby`."""
        told = mapping(given, "settings", "global secure system wifi paired nearby")
        for table in ("global", "secure", "system"):
            for name, value in dict(told.pop(table, {})).items():
                self.phone.settings[table][name] = str(value)
        self.phone.world[self.package] = self.phone.world.get(self.package, {}) | told

    def state(self) -> dict[str, Any]:
        """Which network it is on and what is paired; the settings themselves are the phone's."""
        return {
            "wifi": str(self.prefs("wifi").get("connected", network.first_network(self.phone))),
            "paired": str(
                self.prefs("bluetooth").get("paired", "\n".join(bluetooth.first_paired(self.phone)))
            ).split("\n"),
        }


APP = Settings
