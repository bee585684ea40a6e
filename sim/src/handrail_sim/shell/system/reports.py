"""Commands that collect or keep: bugreportz, bmgr, sm; tracers that find no kernel to trace; short names."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import run as dumpsys
from handrail_sim.shell.io import Bytes, Collected
from handrail_sim.shell.options import read_getopt
from handrail_sim.shell.system import logcat, policy_services, props
from handrail_sim.shell.system.verbs import Verbs

BUGREPORTS = "/data/user_de/0/com.android.shell/files/bugreports"
_BUGREPORTZ = """usage: bugreportz [-hpsv]
  -h: to display this help message
  -p: display progress
  -s: stream content to standard output
  -v: to display the version
  or no arguments to generate a zipped bugreport
"""


async def _output(call: Call, command: Command, argv: list[str]) -> bytes:
    out = Collected()
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
        await call.out(_BUGREPORTZ)
        return 0
    if "v" in options:
        await call.err("1.2")
        return 0
    now = datetime.fromtimestamp(call.phone.clock.now_ms() / 1000, UTC)
    device = re.sub(r"\W", "_", call.phone.props.get("ro.product.name", "phone"))
    name = f"bugreport-{device}-{now:%Y-%m-%d-%H-%M-%S}"
    if "s" in options:
        await call.out(await _report(call, name))
        return 0
    path = f"{BUGREPORTS}/{name}.zip"
    if "p" in options:
        await call.line(f"BEGIN:{path}")
    files = call.phone.files
    if not files.is_dir(BUGREPORTS):
        files.mkdir(BUGREPORTS, 0o755, parents=True)
    files.write(path, await _report(call, name))
    if "p" in options:
        await call.line("PROGRESS:100/100")
    await call.line(f"OK:{path}")
    return 0


async def bugreport(call: Call) -> int:
    """The flat report is gone from Android since 7; this is what it says."""
    await call.line("Flat bugreports are deprecated, use 'adb bugreport' instead.")
    return 1


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
        await call.err(_BMGR)
        return 0
    await call.err("Error: Backup Manager is not activated for user 0")
    return 1


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
            await call.err(_SM)
            return 1
    return 0


async def atrace(call: Call) -> int:
    """There is no kernel to trace."""
    await call.err("No trace folder found")
    return 255


async def perfetto(call: Call) -> int:
    """There is no tracing daemon to talk to."""
    uptime = call.phone.clock.monotonic_ms() / 1000
    if call.args[:1] in (["--version"], ["-h"], ["--help"]):
        await call.out("Perfetto v34.0\n" if call.args[0] == "--version" else "Usage: perfetto [options]\n")
        return 0
    await call.err(f"[{uptime:07.3f}] perfetto_cmd.cc Disconnected from the Perfetto traced service")
    return 1


def _short(verbs: Verbs) -> Command:
    """A program that is `cmd SERVICE` under a shorter name."""

    async def run(call: Call) -> int:
        return await verbs.run(call, call.args)

    return run


FAMILY: dict[str, Command] = {
    "bugreportz": bugreportz,
    "bugreport": bugreport,
    "bmgr": bmgr,
    "sm": sm,
    "atrace": atrace,
    "perfetto": perfetto,
    "device_config": _short(policy_services.DEVICE_CONFIG),
    "dpm": _short(policy_services.DEVICE_POLICY),
    "locksettings": _short(policy_services.LOCK_SETTINGS),
}
