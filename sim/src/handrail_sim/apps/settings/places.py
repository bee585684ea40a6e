"""Where the pages of Settings are: the names of their activities, as AOSP has them, and what search finds."""

from __future__ import annotations

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
