"""Somebody with an adb shell on a phone whose clock is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.shell import capture
from handrail_sim.shell.run import Answer

FRAME_MS = 16.0
TOO_LONG_MS = 200_000.0


def new_phone(apps: Sequence[str] = ()) -> Phone:
    return Phone(clock=ManualClock(), apps=list(apps))


async def run_to_end(phone: Phone, command: str, stdin: bytes = b"") -> Answer:
    """Run a command and let the phone's time pass until it is done."""
    clock = phone.clock
    assert isinstance(clock, ManualClock)
    work = asyncio.ensure_future(capture(phone, command, stdin))
    for _ in range(50):
        await asyncio.sleep(0)
    deadline = clock.monotonic_ms() + TOO_LONG_MS
    while not work.done():
        assert clock.monotonic_ms() < deadline, f"{command!r} does not end"
        await clock.advance(FRAME_MS)
        await asyncio.sleep(0)
    return work.result()


def shell(command: str, *, phone: Phone | None = None, stdin: bytes = b"") -> Answer:
    """One command line on a phone of its own, or on this one."""
    used = phone or new_phone()
    return asyncio.run(run_to_end(used, command, stdin))


def out(command: str, *, phone: Phone | None = None, stdin: bytes = b"") -> str:
    """What it prints, when it must not complain."""
    answer = shell(command, phone=phone, stdin=stdin)
    assert answer.errors == "", answer.errors
    return answer.text
