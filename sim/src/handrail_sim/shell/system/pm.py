"""`pm` and `cmd package`: what PackageManager's shell answers."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import package as package_dump
from handrail_sim.shell.system import pm_install, pm_list, pm_query
from handrail_sim.shell.system.java import JavaError
from handrail_sim.shell.system.system_packages import all_packages
from handrail_sim.shell.system.verbs import Handler, Verbs, plain
from handrail_sim.system.packages import DANGEROUS


async def path(call: Call, args: list[str]) -> int:
    """`pm path PACKAGE`."""
    known = all_packages(call.phone).get(plain(args)[0]) if plain(args) else None
    if known is None:
        return 1
    for one in (known.path, *known.splits):
        await call.line(f"package:{one}")
    return 0


async def clear(call: Call, args: list[str]) -> int:
    """`pm clear PACKAGE`."""
    names = plain(args)
    done = bool(names) and call.phone.clear_data(names[0])
    await call.line("Success" if done else "Failed")
    return 0 if done else 1


async def change_permission(call: Call, args: list[str], granted: bool) -> int:
    """Only runtime permissions the package asks for can be given or taken."""
    names = plain(args)
    if len(names) < 2:
        raise JavaError("java.lang.IllegalArgumentException", "no permission specified")
    package, permission = names[:2]
    if call.phone.faults.get("grant_refused") is not None:
        verb = "grant" if granted else "revoke"
        text = (
            f"{verb}RuntimePermission: Neither user 2000 nor current process has "
            f"android.permission.{verb.upper()}_RUNTIME_PERMISSIONS."
        )
        frame = "android.app.ContextImpl.enforce(ContextImpl.java:2384)"
        raise JavaError("java.lang.SecurityException", text, frame)
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
    for name in plain(args) or list(call.phone.packages.installed):
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
    names = plain(args)
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


async def trim_caches(call: Call, _: list[str]) -> int:
    """What apps keep under `cache` goes."""
    for name in call.phone.packages.installed:
        _empty(call, f"/data/data/{name}/cache")
    return 0


def _empty(call: Call, folder: str) -> None:
    files = call.phone.files
    for entry in files.list(folder) if files.is_dir(folder) else []:
        files.remove_tree(f"{folder}/{entry}")


async def suspend(_: Call, args: list[str], verb: str) -> int:
    """`pm hide|unhide|suspend|unsuspend PACKAGE`: only a device owner may on a user build."""
    why = f"shell does not have permission to {verb} {plain(args)[0]}"
    raise JavaError("java.lang.SecurityException", why)


async def default_state(call: Call, args: list[str]) -> int:
    """`pm default-state PACKAGE`: enabled again, as the manifest says."""
    return await enable(call, args, "enable")


def _says(text: str) -> Handler:
    """A question with one answer on this phone."""

    async def answer(call: Call, _: list[str]) -> int:
        await call.line(text)
        return 0

    return answer


async def set_installer(call: Call, args: list[str]) -> int:
    """`pm set-installer PACKAGE INSTALLER`."""
    name, installer = plain(args)[:2]
    known = call.phone.packages.installed.get(name)
    if known is None:
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown target package: {name}")
    known.installer = installer
    await call.line("Success")
    return 0


async def compiled(call: Call, args: list[str]) -> int:
    """No code is compiled; a package that is not there fails as on Android."""
    names = plain(args, frozenset({"-m", "-r", "--user", "--split", "--compile-filter"}))
    known = all_packages(call.phone)
    if any(name not in known for name in names):
        await call.line(f"Failure: package {names[0]} not found")
        return 1
    await call.line("Success")
    return 0


_USER = "[--user USER_ID]"
_INTENT = f"[--brief] [--components] [--query-flags FLAGS] {_USER} INTENT"
VERBS = Verbs(
    "Package manager (package) commands:",
    {
        "list": ("KIND [INTENT]", pm_list.run),
        "path": (f"{_USER} PACKAGE", path),
        "clear": (f"{_USER} [--cache-only] PACKAGE", clear),
        "grant": (f"{_USER} PACKAGE PERMISSION", grant),
        "revoke": (f"{_USER} PACKAGE PERMISSION", revoke),
        "reset-permissions": ("", reset_permissions),
        "has-feature": ("FEATURE_NAME [VERSION]", has_feature),
        "dump": ("PACKAGE", dump),
        "install": (pm_install.USAGE, pm_install.install),
        "install-create": (pm_install.USAGE, pm_install.create),
        "install-write": ("[-S BYTES] SESSION_ID SPLIT_NAME [FILE]", pm_install.write),
        "install-commit": ("SESSION_ID", pm_install.commit),
        "install-abandon": ("SESSION_ID", pm_install.abandon),
        "install-destroy": ("SESSION_ID", pm_install.abandon),
        "uninstall": (f"[-k] {_USER} [--versionCode VERSION_CODE] PACKAGE", pm_install.uninstall),
        "resolve-activity": (_INTENT, pm_query.resolve),
        "query-activities": (_INTENT, pm_query.query),
        "enable": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "enable")),
        "disable": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "disable")),
        "disable-user": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "disable-user")),
        "default-state": (f"{_USER} PACKAGE", default_state),
        "hide": (f"{_USER} PACKAGE", lambda call, args: suspend(call, args, "hide")),
        "unhide": (f"{_USER} PACKAGE", lambda call, args: suspend(call, args, "unhide")),
        "set-installer": ("PACKAGE INSTALLER", set_installer),
        "trim-caches": ("DESIRED_FREE_SPACE [internal]", trim_caches),
        "get-max-users": ("", _says("Maximum supported users: 4")),
        "get-max-running-users": ("", _says("Maximum supported running users: 3")),
        "get-install-location": ("", _says("0[auto]")),
        "get-privapp-permissions": ("PACKAGE", _says("{}")),
        "compile": (
            "[-r REASON] [-m MODE] [-c] [-f] [-a] [--reset] [--check-prof BOOL] [--split NAME] [PACKAGE]",
            compiled,
        ),
        "bg-dexopt-job": ("[PACKAGE]", compiled),
    },
)


async def run(call: Call) -> int:
    """`pm COMMAND …`."""
    return await VERBS.run(call, call.args)


FAMILY: dict[str, Command] = {"pm": run}
