"""Installing and removing packages: from a file, from a stream, in sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from handrail_sim.shell.apk import ApkFacts, BadApk, read_apk
from handrail_sim.shell.call import Call
from handrail_sim.shell.io import CHUNK, Source
from handrail_sim.shell.options import Options
from handrail_sim.shell.system.java import JavaError

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

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
_VALUED = frozenset(
    [
        "-i",
        "--user",
        "-S",
        "--abi",
        "--pkg",
        "--install-location",
        "--install-reason",
        "--originating-uri",
        "--referrer",
        "--inherit",
        "-p",
        "--force-uuid",
        "--package-source",
        "--rollback-strategy",
    ]
)


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
    """The open sessions of a phone."""
    return _SESSIONS.setdefault(phone, InstallSessions())


def install_options(args: list[str]) -> Options:
    """Options may stand anywhere; those that nobody knows were refused before."""
    found, todo = Options(), list(args)
    while todo:
        arg = todo.pop(0)
        if arg in _VALUED:
            found.values[arg] = todo.pop(0) if todo else ""
        elif arg.startswith("-") and arg != "-":
            found.flags.add(arg)
        else:
            found.rest.append(arg)
    return found


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
        await call.err(
            f"Error: Unable to open file: {options.rest[0]}\nConsider using a file under /data/local/tmp/"
        )
        return 255
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
        found = [(read_apk(part), part) for part in parts]
        if call.phone.faults.get("install_refused") is not None:
            raise BadApk("INSTALL_FAILED_USER_RESTRICTED: Install canceled by user")
        _check(call, [facts for facts, _ in found], options)
        base = next(((facts, data) for facts, data in found if not facts.split), None)
        if base is not None:
            _put(call, *base, options)
        for facts, data in found:
            if facts.split:
                _put_split(call, facts, data)
    except BadApk as problem:
        await call.line(f"Failure [{problem}]")
        return 1
    await call.line("Success")
    return 0


def _check(call: Call, found: list[ApkFacts], options: Options) -> None:
    """One package, one base, no split twice."""
    names = [facts.split for facts in found]
    if len({facts.package for facts in found}) > 1:
        text = f"Split {names[-1] or 'null'} has inconsistent package {found[-1].package}"
        raise BadApk(f"INSTALL_FAILED_INVALID_APK: {text}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadApk(f"INSTALL_FAILED_INVALID_APK: Split {twice or 'null'} was defined multiple times")
    if "" in names:
        return
    if "-p" not in options.values and "--inherit" not in options.values:
        raise BadApk("INSTALL_FAILED_INVALID_APK: Full install must include a base package")
    if not found or found[0].package not in call.phone.packages.installed:
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
    """`pm install-create`."""
    number = sessions_of(call.phone).create(install_options(args))
    await call.line(f"Success: created install session [{number}]")
    return 0


def _session(call: Call, text: str) -> InstallSession:
    found = sessions_of(call.phone).opened.get(int(text) if text.isdigit() else -1)
    if found is None:
        raise JavaError("java.lang.SecurityException", f"Caller has no access to session {text}")
    return found


async def write(call: Call, args: list[str]) -> int:
    """`pm install-write -S SIZE SESSION NAME [FILE|-]`."""
    options = install_options(args)
    if len(options.rest) < 2:
        raise JavaError("java.lang.IllegalArgumentException", 'Argument expected after "install-write"')
    session = _session(call, options.rest[0])
    try:
        data = await _data(call, options, options.rest[2] if options.rest[2:] else "-")
    except FileNotFoundError:
        await call.err(f"Error: Unable to open file: {options.rest[2]}")
        return 255
    session.parts[options.rest[1]] = data
    await call.line(f"Success: streamed {len(data)} bytes")
    return 0


async def commit(call: Call, args: list[str]) -> int:
    """`pm install-commit SESSION`."""
    number = next((arg for arg in args if arg.isdigit()), "")
    session = _session(call, number)
    del sessions_of(call.phone).opened[int(number)]
    return await _finish(call, list(session.parts.values()), session.options)


async def abandon(call: Call, args: list[str]) -> int:
    """`pm install-abandon SESSION`."""
    number = next((arg for arg in args if arg.isdigit()), "")
    _session(call, number)
    del sessions_of(call.phone).opened[int(number)]
    await call.line("Success")
    return 0


async def uninstall(call: Call, args: list[str]) -> int:
    """`pm uninstall [-k] PACKAGE`."""
    options = install_options(args)
    phone, name = call.phone, options.rest[0] if options.rest else ""
    known = phone.packages.installed.get(name)
    if known is None or known.system:
        missing = "not installed for 0" if "--user" in options.values else "DELETE_FAILED_INTERNAL_ERROR"
        await call.line(f"Failure [{missing}]")
        return 1
    phone.force_stop(name)
    phone.packages.uninstall(name)
    for folder in (f"/data/app/{name}", *([] if "-k" in options else [f"/data/data/{name}"])):
        if phone.files.exists(folder):
            phone.files.remove_tree(folder)
    phone.touched_app()
    await call.line("Success")
    return 0
