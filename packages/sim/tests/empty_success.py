"""Looks for the worst answer a fake can give: exit code 0, not one byte, and nothing has changed."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone, take
from handrail_sim.shell import COMMANDS, capture
from handrail_sim.shell.run import Answer

STEPS, STEP_MS = 40, 500.0
NOBODY = "no-such-argument"
BOGUS = "--no-such-option"
EXAMPLES = {
    "PACKAGE": "com.example.notes",
    "USER_ID": "0",
    "UID": "2000",
    "PID": "1",
    "COMPONENT": "com.example.notes/.MainActivity",
    "INTENT": "-a android.intent.action.MAIN -c android.intent.category.HOME",
    "NAMESPACE": "global",
    "KEY": "adb_walk",
    "VALUE": "1",
    "SECONDS": "1",
    "COUNT": "3",
    "URI": "content://settings/global",
    "PERMISSION": "android.permission.CAMERA",
    "X": "10",
    "Y": "10",
    "X1": "10",
    "Y1": "10",
    "X2": "20",
    "Y2": "20",
    "FILE": "/sdcard/walk",
    "TZ": "Europe/Berlin",
}
"""What stands in a usage line, and what is given for it."""


def effects(phone: Phone) -> Any:
    """All that a command can change on the phone."""
    taken = take(phone)
    for name in ("random", "taken_ms", "files"):
        taken.pop(name)
    files = sorted((path, fact.size, fact.mode, fact.mtime) for path, fact in phone.files.walk("/data"))
    radio = vars(phone.cell) if phone.cell else None
    return repr(
        (
            taken,
            files,
            phone.boots,
            phone.props,
            len(phone.input_log),
            len(phone.log.lines),
            radio,
            phone.clock.now_ms(),
        )
    )


async def _ended(phone: Phone, line: str) -> Answer | None:
    """The answer, or None from a command that goes on until it is stopped."""
    work = asyncio.ensure_future(capture(phone, line))
    assert isinstance(phone.clock, ManualClock)
    for step in range(STEPS + 20):
        for _ in range(5):
            await asyncio.sleep(0)
        if work.done():
            return None if work.cancelled() else work.result()
        if step > 20:
            await phone.clock.advance(STEP_MS)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    return None


def is_empty_success(line: str, phone: Phone) -> bool:
    """Whether the command ends well, says nothing and does nothing."""
    phone.catch_up()
    before, clock = effects(phone), phone.clock.monotonic_ms()
    answer = asyncio.run(_ended(phone, line))
    if answer is None or answer.status or answer.stdout or answer.stderr:
        return False
    waited = phone.clock.monotonic_ms() != clock
    return not waited and effects(phone) == before


def help_of(prefix: str, phone: Phone) -> dict[str, str]:
    """The verbs that a command's help prints, each with the rest of its line."""
    answer = asyncio.run(_ended(phone, f"{prefix} help"))
    if answer is None:
        return {}
    text = (answer.stdout + answer.stderr).decode("utf-8", "replace")
    return {match[1]: match[2] for match in re.finditer(r"(?m)^  {0,3}([a-z][\w|-]+)((?: [^\n]*)?)$", text)}


def filled(usage: str) -> str:
    """A usage line with an example for each thing it needs; what may be left out is left out."""
    needed = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", usage))
    return " ".join(EXAMPLES.get(word.split("|")[0].strip("<>.…"), word.split("|")[0].strip("<>.…"))
                    for word in needed.split())  # fmt: skip


def names_in(command: str, phone: Phone) -> list[str]:
    """The services that a list names."""
    answer = asyncio.run(_ended(phone, command))
    assert answer is not None
    return re.findall(r"(?m)^(?:\d+)?\s+([\w.]+)", answer.text)


WITH_VERBS = """
am appops bmgr content cmd device_config dpm dumpsys ime input locksettings pm service settings sm svc
uiautomator wm
"""


def command_lines(phone: Phone) -> list[str]:
    """Every command the phone knows, alone and with what it can't know; with verbs, each of its help."""
    names = sorted(set(COMMANDS) - {"yes"})  # writes for ever, without a pause in which time could pass
    lines = [f"{name}{more}" for name in names for more in ("", f" {BOGUS}", f" {NOBODY}", " -@")]
    return lines + [line for name in WITH_VERBS.split() for line in shell_lines(name, phone)]


def shell_lines(prefix: str, phone: Phone) -> list[str]:
    """Each verb of a help bare, filled in, and with an option nobody knows."""
    lines = [prefix, f"{prefix} help", f"{prefix} {NOBODY}", f"{prefix} {BOGUS}"]
    for verb, usage in help_of(prefix, phone).items():
        for one in verb.split("|"):
            lines += [f"{prefix} {one}", f"{prefix} {one} {filled(usage)}", f"{prefix} {one} {BOGUS}"]
    return lines


def service_lines(phone: Phone) -> list[str]:
    """Every service: its shell, its dump, and the bare binder."""
    lines: list[str] = []
    for name in names_in("cmd -l", phone):
        lines += shell_lines(f"cmd {name}", phone)
    for name in names_in("dumpsys -l", phone):
        lines += [f"dumpsys {name}{more}" for more in ("", f" {BOGUS}", f" {NOBODY}", " -a")]
    for name in names_in("service list", phone):
        lines += [
            f"service check {name}",
            *(f"service call {name} {code}" for code in ("1", "999 i32 1", "")),
        ]
    return lines
