"""Commands that record the phone: screencap, screenrecord, bugreport and their files."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from handrail_sim import resources
from handrail_sim.paint import frame as frame_of
from handrail_sim.paint.video import NoEncoder, Video
from handrail_sim.screen.displays import Panel
from handrail_sim.shell.call import Call, Command, by_name, encode
from handrail_sim.shell.dumpsys import run as dumpsys
from handrail_sim.shell.io import BufferSink, Bytes
from handrail_sim.shell.options import Options, read_getopt
from handrail_sim.shell.system import logcat, policy_services, props
from handrail_sim.shell.system.verbs import Verbs

DUMP_FILE = "/sdcard/window_dump.xml"
RGBA_8888 = 1
_PIECE = 256 * 1024
SRGB = 1
KILLED = 137


async def uiautomator(call: Call) -> int:
    args = call.args
    if not args or args[0] in {"help", "--help"}:
        await call.out(_USAGE)
        return 0 if args else 1
    if args[0] == "dump":
        return await _dump(call, args[1:])
    if args[0] == "events":
        await call.phone.clock.sleep_ms(1e12)
        return 0
    if args[0] == "runtest":
        return await call.fail("runtest needs a jar that this phone cannot run")
    return await call.err(f"Unknown command: {args[0]}")


_USAGE = resources.text("shell/usage/uiautomator.txt")
HELD = (
    "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice."
    "IAccessibilityServiceClient$Stub$Proxy@4a71f2d already registered!\n"
    "\tat com.android.server.accessibility.UiAutomationManager.registerUiTestAutomationServiceLocked"
    "(UiAutomationManager.java:92)"
)
"""By the platform's sources: `uiautomator` is a user of UiAutomation like any other."""


async def _dump(call: Call, args: list[str]) -> int:
    phone, faults = call.phone, call.phone.faults
    if phone.ui_automation:
        return await call.err(HELD)
    wait = faults.get("dump_waits_for_idle")
    if wait is not None and not await _wait_for_idle(
        call, float(wait["quiet_ms"]), float(wait["timeout_ms"])
    ):
        return await call.err("ERROR: could not get idle state.")
    if faults.get("dump_killed") is not None:
        await call.err("Killed ")
        return KILLED
    if faults.get("dump_null_root") is not None:
        return await call.err("ERROR: null root node returned by UiTestAutomationBridge.")
    phone.catch_up()
    await phone.refresh_web()
    xml = encode(phone.dump(compressed="--compressed" in args, all_windows="--windows" in args))
    target = next((arg for arg in args if not arg.startswith("--")), DUMP_FILE)
    if target == "/dev/tty":
        await call.out(xml)
    else:
        with suppress(OSError):  # Android writes that into its log alone, and says "dumped" all the same
            call.session.files.write(call.path(target), xml)
    return await call.out(f"UI hierchary dumped to: {target}\n")


async def _wait_for_idle(call: Call, quiet_ms: float, timeout_ms: float) -> bool:
    """Until no accessibility event came for `quiet_ms`; False when that does not happen in time."""
    phone, clock = call.phone, call.phone.clock
    deadline = clock.monotonic_ms() + timeout_ms
    while True:
        phone.catch_up()
        now = clock.monotonic_ms()
        rest = quiet_ms - (now - phone.last_event_ms) if phone.is_idle() else quiet_ms
        if rest <= 0:
            return True
        if now >= deadline:
            return False
        await clock.sleep_ms(min(rest, deadline - now, 100.0))


async def screencap(call: Call) -> int:
    """`screencap [-p] [FILE]`; without -p, raw pixels behind a header."""
    options = read_getopt(call.args, "phad:")
    if "h" in options:
        return await call.err("usage: screencap [-hp] [-d display-id] [FILENAME]", 0)
    name = options.rest[0] if options.rest else ""
    png = "p" in options or name.endswith(".png")
    panel = await _chosen_panel(call, options.values.get("d"))
    if panel is None:
        return 1
    await _warn(call, reported="d" in options)
    if not png and not name:
        async for piece in _raw(call, panel):
            await call.out(piece)
        return 0
    data = await _png(call, panel) if png else b"".join([piece async for piece in _raw(call, panel)])
    if not name:
        return await call.out(data)
    try:
        call.session.files.write(call.path(name), data)
    except OSError as problem:
        return await call.err(f"Error opening file: {name} ({problem.strerror})")
    return 0


WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first "
    "display found, however this default is not guaranteed to be consistent across captures. A display id "
    "should be specified.\nA display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.'
)


async def _warn(call: Call, *, reported: bool) -> None:
    """What screencap says before the picture where there are several panels; some phones always say it."""
    always = call.phone.faults.get("screencap_warning")
    if always is not None:
        text = always["text"] or WARNING
        await (call.line(text) if always["to"] == "stdout" else call.err(text))
    elif not reported and len(call.phone.displays.physical()) > 1:
        await call.err(WARNING)


