"""What a fresh phone answers to getprop and settings: a plain Android 14 device."""

from __future__ import annotations

PROPERTIES = {
    "gsm.operator.alpha": "Handrail",
    "gsm.sim.state": "LOADED",
    "init.svc.adbd": "running",
    "init.svc.bootanim": "stopped",
    "net.bt.name": "Android",
    "persist.sys.locale": "en-US",
    "persist.sys.timezone": "UTC",
    "ro.board.platform": "sim",
    "ro.boot.hardware": "sim",
    "ro.bootmode": "unknown",
    "ro.build.characteristics": "nosdcard",
    "ro.build.date.utc": "1700000000",
    "ro.build.display.id": "UP1A.231005.007",
    "ro.build.fingerprint": "Handrail/sim/sim:14/UP1A.231005.007/1:user/release-keys",
    "ro.build.id": "UP1A.231005.007",
    "ro.build.product": "sim",
    "ro.build.tags": "release-keys",
    "ro.build.type": "user",
    "ro.build.user": "handrail",
    "ro.build.version.codename": "REL",
    "ro.build.version.incremental": "1",
    "ro.build.version.release": "14",
    "ro.build.version.sdk": "34",
    "ro.build.version.security_patch": "2023-10-05",
    "ro.debuggable": "0",
    "ro.hardware": "sim",
    "ro.kernel.qemu": "0",
    "ro.product.board": "sim",
    "ro.product.brand": "Handrail",
    "ro.product.cpu.abi": "arm64-v8a",
    "ro.product.cpu.abilist": "arm64-v8a,armeabi-v7a,armeabi",
    "ro.product.device": "sim",
    "ro.product.first_api_level": "34",
    "ro.product.locale": "en-US",
    "ro.product.manufacturer": "Handrail",
    "ro.product.model": "Simulated Phone",
    "ro.product.name": "sim",
    "ro.secure": "1",
    "service.bootanim.exit": "1",
    "sys.boot_completed": "1",
    "dev.bootcomplete": "1",
    "sys.usb.state": "adb",
    "wifi.interface": "wlan0",
}

SETTINGS = {
    "system": {
        "accelerometer_rotation": "0",
        "font_scale": "1.0",
        "haptic_feedback_enabled": "1",
        "screen_brightness": "102",
        "screen_brightness_mode": "0",
        "screen_off_timeout": "60000",
        "show_touches": "0",
        "sound_effects_enabled": "1",
        "time_12_24": "24",
        "user_rotation": "0",
        "volume_music_speaker": "7",
    },
    "secure": {
        "android_id": "5f1a7e0cab1e0001",
        "default_input_method": "com.android.inputmethod.latin/.LatinIME",
        "enabled_accessibility_services": "",
        "enabled_input_methods": "com.android.inputmethod.latin/.LatinIME",
        "location_mode": "3",
        "navigation_mode": "0",
        "show_ime_with_hard_keyboard": "0",
        "ui_night_mode": "1",
        "user_setup_complete": "1",
    },
    "global": {
        "adb_enabled": "1",
        "airplane_mode_on": "0",
        "animator_duration_scale": "1.0",
        "auto_time": "1",
        "bluetooth_on": "1",
        "development_settings_enabled": "1",
        "device_name": "Simulated Phone",
        "device_provisioned": "1",
        "mobile_data": "1",
        "stay_on_while_plugged_in": "0",
        "transition_animation_scale": "1.0",
        "wifi_on": "1",
        "window_animation_scale": "1.0",
        "zen_mode": "0",
    },
}


def properties(serial: str, density: int) -> dict[str, str]:
    own = {"ro.boot.serialno": serial, "ro.serialno": serial, "ro.sf.lcd_density": str(density)}
    return PROPERTIES | own


def make_userdebug(props: dict[str, str]) -> None:
    """A build for engineers: `adb root` works, and every app can be debugged."""
    text = props["ro.build.fingerprint"].replace(":user/release-keys", ":userdebug/dev-keys")
    props |= {"ro.build.type": "userdebug", "ro.build.tags": "dev-keys", "ro.debuggable": "1"}
    props["ro.build.fingerprint"] = text


def settings() -> dict[str, dict[str, str]]:
    return {table: dict(values) for table, values in SETTINGS.items()}
