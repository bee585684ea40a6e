"""Packages that every Android has and that are no apps of this phone: names, uids and where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail_sim.system.packages import Package

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

_PLACES = {
    "android": (1000, "/system/framework/framework-res.apk"),
    "com.android.systemui": (10098, "/system_ext/priv-app/SystemUI/SystemUI.apk"),
    "com.android.phone": (1001, "/system/priv-app/TeleService/TeleService.apk"),
    "com.android.shell": (2000, "/system/priv-app/Shell/Shell.apk"),
    "com.android.inputmethod.latin": (10097, "/product/app/LatinIME/LatinIME.apk"),
    "com.android.permissioncontroller": (
        10096,
        "/system/priv-app/PermissionController/PermissionController.apk",
    ),
    "com.android.packageinstaller": (10095, "/system/priv-app/PackageInstaller/PackageInstaller.apk"),
    "com.android.webview": (10094, "/product/app/webview/webview.apk"),
    "com.android.bluetooth": (1002, "/system/app/Bluetooth/Bluetooth.apk"),
    "com.android.providers.contacts": (10093, "/system/priv-app/ContactsProvider/ContactsProvider.apk"),
    "com.android.providers.calendar": (10089, "/system/priv-app/CalendarProvider/CalendarProvider.apk"),
    "com.android.providers.media": (10092, "/system/priv-app/MediaProviderLegacy/MediaProviderLegacy.apk"),
    "com.android.providers.media.module": (
        10180,
        "/apex/com.android.mediaprovider/priv-app/MediaProvider@34/MediaProvider.apk",
    ),
    "com.android.providers.settings": (1000, "/system/priv-app/SettingsProvider/SettingsProvider.apk"),
    "com.android.providers.telephony": (1001, "/system/priv-app/TelephonyProvider/TelephonyProvider.apk"),
    "com.android.documentsui": (10091, "/system/priv-app/DocumentsUI/DocumentsUI.apk"),
}


def all_packages(phone: Handset) -> dict[str, Package]:
    matches = {
        name: Package(name, uid, version_name="14", version_code=34, path=path, system=True)
        for name, (uid, path) in _PLACES.items()
    }
    matches |= phone.packages.installed
    return {name: matches[name] for name in sorted(matches)}
