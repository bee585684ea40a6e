"""`appops`: modes of an app's operations; a runtime permission decides what was never set."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.verbs import Verbs, plain
from handrail_sim.system.packages import DANGEROUS

MODES = ("allow", "ignore", "deny", "default", "foreground")
_OPS = {"ACCESS_FINE_LOCATION": "FINE_LOCATION", "ACCESS_COARSE_LOCATION": "COARSE_LOCATION"}
_OPS |= {"POST_NOTIFICATIONS": "POST_NOTIFICATION"}


def _op(permission: str) -> str:
    name = permission.rpartition(".")[2]
    return _OPS.get(name, name)


async def _is_installed(call: Call, package: str) -> bool:
    if package in call.phone.packages.installed:
        return True
    await call.err(f"Error: No UID for {package} in user 0")
    return False


async def _change(call: Call, args: list[str]) -> int:
    package, op, mode = plain(args)[:3]
    if mode not in MODES:
        return await call.err(f"Error: Mode {mode} is not valid", 255)
    if not await _is_installed(call, package):
        return 255
    call.phone.service_state("appops")[f"{package} {_plain(op)}"] = mode
    return 0


def _plain(op: str) -> str:
    return op.removeprefix("android:").upper()


async def _get(call: Call, args: list[str]) -> int:
    package, *requested = plain(args)
    if not await _is_installed(call, package):
        return 255
    matches = modes_of(call, package)
    if requested:
        op = _plain(requested[0])
        return await call.line(
            f"{op}: {matches[op]}" if op in matches else "No operations.\nDefault mode: allow"
        )
    for op in sorted(matches):
        await call.line(f"{op}: {matches[op]}")
    if not matches:
        await call.line("No operations.")
    return 0


def modes_of(call: Call, package: str) -> dict[str, str]:
    packages = call.phone.packages
    existing = packages.installed.get(package)
    requested = [name for name in (existing.requested if existing else []) if name in DANGEROUS]
    matches = {_op(name): "allow" if packages.is_granted(package, name) else "ignore" for name in requested}
    for key, mode in call.phone.service_state("appops").items():
        owner, _, op = key.partition(" ")
        matches |= {op: mode} if owner == package else {}
    return matches


async def _query(call: Call, args: list[str]) -> int:
    """`appops query-op OP [MODE]`: the packages in that mode."""
    op, *mode = plain(args)
    names = [name for name in call.phone.packages.installed
             if modes_of(call, name).get(_plain(op)) == (mode[0] if mode else "allow")]  # fmt: skip
    return await call.out("".join(f"{name}\n" for name in names) or "No operations.\n")


async def _reset(call: Call, args: list[str]) -> int:
    names, held = plain(args), call.phone.service_state("appops")
    for key in [key for key in held if not names or key.startswith(f"{names[0]} ")]:
        held.pop(key)
    return await call.line(f"Reset all modes for: {names[0] if names else 'all packages, user 0'}")


_USER = "[--user USER_ID]"
VERBS = Verbs(
    "AppOps service (appops) commands:",
    {
        "get": (f"{_USER} [--uid] [--attribution TAG] PACKAGE [OP]", _get),
        "set": (f"{_USER} [--uid] PACKAGE OP MODE", _change),
        "query-op": (f"{_USER} OP [MODE]", _query),
        "reset": (f"{_USER} [PACKAGE]", _reset),
    },
)


FAMILY: dict[str, Command] = {"appops": VERBS.command}
