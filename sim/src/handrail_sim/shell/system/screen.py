"""What the screen shows: `uiautomator dump`, `screencap`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress

from handrail_sim.paint import frame as frame_of
from handrail_sim.screen.displays import Panel
from handrail_sim.shell.call import Call, Command, encode
from handrail_sim.shell.options import read_getopt

DUMP_FILE = "/sdcard/window_dump.xml"
RGBA_8888 = 1
_PIECE = 256 * 1024
SRGB = 1
KILLED = 137


async def uiautomator(call: Call) -> int:
    """`uiautomator dump|events|help`."""
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
    await call.err(f"Unknown command: {args[0]}")
    return 1


_USAGE = """Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

runtest: executes UI automation tests
    runtest <class spec> [options]

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /storage/emulated/legacy/window_dump.xml

events: prints out accessibility events until terminated

"""


async def _dump(call: Call, args: list[str]) -> int:
    phone, faults = call.phone, call.phone.faults
    wait = faults.get("dump_waits_for_idle")
    if wait is not None and not await _wait_for_idle(
        call, float(wait["quiet_ms"]), float(wait["timeout_ms"])
    ):
        await call.err("ERROR: could not get idle state.")
        return 1
    if faults.get("dump_killed") is not None:
        await call.err("Killed ")
        return KILLED
    if faults.get("dump_null_root") is not None:
        await call.err("ERROR: null root node returned by UiTestAutomationBridge.")
        return 1
    phone.catch_up()
    await phone.refresh_web()
    xml = encode(phone.dump(compressed="--compressed" in args, all_windows="--windows" in args))
    target = next((arg for arg in args if not arg.startswith("--")), DUMP_FILE)
    if target == "/dev/tty":
        await call.out(xml)
    else:
        with suppress(OSError):  # Android writes that into its log alone, and says "dumped" all the same
            call.session.files.write(call.path(target), xml)
    await call.out(f"UI hierchary dumped to: {target}\n")
    return 0


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
        await call.err("usage: screencap [-hp] [-d display-id] [FILENAME]")
        return 0
    name = options.rest[0] if options.rest else ""
    png = "p" in options or name.endswith(".png")
    panel = await _chosen_panel(call, options.values.get("d"))
    if panel is None:
        return 1
    await _warn(call, told="d" in options)
    if not png and not name:
        async for piece in _raw(call, panel):
            await call.out(piece)
        return 0
    data = await _png(call, panel) if png else b"".join([piece async for piece in _raw(call, panel)])
    if not name:
        await call.out(data)
        return 0
    try:
        call.session.files.write(call.path(name), data)
    except OSError as problem:
        await call.err(f"Error opening file: {name} ({problem.strerror})")
        return 1
    return 0


WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first "
    "display found, however this default is not guaranteed to be consistent across captures. A display id "
    "should be specified.\nA display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.'
)


async def _warn(call: Call, *, told: bool) -> None:
    """What screencap says before the picture where there are several panels; some phones always say it."""
    always = call.phone.faults.get("screencap_warning")
    if always is not None:
        text = always["text"] or WARNING
        await (call.line(text) if always["to"] == "stdout" else call.err(text))
    elif not told and len(call.phone.displays.physical()) > 1:
        await call.err(WARNING)


async def _chosen_panel(call: Call, wanted: str | None) -> Panel | None:
    """The panel of a physical id, or the first one, whether it is in use or not."""
    panels = call.phone.displays.physical()
    if wanted is None:
        return panels[0]
    found = next((one for one in panels if wanted in {str(one.physical_id), str(one.number)}), None)
    if found is None:
        await call.err(f"Display Id '{wanted}' is not valid.")
    return found


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


FAMILY: dict[str, Command] = {
    "uiautomator": uiautomator,
    "screencap": screencap,
}
