"""Names of users and groups by number, as Android's id tables give them."""

from __future__ import annotations

from handrail_sim import resources

_SYSTEM_USERS = {int(uid): name for uid, name in resources.rows("shell/tools/users.txt")}


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
