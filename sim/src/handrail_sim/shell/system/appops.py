"""`appops`: modes of an app's operations; a runtime permission decides what was never set."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from handrail_sim.shell.call import Call, Command
from handrail_sim.system.packages import DANGEROUS

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

MODES = ("allow", "ignore", "deny", "default", "foreground")
_SET: WeakKeyDictionary[Handset, dict[tuple[str, str], str]] = WeakKeyDictionary()
_OPS = {"ACCESS_FINE_LOCATION": "FINE_LOCATION", "ACCESS_COARSE_LOCATION": "COARSE_LOCATION"}
_OPS |= {"POST_NOTIFICATIONS": "POST_NOTIFICATION"}


def _op(permission: str) -> str:
    name = permission.rpartition(".")[2]
    return _OPS.get(name, name)


async def run(call: Call) -> int:
    """`appops get|set|reset …`."""
    args = [
        arg for at, arg in enumerate(call.args) if arg != "--user" and call.args[at - 1 : at] != ["--user"]
    ]
    args = [arg for arg in args if arg != "--uid"]
    if not args:
        await call.err("AppOps service (appops) commands:")
        return 255
    verb, names = args[0], args[1:]
    if verb == "reset":
        _SET.pop(call.phone, None)
        await call.line(
            "Reset all modes for: all packages, user 0" if not names else f"Reset all modes for: {names[0]}"
        )
        return 0
    if verb not in {"get", "set", "query-op"} or not names:
        await call.err(f"Unknown command: {verb}")
        return 255
    if names[0] not in call.phone.packages.installed and verb != "query-op":
        await call.err(f"Error: No UID for {names[0]} in user 0")
        return 255
    return await (_change(call, names) if verb == "set" else _get(call, names))


async def _change(call: Call, names: list[str]) -> int:
    if len(names) < 3 or names[2] not in MODES:
        await call.err(
            f"Error: Mode {names[2]} is not valid" if len(names) > 2 else "Error: Mode not specified"
        )
        return 255
    package, op, mode = names[:3]
    _SET.setdefault(call.phone, {})[package, op.removeprefix("android:").upper()] = mode
    return 0


async def _get(call: Call, names: list[str]) -> int:
    package, packages = names[0], call.phone.packages
    known = packages.installed.get(package)
    asked = [name for name in (known.requested if known else []) if name in DANGEROUS]
    found = {_op(name): "allow" if packages.is_granted(package, name) else "ignore" for name in asked}
    found |= {op: mode for (owner, op), mode in _SET.get(call.phone, {}).items() if owner == package}
    if names[1:]:
        op = names[1].removeprefix("android:").upper()
        await call.line(f"{op}: {found[op]}" if op in found else "No operations.\nDefault mode: allow")
        return 0
    for op in sorted(found):
        await call.line(f"{op}: {found[op]}")
    if not found:
        await call.line("No operations.")
    return 0


FAMILY: dict[str, Command] = {"appops": run}
