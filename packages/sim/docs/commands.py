"""Writes commands.md: which commands and services the phone has, which of them partly, and which not at all.

The tables come from the tables that the shell itself runs by; a test compares the page with them.
"""

from __future__ import annotations

from pathlib import Path

from handrail_sim.shell import COMMANDS
from handrail_sim.shell.dumpsys.run import SERVICES
from handrail_sim.shell.system.cmd import VERBS, services
from handrail_sim.shell.table import BUILTINS
from handrail_sim.shell.tools.usage import TOOLS

PAGE = Path(__file__).parent / "commands.md"
PARTLY = {
    "am": "apps have services only if an APK brings them; no profiler, heap dump, hang or monitor",
    "app_process": "programs that the phone knows by protocol; others fail with ClassNotFoundException",
    "awk": "one `/pattern/ {print …}`; any other program is a syntax error",
    "bmgr": "no backup service is active, which is what it says",
    "bugreportz": "properties, log and dumps; no kernel files",
    "content": "the providers of settings, contacts, messages and of apps that declare one",
    "dd": "if, of, bs, count, skip, status",
    "dpm": "no app is a device administrator, which is what it says",
    "dumpsys": "services that are not in the table below are not found",
    "getevent": "what `sendevent` writes; `input` works above the kernel and is not seen, as on a phone",
    "input": "one display; sources are read and make no difference",
    "ip": "addr, link and route of lo and wlan0",
    "logcat": "buffers main, system and crash; no radio, events or kernel lines are written",
    "monkey": "events are taps, swipes and keys; flips, rotations and trackballs become those",
    "nc": "only to ports that something on the phone serves",
    "netstat": "listening TCP ports",
    "perfetto": "there is no tracing daemon, which is what it says",
    "atrace": "there is no kernel to trace, which is what it says",
    "ping": "only this phone and its gateway answer",
    "pm": "one user; no signatures, instant apps, staged sessions or rollbacks",
    "ps": "one thread for each process; times and sizes are round figures",
    "screenrecord": "see the simulator's page",
    "sed": "s, d, p and q with an address before them",
    "sm": "no disk can be taken out or formatted",
    "sqlite3": "the usual dot commands",
    "svc": "wifi, data, bluetooth, nfc, power, usb getFunctions",
    "top": "one round when no key can be pressed",
    "uiautomator": "dump and events; runtest fails",
    "wm": "one display; size, density, rotation, orientation requests",
}
ABSENT_COMMANDS = """
abx bu bc busybox curl dumpstate expr fsck gdbserver hid htop incident iostat iotop killall5 lldb-server lsof
lsusb media make_f2fs ncal patch pppd requestsync simpleperf ss strace su sysctl tcpdump telecom uinput vmstat
vdc wget
"""
ABSENT_SERVICES = """
autofill batterystats bluetooth carrier_config dbinfo fingerprint graphicsstats iphonesubinfo isms isub
jobscheduler media.audio_flinger media.camera netstats nfc package_native permissionmgr phone print procstats
sensorservice shortcut stats storaged telecom time_detector usb vibrator_manager voiceinteraction wallpaper
webviewupdate
"""
INTRODUCTION = """# Commands of the phone's shell

<!-- Written by `make docs` from the shell's own tables (sim/docs/commands.py); a test keeps it true. -->

A fake must not answer "done" and do nothing. So what is not there says what Android says when it is not
there: `NAME: inaccessible or not found` with 127, `cmd: Can't find service: NAME`, `Unknown command: VERB`,
`Unknown option 'x' (see "NAME --help")`, `Result: Parcel(Error: 0xffffffffffffffb6 "Not a data message")`.
`tests/test_empty_success.py` walks every command, every verb that a help prints and every service, and fails
on an exit code 0 without one byte and without a change on the phone. What is silent on Android too stands in
`tests/silent_on_android.py` with the place in Android's sources.

**real** does what Android does with everything that its usage prints. **partly** says what is missing. An
option that is missing is an unknown option.

"""
NEVER = """## What this shell will never do

It is a command interpreter over a simulated phone, written for adb clients and their scripts. It runs no ELF
files, no Java classes beyond those it knows by protocol, and no kernel. Processes have pids, signals, names
and a parent, and no memory, threads or file descriptors of their own. There is no network behind the phone.
SELinux contexts are shown and decide nothing. Of mksh it leaves out coprocesses, `select`, `let`, `((…))` as
a command, floating point, job control with `fg` and `bg`, and `${x@Q}`; those are syntax errors or commands
that are not found.
"""


def _tools() -> str:
    rows = []
    for name, tool in sorted(TOOLS.items()):
        usage = tool.usage().removeprefix("usage: ").removeprefix(name).strip().replace("|", "\\|")
        state = f"partly: {PARTLY[name]}" if name in PARTLY else "real"
        rows.append(f"| `{name}` | `{usage}` | {state} |" if usage else f"| `{name}` | | {state} |")
    head = "## Tools that read their options by one table\n\n| tool | takes | state |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n\n"


def _others() -> str:
    rows = []
    for name in sorted(set(COMMANDS) - set(TOOLS)):
        state = f"partly: {PARTLY[name]}" if name in PARTLY else "real"
        rows.append(f"| `{name}` | {state} |")
    inside = ", ".join(f"`{name}`" for name in sorted(set(BUILTINS) - set(COMMANDS)))
    return (
        "## Other commands\n\n| command | state |\n|---|---|\n"
        + "\n".join(rows)
        + f"\n\nThe shell's own: {inside}; and `[[ … ]]`, functions, arrays, here-documents.\n\n"
    )


def _services() -> str:
    rows = []
    for name in services():
        verbs = ", ".join(f"`{verb}`" for verb in VERBS[name].table) if name in VERBS else ""
        if name not in VERBS:
            verbs = {"input": "as the command `input`", "SurfaceFlinger": "none, as on Android"}.get(
                name, "`No shell command implementation.`"
            )
        rows.append(f"| `{name}` | {'yes' if name in SERVICES else 'not found'} | {verbs} |")
    head = "## Services\n\n| service | `dumpsys` | verbs of `cmd` |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n\n"


def _absent() -> str:
    commands = ", ".join(f"`{name}`" for name in sorted(ABSENT_COMMANDS.split()))
    missing = ", ".join(f"`{name}`" for name in sorted(ABSENT_SERVICES.split()))
    return (
        "## Absent\n\nOf what a phone or its tools have, and scripts may ask for:\n\n"
        f"- commands (127, `inaccessible or not found`): {commands}\n"
        f"- services (`Can't find service`): {missing}\n\n"
    )


def page() -> str:
    """The whole page."""
    return INTRODUCTION + _tools() + _others() + _services() + _absent() + NEVER


def main() -> None:
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
