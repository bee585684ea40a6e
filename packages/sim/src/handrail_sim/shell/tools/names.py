"""Names of users and groups by number, as Android's id tables give them."""

from __future__ import annotations

_SYSTEM_USERS = {
    0: "root",
    1000: "system",
    1001: "radio",
    1004: "input",
    1007: "log",
    1011: "adb",
    1013: "media",
}
_SYSTEM_USERS |= {
    1015: "sdcard_rw",
    1023: "media_rw",
    1028: "sdcard_r",
    1041: "audioserver",
    1078: "ext_data_rw",
}
_SYSTEM_USERS |= {1079: "ext_obb_rw", 2000: "shell", 3001: "net_bt_admin", 3002: "net_bt", 3003: "inet"}
_SYSTEM_USERS |= {3006: "net_bw_stats", 3009: "readproc", 3011: "uhid", 9997: "everybody", 9998: "misc"}


def user_number(name: str) -> int:
    if name.startswith("u") and "_a" in name:
        user, _, app = name[1:].partition("_a")
        return int(user) * 100000 + 10000 + int(app)
    return next(
        (uid for uid, existing in _SYSTEM_USERS.items() if existing == name),
        int(name) if name.isdigit() else 0,
    )


def user_name(uid: int) -> str:
    """App 10123 of user 0 is u0_a123."""
    if uid >= 10000:
        return f"u{uid // 100000}_a{uid % 100000 - 10000}"
    return _SYSTEM_USERS.get(uid, str(uid))
