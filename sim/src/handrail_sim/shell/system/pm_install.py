"""Installing and removing packages: from a file, from a stream, in sessions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from handrail_sim.shell.call import Call
from handrail_sim.shell.io import CHUNK, Source
from handrail_sim.shell.options import Options
from handrail_sim.shell.system.apk import ApkFacts, BadApk, read_apk
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
    """Install what the parts hold; splits follow their base."""
    try:
        facts = [read_apk(part) for part in parts]
        if not facts:
            raise BadApk("INSTALL_FAILED_INVALID_APK: Missing existing base package")
        _put(call, facts[0], parts[0], options)
    except BadApk as problem:
        await call.line(f"Failure [{problem}]")
        return 1
    await call.line("Success")
    return 0


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
    now = phone.clock.now_ms()
    package = phone.packages.install(
        facts.package,
        label=facts.package,
        version_name=facts.version_name,
        version_code=facts.version_code,
        debuggable=facts.debuggable,
        requested=facts.permissions,
        first_install_ms=now,
        last_update_ms=now,
        installer=options.values.get("-i", ""),
        size=len(data),
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
    base_first = sorted(session.parts, key=lambda name: ("base" not in name, name))
    return await _finish(call, [session.parts[name] for name in base_first], session.options)


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
