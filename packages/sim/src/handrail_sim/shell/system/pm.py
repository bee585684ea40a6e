"""`pm` and `cmd package`: what PackageManager's shell answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from handrail_sim import resources
from handrail_sim.handset import Handset
from handrail_sim.resources import table
from handrail_sim.shell.apk import ApkFacts, BadApk, read_apk
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import package as package_dump
from handrail_sim.shell.dumpsys.package import all_packages
from handrail_sim.shell.io import CHUNK, Source
from handrail_sim.shell.options import Options
from handrail_sim.shell.system.instrument import declared
from handrail_sim.shell.system.intent_args import LAUNCHER, MAIN, IntentArgs
from handrail_sim.shell.system.verbs import Handler, JavaError, Verbs, check, plain, says, usage_of, value_of
from handrail_sim.system.intents import short_component, split_component
from handrail_sim.system.packages import DANGEROUS, Package
from handrail_sim.system.releases import sdk_of
from handrail_sim.system.users import ALL, PER_USER, User, user_argument
from handrail_sim.system.users import users as all_users

MAX_APK = 256 << 20
USAGE = (
    "[-r] [-R] [-t] [-d] [-g] [-f] [-l] [-s] [-k] [-i PACKAGE] [-S BYTES] [-p PACKAGE] [--user USER_ID] "
    "[--abi ABI] [--pkg PACKAGE] [--install-location LOCATION] [--install-reason REASON] [--full] "
    "[--originating-uri URI] [--referrer URI] [--inherit PACKAGE] [--instant|--instantapp] [--apex] "
    "[--preload] [--force-uuid UUID] [--force-sdk] [--dont-kill] [--no-streaming] [--fastdeploy] "
    "[--skip-verification] [--bypass-low-target-sdk-block] [--staged] [--force-queryable] "
    "[--enable-rollback] [--wait] [--restrict-permissions] [--package-source SOURCE] "
    "[--rollback-strategy NUMBER] [--update-ownership] [--multi-package] [--ignore-dexopt-profile] [FILE]"
)
FIRST_SESSION = 1_000_001
_INSTALL_VALUED = usage_of(USAGE).valued


@dataclass(slots=True)
class InstallSession:
    """APKs that arrived and wait for their commit."""

    options: Options
    parts: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class InstallSessions:
    """Those of one phone."""

    opened: dict[int, InstallSession] = field(default_factory=dict)
    last: int = FIRST_SESSION - 1

    def create(self, options: Options) -> int:
        self.last += 1
        self.opened[self.last] = InstallSession(options)
        return self.last


_SESSIONS: WeakKeyDictionary[Handset, InstallSessions] = WeakKeyDictionary()


def sessions_of(phone: Handset) -> InstallSessions:
    return _SESSIONS.setdefault(phone, InstallSessions())


def install_options(args: list[str]) -> Options:
    """Options may stand anywhere; unknown ones were refused before."""
    matches, todo = Options(), list(args)
    while todo:
        arg = todo.pop(0)
        if arg in _INSTALL_VALUED:
            matches.values[arg] = todo.pop(0) if todo else ""
        elif arg.startswith("-") and arg != "-":
            matches.flags.add(arg)
        else:
            matches.rest.append(arg)
    return matches


async def take(source: Source, size: int) -> bytes:
    """Exactly so many bytes, or what comes until the end."""
    parts: list[bytes] = []
    while size > 0 and (part := await source.read(min(size, CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


async def install(call: Call, args: list[str]) -> int:
    """`pm install [OPTIONS] FILE`, or `-S SIZE` with the file on stdin."""
    options = install_options(args)
    try:
        data = await _data(call, options, options.rest[0] if options.rest else "-")
    except FileNotFoundError:
        return await call.err(
            f"Error: Unable to open file: {options.rest[0]}\nConsider using a file under /data/local/tmp/",
            255,
        )
    return await _finish(call, [data], options)


async def _data(call: Call, options: Options, name: str) -> bytes:
    size = int(options.values.get("-S", "0") or 0)
    if size > MAX_APK:
        return b""
    if name == "-":
        if not size:
            raise JavaError(
                "java.lang.IllegalArgumentException",
                "Error: must either specify a package size or an APK file",
            )
        return await take(call.stdin, size)
    try:
        return call.session.files.read(call.path(name))
    except OSError:
        raise FileNotFoundError(name) from None


async def _finish(call: Call, parts: list[bytes], options: Options) -> int:
    """Install what the parts hold: a base and its splits, or splits for a base that is there."""
    try:
        matches = [(read_apk(part), part) for part in parts]
        if call.phone.faults.get("install_refused") is not None:
            raise BadApk("INSTALL_FAILED_USER_RESTRICTED: Install canceled by user")
        _check(call, [facts for facts, _ in matches], options)
        base = next(((facts, data) for facts, data in matches if not facts.split), None)
        if base is not None:
            _put(call, *base, options)
        for facts, data in matches:
            if facts.split:
                _put_split(call, facts, data)
    except BadApk as problem:
        return await call.line(f"Failure [{problem}]", 1)
    return await call.line("Success")


def _check(call: Call, apks: list[ApkFacts], options: Options) -> None:
    names = [facts.split for facts in apks]
    if len({facts.package for facts in apks}) > 1:
        text = f"Split {names[-1] or 'null'} has inconsistent package {apks[-1].package}"
        raise BadApk(f"INSTALL_FAILED_INVALID_APK: {text}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadApk(f"INSTALL_FAILED_INVALID_APK: Split {twice or 'null'} was defined multiple times")
    if "" in names:
        return
    if "-p" not in options.values and "--inherit" not in options.values:
        raise BadApk("INSTALL_FAILED_INVALID_APK: Full install must include a base package")
    if not apks or apks[0].package not in call.phone.packages.installed:
        raise BadApk("INSTALL_FAILED_INVALID_APK: Missing existing base package")


def _put_split(call: Call, facts: ApkFacts, data: bytes) -> None:
    phone = call.phone
    package = phone.packages.installed[facts.package]
    path = f"/data/app/{package.name}/split_{facts.split}.apk"
    phone.files.write(path, data)
    if path not in package.splits:
        package.splits.append(path)
    package.size += len(data)


def _put(call: Call, facts: ApkFacts, data: bytes, options: Options) -> None:
    phone = call.phone
    old = phone.packages.installed.get(facts.package)
    if old and "-R" in options:
        text = f"Attempt to re-install {facts.package} without first uninstalling."
        raise BadApk(f"INSTALL_FAILED_ALREADY_EXISTS: {text}")
    if old and old.version_code > facts.version_code and "-d" not in options:
        text = f"Update version code {facts.version_code} is older than current {old.version_code}"
        raise BadApk(f"INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: {text}")
    if old:
        phone.force_stop(facts.package)
    now = phone.wall_ms()
    package = phone.packages.install(
        facts.package,
        label=facts.label,
        version_name=facts.version_name,
        version_code=facts.version_code,
        debuggable=facts.debuggable,
        requested=facts.permissions,
        first_install_ms=now,
        last_update_ms=now,
        installer=options.values.get("-i", ""),
        size=len(data),
        activities=facts.activities,
        launcher=facts.launcher,
        services=facts.services,
        receivers=facts.receivers,
        instrumentations=facts.instrumentations,
    )
    phone.files.mkdir(f"/data/app/{package.name}", parents=True)
    phone.files.write(package.path, data)
    phone.files.make_app_data(package.name, package.uid)
    if "-g" in options:
        for permission in package.requested:
            phone.packages.set_granted(package.name, permission, True)
    phone.logcat("I", "PackageManager", f"installation completed for package:{package.name}")
    phone.touched_app()


async def create(call: Call, args: list[str]) -> int:
    number = sessions_of(call.phone).create(install_options(args))
    return await call.line(f"Success: created install session [{number}]")


def _session(call: Call, text: str) -> InstallSession:
    install = sessions_of(call.phone).opened.get(int(text) if text.isdigit() else -1)
    if install is None:
        raise JavaError("java.lang.SecurityException", f"Caller has no access to session {text}")
    return install


async def write(call: Call, args: list[str]) -> int:
    options = install_options(args)
    if len(options.rest) < 2:
        raise JavaError("java.lang.IllegalArgumentException", 'Argument expected after "install-write"')
    session = _session(call, options.rest[0])
    try:
        data = await _data(call, options, options.rest[2] if options.rest[2:] else "-")
    except FileNotFoundError:
        return await call.err(f"Error: Unable to open file: {options.rest[2]}", 255)
    session.parts[options.rest[1]] = data
    return await call.line(f"Success: streamed {len(data)} bytes")


async def commit(call: Call, args: list[str]) -> int:
    number = next((arg for arg in args if arg.isdigit()), "")
    session = _session(call, number)
    del sessions_of(call.phone).opened[int(number)]
    return await _finish(call, list(session.parts.values()), session.options)


async def abandon(call: Call, args: list[str]) -> int:
    number = next((arg for arg in args if arg.isdigit()), "")
    _session(call, number)
    del sessions_of(call.phone).opened[int(number)]
    return await call.line("Success")


async def uninstall(call: Call, args: list[str]) -> int:
    options = install_options(args)
    phone, name = call.phone, options.rest[0] if options.rest else ""
    package = phone.packages.installed.get(name)
    if package is None or package.system:
        missing = "not installed for 0" if "--user" in options.values else "DELETE_FAILED_INTERNAL_ERROR"
        return await call.line(f"Failure [{missing}]", 1)
    phone.force_stop(name)
    phone.packages.uninstall(name)
    for folder in (f"/data/app/{name}", *([] if "-k" in options else [f"/data/data/{name}"])):
        if phone.files.exists(folder):
            phone.files.remove_tree(folder)
    phone.touched_app()
    return await call.line("Success")


_QUERY_VALUED = frozenset({"--user", "--query-flags"})
_FLAGS = frozenset({"--brief", "--components", "--query"})
MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault={}"


def _matching_components(call: Call, arguments: IntentArgs) -> list[str]:
    intent, packages = arguments.intent, call.phone.packages
    if intent.component:
        package, name = split_component(intent.component)
        current = packages.component(package, name)
        return [current] if current else []
    if intent.package and not intent.action:
        intent.action, intent.categories = MAIN, (LAUNCHER,)
    if LAUNCHER in intent.categories and not intent.action:
        intent.action = MAIN
    return packages.resolve(intent)


_ACTIVITY_INFO = resources.text("shell/system/activity_info.txt")


def _details(call: Call, component: str, indent: str) -> str:
    package, name = split_component(component)
    existing = all_packages(call.phone)[package]
    text = _ACTIVITY_INFO.format(
        name=name, package=package, label=existing.label, uid=existing.uid, path=existing.path
    )
    return "".join(f"{indent}{line}\n" for line in text.splitlines())


async def resolve(call: Call, args: list[str]) -> int:
    content = IntentArgs(args, valued=_QUERY_VALUED, flags=_FLAGS)
    names = _matching_components(call, content)
    if not names:
        return await call.line("No activity found")
    component = names[0] if len(names) == 1 else "android/com.android.internal.app.ResolverActivity"
    match = MATCH.format("true" if len(names) == 1 else "false")
    if "--components" in content.options:
        await call.line(short_component(component))
    elif "--brief" in content.options or component.startswith("android/"):
        await call.line(f"{match}\n{short_component(component)}")
    else:
        await call.out(f"{match}\n{_details(call, component, '')}")
    return 0


async def query(call: Call, args: list[str]) -> int:
    content = IntentArgs(args, valued=_QUERY_VALUED, flags=_FLAGS)
    names = _matching_components(call, content)
    if not names:
        return await call.line("No activities found")
    if "--components" in content.options:
        return await call.out("".join(f"{short_component(name)}\n" for name in names))
    await call.line(f"{len(names)} activities found:")
    for number, component in enumerate(names):
        await call.line(f"  Activity #{number}:\n    {MATCH.format('false')}")
        if "--brief" in content.options:
            await call.line(f"    {short_component(component)}")
        else:
            await call.out(_details(call, component, "    "))
    return 0


_LISTED = table("shell/system/device.toml")
FEATURES: list[str] = _LISTED["features"]
_GROUPS: list[str] = _LISTED["groups"]
LIBRARIES: list[str] = _LISTED["libraries"]


_PACKAGES = "[-f] [-d] [-e] [-s] [-3] [-i] [-l] [-u] [-U] [-a] [-q] [--show-versioncode] [--apex-only]"
_PACKAGES += " [--factory-only] [--match-libraries] [--uid UID] [--user USER_ID] [FILTER]"


async def packages(call: Call, args: list[str]) -> int:
    """`pm list packages [-f -3 -s -d -e -i -U] [FILTER]`; joined letters are no option, as on Android."""
    chosen = _users(call, args)
    flags, names = {arg.lstrip("-") for arg in args if arg.startswith("-")}, plain(args, _LIST_VALUED)
    names = [name for name in names if not name.startswith("-")]
    match = [package for package in all_packages(call.phone).values() if _wanted(package, flags)]
    match = [entry for entry in match if not names or names[0] in entry.name]
    uid = value_of(args, "--uid")
    match = [entry for entry in match if not uid or str(entry.uid) == uid]
    match = [entry for entry in match if "apex-only" not in flags]
    return await call.out("".join(_line(entry, flags, chosen) + "\n" for entry in match))


def _users(call: Call, args: list[str]) -> list[User]:
    """Those that were asked about; the shell is refused where one of them is closed to it."""
    wanted = user_argument(args)
    chosen = [user for user in all_users(call.phone) if wanted in {ALL, user.number}]
    closed = next((user for user in chosen if user.refused), None)
    if closed is not None:
        raise JavaError(
            "java.lang.SecurityException",
            f"Shell does not have permission to access user {closed.number}\n "
            "com.android.server.am.ActivityManagerService.handleIncomingUser:16014 "
            "android.app.ActivityManager.handleIncomingUser:5174 "
            "com.android.server.pm.PackageManagerShellCommand.translateUserId:3771",
            "com.android.server.am.UserController.handleIncomingUser(UserController.java:2895)",
        )
    return chosen


def _wanted(package: Package, flags: set[str]) -> bool:
    if ("3" in flags and package.system) or ("s" in flags and not package.system):
        return False
    return not (("d" in flags and package.enabled) or ("e" in flags and not package.enabled))


def _line(package: Package, flags: set[str], chosen: list[User]) -> str:
    text = f"package:{package.path}={package.name}" if "f" in flags else f"package:{package.name}"
    if "show-versioncode" in flags:
        text += f" versionCode:{package.version_code}"
    if "i" in flags:
        text += f"  installer={package.installer or 'null'}"
    uids = ",".join(str(user.number * PER_USER + package.uid) for user in chosen)
    return text + (f" uid:{uids}" if "U" in flags else "")


UIDS_SINCE = 26
"""The API level that brought `pm list packages -U`."""
_LIST_VALUED = frozenset({"--uid", "--user"})


async def permissions(call: Call, args: list[str]) -> int:
    await call.line("All Permissions:\n")
    if "-d" in "".join(args) or "-g" in "".join(args):
        await call.line("Dangerous Permissions:\n")
    for name in sorted(DANGEROUS):
        await call.line(f"permission:{name}")
    return 0


async def users(call: Call, _: list[str]) -> int:
    await call.line("Users:")
    for user in all_users(call.phone):
        await call.line(f"\tUserInfo{{{user.number}:{user.name}:{user.flags:x}}} running")
    return 0


async def instrumentation(call: Call, _: list[str]) -> int:
    for component, target in declared(call.phone).items():
        await call.line(f"instrumentation:{component} (target={target})")
    return 0


LISTS: dict[str, tuple[str, Handler]] = {
    "packages": (_PACKAGES, packages),
    "package": (_PACKAGES, packages),
    "permissions": ("[-g] [-f] [-d] [-u] [-s] [GROUP]", permissions),
    "permission-groups": (
        "",
        says("\n".join(f"permission group:android.permission-group.{name}" for name in _GROUPS)),
    ),
    "features": ("", says("\n".join(f"feature:{name}" for name in ("reqGlEsVersion=0x30002", *FEATURES)))),
    "libraries": ("[-v]", says("\n".join(f"library:{name}" for name in LIBRARIES))),
    "users": ("[--verbose|-v]", users),
    "instrumentation": ("[-f] [PACKAGE]", instrumentation),
}


async def list_packages(call: Call, args: list[str]) -> int:
    if not args:
        return await call.err("Error: didn't specify type of data to list", 255)
    kind = args[0]
    if kind not in LISTS:
        return await call.err(f"Error: unknown list type '{kind}'", 255)
    usage, handler = LISTS[kind]
    if sdk_of(call.phone) < UIDS_SINCE:
        usage = usage.replace("[-U] ", "").replace("[--show-versioncode] ", "")
    wrong = check(kind, usage_of(usage), args[1:])
    if wrong is not None:
        return await call.err(f"Error: Unknown option: {wrong}", 255)
    return await handler(call, args[1:])


async def path(call: Call, args: list[str]) -> int:
    package = all_packages(call.phone).get(plain(args)[0]) if plain(args) else None
    if package is None:
        return 1
    for entry in (package.path, *package.splits):
        await call.line(f"package:{entry}")
    return 0


async def clear(call: Call, args: list[str]) -> int:
    names = plain(args)
    done = bool(names) and call.phone.clear_data(names[0])
    await call.line("Success" if done else "Failed")
    return 0 if done else 1


async def change_permission(call: Call, args: list[str], granted: bool) -> int:
    """`pm grant|revoke PACKAGE PERMISSION`; `revoke` kills the app: its process held the permission."""
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
    existing = call.phone.packages.installed.get(package)
    if existing is None:
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown package: {package}")
    if permission not in existing.requested:
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


async def reset_permissions(call: Call, args: list[str]) -> int:
    for name in plain(args) or list(call.phone.packages.installed):
        if name in call.phone.packages.installed:
            call.phone.packages.reset_permissions(name)
    return 0


async def has_feature(call: Call, args: list[str]) -> int:
    exists = bool(args) and args[0] in FEATURES
    await call.line("true" if exists else "false")
    return 0 if exists else 1


async def enable(call: Call, args: list[str], verb: str) -> int:
    names = plain(args)
    package = call.phone.packages.installed.get(names[0].partition("/")[0]) if names else None
    if package is None:
        name = names[0] if names else "null"
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown package: {name}")
    package.enabled = verb == "enable"
    if not package.enabled:
        call.phone.force_stop(package.name)
    state = {"enable": "enabled", "disable": "disabled"}.get(verb, "disabled-user")
    return await call.line(f"Package {package.name} new state: {state}")


async def trim_caches(call: Call, _: list[str]) -> int:
    """What apps keep under `cache` goes."""
    for name in call.phone.packages.installed:
        folder = f"/data/data/{name}/cache"
        files = call.phone.files
        for entry in files.list(folder) if files.is_dir(folder) else []:
            files.remove_tree(f"{folder}/{entry}")
    return 0


async def suspend(_: Call, args: list[str], verb: str) -> int:
    """`pm hide|unhide|suspend|unsuspend PACKAGE`: only a device owner may on a user build."""
    why = f"shell does not have permission to {verb} {plain(args)[0]}"
    raise JavaError("java.lang.SecurityException", why)


async def set_installer(call: Call, args: list[str]) -> int:
    name, installer = plain(args)[:2]
    package = call.phone.packages.installed.get(name)
    if package is None:
        raise JavaError("java.lang.IllegalArgumentException", f"Unknown target package: {name}")
    package.installer = installer
    return await call.line("Success")


async def compiled(call: Call, args: list[str]) -> int:
    """No code is compiled; a package that is not there fails as on Android."""
    names = plain(args, frozenset({"-m", "-r", "--user", "--split", "--compile-filter"}))
    existing = all_packages(call.phone)
    if any(name not in existing for name in names):
        return await call.line(f"Failure: package {names[0]} not found", 1)
    return await call.line("Success")


_USER = "[--user USER_ID]"
_INTENT = f"[--brief] [--components] [--query-flags FLAGS] {_USER} INTENT"
VERBS = Verbs(
    "Package manager (package) commands:",
    {
        "list": ("KIND [INTENT]", list_packages),
        "path": (f"{_USER} PACKAGE", path),
        "clear": (f"{_USER} [--cache-only] PACKAGE", clear),
        "grant": (f"{_USER} PACKAGE PERMISSION", lambda call, args: change_permission(call, args, True)),
        "revoke": (f"{_USER} PACKAGE PERMISSION", lambda call, args: change_permission(call, args, False)),
        "reset-permissions": ("", reset_permissions),
        "has-feature": ("FEATURE_NAME [VERSION]", has_feature),
        "dump": ("PACKAGE", package_dump.run),
        "install": (USAGE, install),
        "install-create": (USAGE, create),
        "install-write": ("[-S BYTES] SESSION_ID SPLIT_NAME [FILE]", write),
        "install-commit": ("SESSION_ID", commit),
        "install-abandon": ("SESSION_ID", abandon),
        "install-destroy": ("SESSION_ID", abandon),
        "uninstall": (f"[-k] {_USER} [--versionCode VERSION_CODE] PACKAGE", uninstall),
        "resolve-activity": (_INTENT, resolve),
        "query-activities": (_INTENT, query),
        "enable": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "enable")),
        "disable": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "disable")),
        "disable-user": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "disable-user")),
        "default-state": (f"{_USER} PACKAGE", lambda call, args: enable(call, args, "enable")),
        "hide": (f"{_USER} PACKAGE", lambda call, args: suspend(call, args, "hide")),
        "unhide": (f"{_USER} PACKAGE", lambda call, args: suspend(call, args, "unhide")),
        "set-installer": ("PACKAGE INSTALLER", set_installer),
        "trim-caches": ("DESIRED_FREE_SPACE [internal]", trim_caches),
        "get-max-users": ("", says("Maximum supported users: 4")),
        "get-max-running-users": ("", says("Maximum supported running users: 3")),
        "get-install-location": ("", says("0[auto]")),
        "get-privapp-permissions": ("PACKAGE", says("{}")),
        "compile": (
            "[-r REASON] [-m MODE] [-c] [-f] [-a] [--reset] [--check-prof BOOL] [--split NAME] [PACKAGE]",
            compiled,
        ),
        "bg-dexopt-job": ("[PACKAGE]", compiled),
    },
)


FAMILY: dict[str, Command] = {"pm": VERBS.command}