async def _chosen_panel(call: Call, wanted: str | None) -> Panel | None:
    """The panel of a physical id, or the first one, whether it is in use or not."""
    panels = call.phone.displays.physical()
    if wanted is None:
        return panels[0]
    match = next((panel for panel in panels if wanted in {str(panel.physical_id), str(panel.number)}), None)
    if match is None:
        await call.err(f"Display Id '{wanted}' is not valid.")
    return match


async def _png(call: Call, panel: Panel) -> bytes:
    if panel.number == 0:
        return await call.phone.screenshot()
    return await call.phone.painted(frame_of([], panel.width, panel.height).png)


async def _raw(call: Call, panel: Panel) -> AsyncIterator[bytes]:
    """Width, height, format and colour space as u32, then RGBA: what screencap writes without -p.

    A frame is 10 MB: it is kept packed, so that many readers who do not read cost little.
    """
    phone = call.phone
    size = (panel.width, panel.height)
    await phone.refresh_web(pictures=True)
    frame = phone.frame() if panel.number == 0 else frame_of([], *size)
    packed: bytes = await phone.painted(lambda: zlib.compress(frame.rgba(), 1))
    yield struct.pack("<4I", *size, RGBA_8888, SRGB)
    unpack = zlib.decompressobj()
    while packed:
        yield unpack.decompress(packed, _PIECE)
        packed = unpack.unconsumed_tail


_BETWEEN_MS = 33.0
_LONGEST_S = 180
_OPTIONS = {
    name: f"{name}:"
    for name in ["size", "bit-rate", "time-limit", "display-id", "output-format", "codec-name"]
}
_OPTIONS |= {"help": "h", "verbose": "v", "bugreport": "", "rotate": "", "show-frame-time": ""}
_SCREENRECORD_USAGE = "Usage: screenrecord [options] <filename>"


async def screenrecord(call: Call) -> int:
    options = read_getopt(call.args, "vh", _OPTIONS, 2)
    if "h" in options:
        return await call.line(_SCREENRECORD_USAGE)
    try:
        name, size, limit_ms, bare = _recording(options)
    except ValueError as wrong:
        return await call.err(str(wrong), 2)
    phone, clock = call.phone, call.phone.clock
    try:
        video = Video(*(size or (phone.display.width, phone.display.height)), bare=bare)
    except NoEncoder:
        return await call.err("ERROR: unable to create video/avc codec instance")
    if name != "-":  # the file is there from the beginning, as on a phone
        call.session.files.write(call.path(name), b"")
    began, last = clock.monotonic_ms(), None
    try:
        while (passed := clock.monotonic_ms() - began) < limit_ms:
            await phone.refresh_web(pictures=True)
            frame = phone.frame()
            if frame != last:
                last = frame
                await phone.painted(partial(_add, video, frame, passed))
            if name == "-":
                await call.out(video.take())
            took = clock.monotonic_ms() - began - passed
            await clock.sleep_ms(max(1.0, min(_BETWEEN_MS, limit_ms - passed) - took))
    finally:  # Ctrl-C ends a recording as the time limit does
        await _close(call, video, last, min(clock.monotonic_ms() - began, limit_ms), name)
    return 0


def _add(video: Video, frame: Any, at_ms: float) -> None:
    video.add(frame.image(), at_ms)


async def _close(call: Call, video: Video, last: Any, end_ms: float, name: str) -> None:
    """The last picture is there until the end."""
    if last is not None:
        await call.phone.painted(partial(_add, video, last, end_ms))
    data = await call.phone.painted(video.finish)
    if name == "-":
        await call.out(video.take())
    else:
        call.session.files.write(call.path(name), data)


def _recording(options: Options) -> tuple[str, tuple[int, int] | None, float, bool]:
    """Name, size, milliseconds, and whether it is a bare stream."""
    arguments, names = options.values, options.rest
    seconds = arguments.get("time-limit", str(_LONGEST_S))
    size = re.fullmatch(r"(\d{2,4})x(\d{2,4})", arguments.get("size", "720x1280"))
    form = arguments.get("output-format", "mp4")
    wrong = ""
    if not seconds.isdigit() or not 1 <= int(seconds) <= _LONGEST_S:
        wrong = f"Time limit {seconds}s outside acceptable range [1,{_LONGEST_S}]"
    elif size is None:
        wrong = f"Invalid size '{arguments['size']}', must be width x height"
    elif form not in {"mp4", "h264"}:
        wrong = f"Unknown format '{form}'"
    elif not names:
        wrong = "Must specify output file (see --help)."
    if wrong or size is None:
        raise ValueError(wrong)
    wanted = (int(size[1]), int(size[2])) if "size" in arguments else None
    return names[0], wanted, int(seconds) * 1000.0, form == "h264"


BUGREPORTS = "/data/user_de/0/com.android.shell/files/bugreports"
_BUGREPORTZ = resources.text("shell/usage/bugreportz.txt")


async def _output(call: Call, command: Command, argv: list[str]) -> bytes:
    out = BufferSink()
    inner = replace(call, argv=argv, stdin=Bytes(b""), stdout=out, stderr=out)
    await command(inner)
    return out.value()


