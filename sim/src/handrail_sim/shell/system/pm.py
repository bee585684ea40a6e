"""`pm` and `cmd package`: what PackageManager's shell answers."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import package as package_dump
from handrail_sim.shell.system import pm_install, pm_list, pm_query
from handrail_sim.shell.system.java import Handler, JavaError, dispatch
from handrail_sim.shell.system.system_packages import all_packages
from handrail_sim.system.packages import DANGEROUS


def _names(args: list[str]) -> list[str]:
    return [arg for at, arg in enumerate(args) if not arg.startswith("-") and args[at - 1 : at] != ["--user"]]


async def path(call: Call, args: list[str]) -> int:
    """`pm path PACKAGE`."""
    known = all_packages(call.phone).get(_names(args)[0]) if _names(args) else None
    if known is None:
        return 1
    await call.line(f"package:{known.path}")
    return 0


async def clear(call: Call, args: list[str]) -> int:
    """`pm clear PACKAGE`."""
    names = _names(args)
    done = bool(names) and call.phone.clear_data(names[0])
    await call.line("Success" if done else "Failed")
    return 0 if done else 1


async def change_permission(call: Call, args: list[str], granted: bool) -> int:
    """Only runtime permissions the package asks for can be given or taken."""
    names = _names(args)
    if len(names) < 2:
        raise JavaError("java.lang.IllegalArgumentException", "no permission specified")
    package, permission = names[:2]
    known = call.phone.packages.installed.get(package)
    if known is None:
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown package: {package}")
    if permission not in known.requested:
        raise JavaError(
            "java.lang.SecurityException", f"Package {package} has not requested permission {permission}"
        )
    if permission not in DANGEROUS:
        text = f"Permission {permission} requested by {package} is not a changeable permission type"
        raise JavaError("java.lang.SecurityException", text)
    call.phone.packages.set_granted(package, permission, granted)
    if not granted and package in call.phone.packages.processes:
        call.phone.kill_process(package)
    return 0


async def grant(call: Call, args: list[str]) -> int:
    """`pm grant PACKAGE PERMISSION`."""
    return await change_permission(call, args, granted=True)


async def revoke(call: Call, args: list[str]) -> int:
    """`pm revoke PACKAGE PERMISSION`; the app is killed, as its process held the permission."""
    return await change_permission(call, args, granted=False)


async def reset_permissions(call: Call, args: list[str]) -> int:
    """`pm reset-permissions`."""
    for name in _names(args) or list(call.phone.packages.installed):
        if name in call.phone.packages.installed:
            call.phone.packages.reset_permissions(name)
    return 0


async def has_feature(call: Call, args: list[str]) -> int:
    """`pm has-feature NAME`."""
    found = bool(args) and args[0] in pm_list.FEATURES
    await call.line("true" if found else "false")
    return 0 if found else 1


async def dump(call: Call, args: list[str]) -> int:
    """`pm dump PACKAGE`."""
    return await package_dump.run(call, args)


async def enable(call: Call, args: list[str], verb: str) -> int:
    """`pm enable|disable|disable-user PACKAGE`."""
    names = _names(args)
    known = call.phone.packages.installed.get(names[0].partition("/")[0]) if names else None
    if known is None:
        name = names[0] if names else "null"
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown package: {name}")
    known.enabled = verb == "enable"
    if not known.enabled:
        call.phone.force_stop(known.name)
    state = {"enable": "enabled", "disable": "disabled"}.get(verb, "disabled-user")
    await call.line(f"Package {known.name} new state: {state}")
    return 0


async def trim_caches(_: Call, __: list[str]) -> int:
    """There are no caches."""
    return 0


async def max_users(call: Call, _: list[str]) -> int:
    """`pm get-max-users`."""
    await call.line("Maximum supported users: 4")
    return 0


async def install_location(call: Call, _: list[str]) -> int:
    """`pm get-install-location`."""
    await call.line("0[auto]")
    return 0


async def compiled(call: Call, _: list[str]) -> int:
    """Nothing to compile."""
    await call.line("Success")
    return 0


HANDLERS: dict[str, Handler] = {
    "list": pm_list.run,
    "path": path,
    "clear": clear,
    "grant": grant,
    "revoke": revoke,
    "reset-permissions": reset_permissions,
    "has-feature": has_feature,
    "dump": dump,
    "install": pm_install.install,
    "install-create": pm_install.create,
    "install-write": pm_install.write,
    "install-commit": pm_install.commit,
    "install-abandon": pm_install.abandon,
    "install-destroy": pm_install.abandon,
    "uninstall": pm_install.uninstall,
    "resolve-activity": pm_query.resolve,
    "query-activities": pm_query.query,
    "enable": lambda call, args: enable(call, args, "enable"),
    "disable": lambda call, args: enable(call, args, "disable"),
    "disable-user": lambda call, args: enable(call, args, "disable-user"),
    "trim-caches": trim_caches,
    "get-max-users": max_users,
    "get-install-location": install_location,
    "compile": compiled,
    "bg-dexopt-job": compiled,
}


async def run(call: Call) -> int:
    """`pm COMMAND …`."""
    args = call.args
    if not args or args[0] in {"help", "-h"}:
        await call.line("Package manager (package) commands:\n  help\n    Print this help text.")
        return 0 if args else 255
    return await dispatch(call, HANDLERS)


FAMILY: dict[str, Command] = {"pm": run}
