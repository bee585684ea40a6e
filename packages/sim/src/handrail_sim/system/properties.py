"""What a fresh phone answers to getprop and settings: a plain Android 14 device."""

from __future__ import annotations

from handrail_sim.resources import table

_TABLE = table("system/properties.toml")
PROPERTIES: dict[str, str] = _TABLE["properties"]

SETTINGS: dict[str, dict[str, str]] = _TABLE["settings"]


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