async def _report(call: Call, name: str) -> bytes:
    """The zip that Android makes: one large text, and what it is called."""
    parts = [
        f"== dumpstate: {datetime.fromtimestamp(call.phone.clock.now_ms() / 1000, UTC):%Y-%m-%d %H:%M:%S}\n",
        f"Build: {call.phone.props.get('ro.build.display.id', '')}\n",
    ]
    text = "".join(parts).encode()
    for title, command, argv in (
        ("SYSTEM PROPERTIES", props.getprop, ["getprop"]),
        ("SYSTEM LOG", logcat.logcat, ["logcat", "-d", "-v", "threadtime", "-b", "all"]),
        ("DUMPSYS", dumpsys.run, ["dumpsys"]),
    ):
        text += f"------ {title} ({' '.join(argv)}) ------\n".encode() + await _output(call, command, argv)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version.txt", "2.0")
        archive.writestr("main_entry.txt", f"{name}.txt")
        archive.writestr(f"{name}.txt", text)
    return held.getvalue()


async def bugreportz(call: Call) -> int:
    """`bugreportz [-hpsv]`: the way of the file, behind OK."""
    options = read_getopt(call.args, "hpsv")
    if "h" in options:
        return await call.out(_BUGREPORTZ)
    if "v" in options:
        return await call.err("1.2", 0)
    now = datetime.fromtimestamp(call.phone.clock.now_ms() / 1000, UTC)
    device = re.sub(r"\W", "_", call.phone.props.get("ro.product.name", "phone"))
    name = f"bugreport-{device}-{now:%Y-%m-%d-%H-%M-%S}"
    if "s" in options:
        return await call.out(await _report(call, name))
    path = f"{BUGREPORTS}/{name}.zip"
    if "p" in options:
        await call.line(f"BEGIN:{path}")
    files = call.phone.files
    if not files.is_dir(BUGREPORTS):
        files.mkdir(BUGREPORTS, 0o755, parents=True)
    files.write(path, await _report(call, name))
    if "p" in options:
        await call.line("PROGRESS:100/100")
    return await call.line(f"OK:{path}")


async def bugreport(call: Call) -> int:
    """The flat report is gone from Android since 7; this is what it says."""
    return await call.line("Flat bugreports are deprecated, use 'adb bugreport' instead.", 1)


_BMGR = """usage: bmgr [--user <userId>] [backup|restore|list|transport|run]
       bmgr backup PACKAGE
       bmgr enable BOOL
       bmgr enabled
       bmgr list transports [-c]
       bmgr run
       bmgr activate BOOL
"""


async def bmgr(call: Call) -> int:
    """No backup service runs for the user, so that Android refuses all but the help."""
    if not call.args or call.args[0] in {"help", "-h", "--help"}:
        return await call.err(_BMGR, 0)
    return await call.err("Error: Backup Manager is not activated for user 0")


_SM = """usage: sm list-disks [adoptable]
       sm list-volumes [public|private|emulated|all]
       sm has-adoptable
       sm get-primary-storage-uuid
"""
_VOLUMES = {"private": "private mounted null", "emulated": "emulated;0 mounted null"}


async def sm(call: Call) -> int:
    """`sm list-volumes`: what `dumpsys mount` lists; no disk can be taken out or formatted."""
    match [*call.args, "all"][:2]:
        case ["list-volumes", "all"]:
            await call.line("\n".join(_VOLUMES.values()))
        case ["list-volumes", kind] if kind in {*_VOLUMES, "public", "stub"}:
            await call.out(f"{_VOLUMES[kind]}\n" if kind in _VOLUMES else "")
        case ["list-disks", "all" | "adoptable"]:
            return 0
        case ["has-adoptable", _]:
            await call.line("false")
        case ["get-primary-storage-uuid", _]:
            await call.line("null")
        case _:
            return await call.err(_SM)
    return 0


async def atrace(call: Call) -> int:
    return await call.err("No trace folder found", 255)


async def perfetto(call: Call) -> int:
    uptime = call.phone.clock.monotonic_ms() / 1000
    if call.args[:1] in (["--version"], ["-h"], ["--help"]):
        return await call.out(
            "Perfetto v34.0\n" if call.args[0] == "--version" else "Usage: perfetto [options]\n"
        )
    return await call.err(f"[{uptime:07.3f}] perfetto_cmd.cc Disconnected from the Perfetto traced service")


def _short(verbs: Verbs) -> Command:
    """A program that is `cmd SERVICE` under a shorter name."""

    async def run(call: Call) -> int:
        return await verbs.run(call, call.args)

    return run


FAMILY = by_name(uiautomator, screencap, screenrecord, bugreportz, bugreport, bmgr, sm, atrace, perfetto) | {
    "device_config": _short(policy_services.DEVICE_CONFIG),
    "dpm": _short(policy_services.DEVICE_POLICY),
    "locksettings": _short(policy_services.LOCK_SETTINGS),
}
