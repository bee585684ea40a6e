"""`dumpsys package [NAME]`: versions, flags, permissions, activities."""

from __future__ import annotations

from handrail_sim import resources
from handrail_sim.handset import Handset
from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import hash_code, moment
from handrail_sim.system.intents import full_class, short_component
from handrail_sim.system.packages import DANGEROUS, Package
from handrail_sim.system.releases import release_of

_PLACES = tuple(resources.rows("shell/system/system_packages.txt"))


def all_packages(phone: Handset) -> dict[str, Package]:
    matches = {
        name: Package(name, int(uid), version_name="14", version_code=34, path=path, system=True)
        for uid, name, path in _PLACES
    }
    matches |= phone.packages.installed
    return {name: matches[name] for name in sorted(matches)}


async def run(call: Call, args: list[str]) -> int:
    names = [arg for arg in args if not arg.startswith("-")]
    existing = all_packages(call.phone)
    if names == ["r"]:
        await call.line("Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:")
        for package in existing.values():
            await _launcher_filter(call, package)
        return await call.line("\nReceiver Resolver Table:")
    if names and names[0] not in existing:
        return await call.line(f"Unable to find package: {names[0]}")
    chosen = [existing[names[0]]] if names else list(existing.values())
    for package in chosen:
        await _resolver(call, package)
    await call.line("Packages:")
    for package in chosen:
        await call.out(_package(call, package))
    return await call.line("\nQueries:\n  system apps queryable: false")


async def _resolver(call: Call, package: Package) -> None:
    app = call.phone.packages.classes.get(package.name)
    if app is None or not app.launchable or not app.launcher_component():
        return
    await call.line("Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:")
    await _launcher_filter(call, package)
    for handle in app.handles:
        name = short_component(f"{package.name}/{full_class(package.name, handle.activity)}")
        await call.line(
            f"      {handle.action}:\n        {hash_code(8, package.uid)} {name} filter "
            f"{hash_code(9, package.uid)}"
        )
    await call.line("")


async def _launcher_filter(call: Call, package: Package) -> None:
    app = call.phone.packages.classes.get(package.name)
    if app is None or not app.launchable or not app.launcher_component():
        return
    component, code = short_component(app.launcher_component()), hash_code(6, package.uid)
    await call.line(f"        {code} {component} filter {hash_code(7, package.uid)}")
    await call.line(
        '          Action: "android.intent.action.MAIN"\n          Category: '
        '"android.intent.category.LAUNCHER"'
    )


def _flags(package: Package) -> str:
    words = ["SYSTEM"] if package.system else []
    words += ["DEBUGGABLE"] if package.debuggable else []
    return " ".join([*words, "HAS_CODE", "ALLOW_CLEAR_USER_DATA", "ALLOW_BACKUP"])


_PACKAGE = resources.text("shell/dumpsys/package.txt")


def _package(call: Call, package: Package) -> str:
    text = _PACKAGE.format(
        id_name=release_of(call.phone).package_id,
        name=package.name,
        uid=package.uid,
        code=hash_code(3, package.uid),
        package_code=hash_code(4, package.uid),
        signatures=hash_code(5, package.uid),
        signature=hash_code(6, 1),
        folder=package.path.rpartition("/")[0],
        version_code=package.version_code,
        version_name=package.version_name,
        flags=_flags(package),
        updated=moment(package.last_update_ms),
        installer=package.installer or "null",
    )
    return text + "\n".join(_permissions(call, package)) + "\n"


def _permissions(call: Call, package: Package) -> list[str]:
    lines = (
        ["    requested permissions:", *(f"      {name}" for name in package.requested)]
        if package.requested
        else []
    )
    installed = [name for name in package.requested if name not in DANGEROUS]
    lines += (
        ["    install permissions:", *(f"      {name}: granted=true" for name in installed)]
        if installed
        else []
    )
    enabled = 0 if package.enabled else 3
    lines.append(
        f"    User 0: ceDataInode={package.uid * 7} installed=true hidden=false suspended=false "
        "distractionFlags=0 "
        f"stopped={str(package.name not in call.phone.packages.processes).lower()} notLaunched=false "
        f"enabled={enabled} instant=false virtual=false"
    )
    lines += [
        f"      installReason=0\n      firstInstallTime={moment(package.first_install_ms)}",
        "      gids=[3003]",
    ]
    runtime = [name for name in package.requested if name in DANGEROUS]
    if runtime:
        lines.append("      runtime permissions:")
    for name in runtime:
        granted = str(call.phone.packages.is_granted(package.name, name)).lower()
        lines.append(f"        {name}: granted={granted}, flags=[ {_permission_flags(call, package, name)}]")
    return lines


def _permission_flags(call: Call, package: Package, name: str) -> str:
    words = ["USER_SET"] if name in package.granted else []
    words += ["USER_FIXED"] if package.denials.get(name, 0) > 1 else []
    words += ["ONE_TIME"] if name in package.one_time else []
    return release_of(call.phone).flag_joint.join(
        [*words, "USER_SENSITIVE_WHEN_GRANTED", "USER_SENSITIVE_WHEN_DENIED"]
    )
