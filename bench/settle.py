"""How much longer than needed the engine waits for a screen: the distribution for many kinds of screens.

Run from the repository: `python bench/settle.py [--rounds N] [--channels adb u2 helper]`. The phone lives in
this process, so the moment of its last change is known: `lost` is the time from there to the end of the wait,
without the 100 ms of quiet (for a screen that did not change, without the 150 ms of grace). The HTTP helper
has a window of its own, 150 ms without an event, which nobody can change from here. A proof ends a wait
earlier; those waits are listed and not counted. The second table tells the waits that have no such moment:
screens that never rest, spinners, and how many dumps a phone on a cable needs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.scenario.studio import LENGTHS_MS, Studio  # noqa: E402

from handrail.clock import SystemClock  # noqa: E402
from handrail.config import Config, Helper  # noqa: E402
from handrail.engine.session import Session  # noqa: E402
from handrail.engine.settle import GRACE_MS, QUIET_MS  # noqa: E402
from handrail.protocol.envelope import Envelope  # noqa: E402
from handrail.runtime import Runtime  # noqa: E402
from handrail_sim.adbd.server import serve  # noqa: E402
from handrail_sim.phone import Phone  # noqa: E402

SETTINGS, SHOP, TROUBLE = "com.android.settings", "com.handrail.shop", "com.handrail.trouble"
APPS = ["launcher", "settings", "shop", "trouble", Studio]
CHANNELS: dict[str, Helper] = {"adb": "none", "u2": "u2", "helper": "handrail"}
WINDOW_MS = {"none": QUIET_MS, "u2": QUIET_MS, "handrail": 150.0}
SERVED_BY = {"none": "adb", "u2": "u2", "handrail": "helper"}
GOAL_MS = 60.0
CLICK_MS = 40.0
"""A tap that does nothing still makes an event at once."""
TOAST = "Hello from below"
Do = Callable[[Session], Awaitable[Envelope]]


@dataclass(frozen=True)
class Waited:
    """One wait."""

    kind: str
    ms: float
    reads: int
    reason: str
    lost: float | None


def kinds() -> list[tuple[str, str, Do, Do | None]]:
    """A name, the app it happens in, the action, and what brings the screen back for the next round."""
    back: Do = lambda s: s.press_key("back")  # noqa: E731
    runs: list[tuple[str, str, Do, Do | None]] = [
        (f"animation of {length} ms", Studio.package, lambda s, n=length: s.tap(f"Run {n}"), None)  # type: ignore[misc]
        for length in LENGTHS_MS
    ]
    return [
        ("a row opens a screen", SETTINGS, lambda s: s.tap("Display"), back),
        ("swipe and fling", SETTINGS, lambda s: s.swipe("up"), lambda s: s.swipe("down")),
        ("home", SETTINGS, lambda s: s.press_key("home"), lambda s: s.start_app(SETTINGS)),
        ("a chip changes a list (proved)", SHOP, lambda s: s.tap("Kitchen"), lambda s: s.tap("All")),
        ("a field brings the keyboard", SETTINGS, lambda s: s.tap("Search settings"), back),
        ("a toast", Studio.package, lambda s: s.tap("Toast"), lambda s: s.wait_for({"absent": TOAST})),
        *runs,
        ("nothing happens", Studio.package, lambda s: s.tap("Nothing"), None),
        ("a switch (proved)", Studio.package, lambda s: s.tap("Water"), None),
    ]


@asynccontextmanager
async def stage(helper: Helper, *faults: str) -> AsyncIterator[tuple[Phone, Session]]:
    phone = Phone(clock=SystemClock(), apps=APPS)
    with tempfile.TemporaryDirectory() as home:
        env = {"HANDRAIL_HOME": home, "HOME": home}
        async with (
            serve([phone], port=0) as [served],
            Runtime.open(Config.from_env(env), env=env) as runtime,
        ):
            session = await runtime.session(served.address, helper=helper)
            assert session.surface.channels()["look"] == SERVED_BY[helper], session.surface.diagnostics()
            for fault in faults:
                phone.faults.add(fault)
            yield phone, session


async def waits(helper: Helper, rounds: int) -> list[Waited]:
    found = []
    async with stage(helper) as (phone, session):
        for kind, app, do, undo in kinds():
            await session.start_app(app)
            for _ in range(rounds):
                found.append(await one_wait(phone, session, kind, do, WINDOW_MS[helper]))
                if undo is not None:
                    await undo(session)
            while (await session.press_key("back")).success:
                pass
    return found


async def one_wait(phone: Phone, session: Session, kind: str, do: Do, window_ms: float) -> Waited:
    envelope = await do(session)
    report, seen = envelope.settle, session.screens.last
    assert report, envelope.to_json()
    assert seen
    lost: float | None = None
    if report.reason != "verified":
        since = seen.ended_ms - phone.last_event_ms
        moved = bool(envelope.changes) or report.ms - since > CLICK_MS
        lost = since - window_ms if moved else report.ms - GRACE_MS
    return Waited(kind, report.ms, report.reads, report.reason, lost)


def table(channel: str, found: list[Waited]) -> list[str]:
    lines = [f"{channel:<34}{'ms':>8}{'reads':>7}{'lost':>7}{'worst':>7}  ended by"]
    for kind, *_ in kinds():
        own = [one for one in found if one.kind == kind]
        lost = [one.lost for one in own if one.lost is not None]
        shown = f"{median(lost):>7.0f}{max(lost):>7.0f}" if lost else f"{'-':>7}{'-':>7}"
        reasons = ", ".join(sorted({one.reason for one in own}))
        lines.append(
            f"  {kind:<32}{median(one.ms for one in own):>8.0f}{median(one.reads for one in own):>7.0f}"
            f"{shown}  {reasons}"
        )
    lost = sorted(one.lost for one in found if one.lost is not None)
    deciles = quantiles(lost, n=10)
    verdict = "kept" if median(lost) <= GOAL_MS else "MISSED"
    lines.append(
        f"  lost by {len(lost)} waits: median {median(lost):.0f} (goal {GOAL_MS:.0f}, {verdict}), "
        f"p10 {deciles[0]:.0f}, p90 {deciles[8]:.0f}, most {lost[-1]:.0f}"
    )
    return lines


async def endless(helper: Helper) -> list[str]:
    """What has no end, or ends late."""
    async with stage(helper) as (_, session):
        await session.start_app(TROUBLE)
        first = await session.tap("Never still")
        second = await session.long_press("Never still")
        await session.press_key("back")
        again = await session.tap("Never still")
        await session.press_key("back")
        spinner = await session.tap("Spinner that ends")
        told = [("never still, the first time", first, 1_500.0), ("the next action there", second, None)]
        told += [("opened a second time", again, None), ("a spinner of 3 s", spinner, 3_500.0)]
        return [_told(words, envelope, goal) for words, envelope, goal in told]


def _told(words: str, envelope: Envelope, goal: float | None) -> str:
    report = envelope.settle
    assert report
    wanted = f"{goal:>8.0f}" if goal else f"{'-':>8}"
    return f"  {words:<32}{report.ms:>8.0f}{wanted}{report.reads:>7}  {report.reason}"


async def on_a_cable() -> list[str]:
    """The `hardware` profile: dumps of about 2 s that wait for idle themselves."""
    async with stage("none", "hardware") as (phone, session):
        await session.start_app(SETTINGS)
        lines = []
        for words, do in (
            ("tap that opens a screen", lambda: session.tap("Display")),
            ("back", lambda: session.press_key("back")),
        ):
            before = _dumps(phone)
            envelope = await do()
            count, report = _dumps(phone) - before, envelope.settle
            assert report
            lines.append(
                f"  {words:<32}{report.ms:>8.0f}{'-':>8}{report.reads:>7}  {report.reason}, {count} dumps"
            )
        return lines


def _dumps(phone: Phone) -> int:
    return sum(int(one["hits"]) for one in phone.faults.to_list() if one.get("command") == "uiautomator")


async def report(rounds: int, channels: list[str]) -> None:
    for channel in channels:
        print("\n".join(table(channel, await waits(CHANNELS[channel], rounds))), flush=True)
    for channel in channels:
        print(f"{channel:<34}{'ms':>8}{'goal':>8}{'reads':>7}  ended by")
        print("\n".join(await endless(CHANNELS[channel])), flush=True)
    print(f"{'a phone on a cable, plain adb':<34}{'ms':>8}{'goal':>8}{'reads':>7}")
    print("\n".join(await on_a_cable()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--channels", nargs="+", choices=list(CHANNELS), default=list(CHANNELS))
    options = parser.parse_args()
    asyncio.run(report(options.rounds, options.channels))


if __name__ == "__main__":
    main()
