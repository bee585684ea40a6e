"""Who uses the phone: its owner, and a work profile beside the owner when there is one."""

from __future__ import annotations

from dataclasses import dataclass

from handrail_sim.system.device import Device

PER_USER = 100_000
"""A user's share of the uids: uid = user * PER_USER + app."""
ALL = -1
OWNER_FLAGS = 0x4C13


@dataclass(frozen=True, slots=True)
class User:
    """`refused`: the shell may not ask about this one, as where an administrator forbids debugging."""

    number: int
    name: str
    flags: int
    refused: bool = False
    packages: frozenset[str] = frozenset()  # those that run for this user, not for the owner


OWNER = User(0, "Owner", OWNER_FLAGS)


def users(phone: Device) -> list[User]:
    fault = phone.faults.active("work_profile")
    if fault is None:
        return [OWNER]
    fields = fault.options
    packages = frozenset(name for name in fields["packages"].split(",") if name)
    return [
        OWNER,
        User(fields["user"], fields["label"], int(fields["flags"], 16), bool(fields["refused"]), packages),
    ]


def user_of(phone: Device, package: str) -> int:
    return next((user.number for user in users(phone) if package in user.packages), 0)


def uid_for(phone: Device, package: str, uid: int) -> int:
    return user_of(phone, package) * PER_USER + uid


def user_argument(words: list[str]) -> int:
    """The user that `--user N|all|current` names; all of them when nothing is said."""
    for at, word in enumerate(words):
        value = word.partition("=")[2] if word.startswith("--user=") else words[at + 1 : at + 2]
        if word == "--user" or word.startswith("--user="):
            named = "".join(value)
            return {"all": ALL, "current": 0, "cur": 0}.get(named, int(named) if named.isdigit() else 0)
    return ALL
