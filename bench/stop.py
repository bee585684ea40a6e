"""How long a stop takes, by what it interrupts: from the call to the envelope, durable in the journal.

Run: python bench/stop.py [--rounds 10]   (goal: 250 ms each; a simulated phone, direct transport)
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.safety.leases import StopRequests
from handrail.store import Store
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.shell.processes import processes_of

GOAL_MS = 250.0
SETTLE_MS = 100.0
"""The action is given this long to come to where it waits."""
POLICY = """
[[rule]]
name = "pay"
label = ["Pay*"]
verdict = "ask"
[[rule]]
name = "all"
action = ["shell", "run_script"]
verdict = "allow"
"""
ACTIONS: dict[str, Any] = {
    "wait": {"type": "wait", "duration_ms": 60_000},
    "wait_for": {"type": "wait_for", "condition": {"visible": "never"}, "timeout_ms": 60_000},
    "wait_for_stable": {"type": "wait_for_stable", "timeout_ms": 60_000},
    "shell (sleep 30)": {"type": "shell", "command": ["sleep", "30"]},
    "script (sleep 30)": {"type": "run_script", "script": "sleep 30"},
    "settle": {"type": "tap", "target": {"id": "gift"}},
    "approval": {"type": "tap", "target": {"id": "pay"}},
    "request_human_auth": {"type": "request_human_auth", "instruction": "Please answer."},
    "queue": {"type": "tap", "target": {"id": "gift"}},
}

Stop = Callable[[], Awaitable[object]]


async def measure(session: Session, phone: Phone, name: str, stop: Stop) -> tuple[float, float]:
    """Milliseconds until the envelope is there, and until nothing of it runs on the phone."""
    if name in ("settle", "wait_for_stable"):
        phone.faults.add("latency", command="uiautomator", ms=30_000, after=1 if name == "settle" else 0)
    ahead = asyncio.create_task(session.wait(60_000)) if name == "queue" else None
    task: asyncio.Task[Envelope] = asyncio.create_task(session.run(ACTIONS[name]))
    await asyncio.sleep(SETTLE_MS / 1000)
    began = time.perf_counter()
    await stop()
    done = await task
    answered = (time.perf_counter() - began) * 1000
    while any("sleep" in one.argv for one in processes_of(phone).running.values()):
        await asyncio.sleep(0.001)
    gone = (time.perf_counter() - began) * 1000
    if ahead is not None:
        await ahead
    phone.faults.clear()
    await session.hand_back()
    if done.failure_code != "CANCELLED":
        raise SystemExit(f"{name} was not stopped: {done.to_json()}")
    return answered, gone


async def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        config = Config.from_env({"HANDRAIL_HOME": folder})
        config.policy.parent.mkdir(parents=True)
        config.policy.write_text(POLICY)
        phone = Phone(clock=SystemClock())
        async with serve([phone], port=0) as [served], Runtime.open(config, env=os.environ) as runtime:
            session = await runtime.session(served.address, helper="none")
            phone.start_activity("com.handrail.shop/.CheckoutActivity")
            await session.expect_visible({"id": "pay"})
            slow = await table("session.stop()", session, phone, session.stop, rounds)
            other = Store(Path(folder) / "handrail.db")  # as `handrail stop` has it: another connection
            stops = StopRequests(other)
            slow += await table(
                "stop by another process",
                session,
                phone,
                lambda: stops.ask(None, Caller("bench"), 0),
                rounds,
            )
            other.close()
    print(f"\n{slow} above the goal of {GOAL_MS:.0f} ms")
    return 1 if slow else 0


async def table(title: str, session: Session, phone: Phone, stop: Stop, rounds: int) -> int:
    print(f"\n{title:<26}{'median ms':>12}{'worst ms':>12}{'gone from phone, worst':>26}")
    slow = 0
    for name in ACTIONS:
        times = [await measure(session, phone, name, stop) for _ in range(rounds)]
        answers, gone = [a for a, _ in times], [g for _, g in times]
        slow += max(answers + gone) > GOAL_MS
        print(f"{name:<26}{statistics.median(answers):>12.1f}{max(answers):>12.1f}{max(gone):>26.1f}")
    return slow


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    sys.exit(asyncio.run(main(parser.parse_args().rounds)))
