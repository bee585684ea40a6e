"""Random lives of approvals against a naive judge: `python tests/fuzz/approvals.py [lives] [seed]`.

Several processes (each with a connection of its own to one SQLite file), several askers under several names,
a clock that is set forward and back, and machines that are started anew. The judge knows the true time and
shares no code with what it judges.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from handrail.errors import ActionRejected
from handrail.protocol.read import action_from
from handrail.safety.approval_request import AuthorizationRequest
from handrail.safety.approval_store import clock_reading, insert, new_id
from handrail.safety.approvals import Approvals
from handrail.store import Store

USABLE_MS = 60_000  # as docs/safety.md says: an approval that came late counts for a minute
ASKERS, NAMES, ACTIONS, PROCESSES = ("s1", "s2", "s3"), ("ada", "bob"), 2, 3


class World:
    """True time, and what the machine's clocks make of it."""

    def __init__(self) -> None:
        self.true_ms, self.offset_ms, self.boots = 1_000_000, 1_700_000_000_000, 0
        self.booted_ms = 0

    def now_ms(self) -> int:
        return self.true_ms + self.offset_ms

    def monotonic_ms(self) -> float:
        return float(self.true_ms - self.booted_ms)

    @property
    def timer(self) -> str:
        return f"boot {self.boots}"

    async def sleep_ms(self, duration_ms: float) -> None:
        raise AssertionError("nobody sleeps here")


@dataclass
class Judged:
    """What the judge knows of one question."""

    id: str
    asker: str
    digest: str
    asked_ms: int
    timeout_ms: int
    state: str = "asked"
    until_ms: int = 0
    """For a yes: when it is too old, in true time."""
    moved: bool = False
    """The clock was set since."""
    rebooted: bool = False

    def late(self, true_ms: int) -> bool:
        end = self.until_ms if self.state == "yes" else self.asked_ms + self.timeout_ms
        return true_ms >= end

    @property
    def unknowable(self) -> bool:
        """Only a machine that was both started anew and set back can't know how late it is."""
        return self.moved and self.rebooted


class Run:
    """One life of a store."""

    def __init__(self, seed: int, desks: list[Approvals], stores: list[Store], world: World) -> None:
        self.chance = random.Random(seed)
        self.desks, self.stores, self.world = desks, stores, world
        self.known: list[Judged] = []
        self.tally: Counter[str] = Counter()

    async def step(self) -> None:
        operations = (
            *(self.ask,) * 3,
            *(self.answer,) * 5,
            *(self.use,) * 8,
            *(self.end,) * 2,
            self.look,
            *(self.pass_time,) * 2,
            self.set_clock,
            self.reboot,
        )
        await self.chance.choice(operations)()

    def one(self, state: str) -> Judged:
        """Mostly one that something can still come of."""
        fit = [one for one in self.known if one.state == state]
        return self.chance.choice(fit if fit and self.chance.random() < 0.6 else self.known)

    def question(self, digest: str, asker: str) -> AuthorizationRequest:
        tap = action_from({"type": "tap", "target": {"text": digest}})
        return AuthorizationRequest(
            "policy", tap.to_dict(), digest, "phone", "f", "Allow?", asked_by=self.chance.choice(NAMES),
            asker=asker, timeout_ms=self.chance.choice((5_000, 100_000, 300_000)),
        )  # fmt: skip

    async def ask(self) -> None:
        asked = self.question(f"act {self.chance.randrange(ACTIONS)}", self.chance.choice(ASKERS))
        id_, at = new_id(), clock_reading(self.world)
        await self.chance.choice(self.stores).write(lambda db: insert(db, id_, asked, at, "x", None))
        self.known.append(Judged(id_, asked.asker, asked.digest, self.world.true_ms, asked.timeout_ms))

    async def answer(self) -> None:
        if not self.known:
            return
        one, yes = self.one("asked"), self.chance.random() < 0.8
        by = self.chance.choice(NAMES)
        counted = await _went(self.chance.choice(self.desks).answer(one.id, yes, by))
        may = one.state == "asked" and not one.late(self.world.true_ms)
        self.judge(one, "answer", counted, may)
        if counted:
            left = max(one.asked_ms + one.timeout_ms - self.world.true_ms, USABLE_MS)
            one.state, one.until_ms = "yes" if yes else "no", self.world.true_ms + left
        elif one.state == "asked":
            one.state = "over"

    async def use(self) -> None:
        if not self.known:
            return
        one = self.one("yes")
        is_right = self.chance.random() < 0.6
        asker = one.asker if is_right else self.chance.choice(ASKERS)
        digest = one.digest if is_right else f"act {self.chance.randrange(ACTIONS)}"
        used = await _went(self.chance.choice(self.desks).consume(one.id, digest, asker))
        fits = (asker, digest) == (one.asker, one.digest)
        may = fits and one.state == "yes" and not one.late(self.world.true_ms)
        self.judge(one, "use", used, may)
        if used:
            one.state = "used"

    async def end(self) -> None:
        """Withdrawn or void: the act that asked goes away."""
        if self.known:
            one = self.one("yes")
            await self.chance.choice(self.desks).end(one.id)
            one.state = "over" if one.state in ("asked", "yes") else one.state
            self.tally["end"] += 1

    async def look(self) -> None:
        open_ones = {one.id for one in await self.chance.choice(self.desks).pending()}
        for one in self.known:
            if one.id in open_ones:
                assert one.state == "asked", one
                assert one.unknowable or not one.late(self.world.true_ms), one
            elif one.state == "asked":
                assert one.moved or one.late(self.world.true_ms), one
                one.state = "over"

    async def pass_time(self) -> None:
        self.world.true_ms += self.chance.choice((1, 1_000, 4_000, 50_000, 70_000, 200_000))

    async def set_clock(self) -> None:
        by = self.chance.choice((-86_400_000, -250_000, -1_000, 1_000, 250_000, 86_400_000))
        self.world.offset_ms += by
        for one in self.known:
            one.moved = True

    async def reboot(self) -> None:
        self.world.boots += 1
        self.world.true_ms += 30_000
        self.world.booted_ms = self.world.true_ms
        for one in self.known:
            one.rebooted = True

    def judge(self, one: Judged, what: str, did: bool, may: bool) -> None:
        """It never does what it may not; and it does what it may where nobody touched the clock."""
        if did:
            was = {"answer": "asked", "use": "yes"}[what]
            assert may or (one.unknowable and one.state == was), (what, one)
        elif may:
            assert one.moved, (what, one)
        self.tally[f"{what} {'counted' if did else 'refused'}"] += 1


async def _went(work: Awaitable[object]) -> bool:
    try:
        await work
    except ActionRejected:
        return False
    return True


async def live(file: Path, seed: int, steps: int) -> Counter[str]:
    """One store from its making to its end."""
    world = World()
    async with AsyncExitStack() as ends:
        stores = [Store(file) for _ in range(PROCESSES)]
        for store in stores:
            ends.callback(store.close)
        run = Run(seed, [Approvals(store, world) for store in stores], stores, world)
        for _ in range(steps):
            await run.step()
        await race(run)
        return run.tally


async def race(run: Run) -> None:
    """Everybody uses one yes at once."""
    asked = run.question("act 0", "s1")
    id_ = new_id()
    await run.stores[0].write(lambda db: insert(db, id_, asked, clock_reading(run.world), "x", None))
    await run.desks[0].answer(id_, True, "ada")
    done = await asyncio.gather(*(_went(desk.consume(id_, "act 0", "s1")) for desk in run.desks * 3))
    assert sum(done) == 1
    run.tally["raced"] += 1


def run(lives: int, steps: int, seed: int) -> Counter[str]:
    """`lives` stores, each with so many random operations."""
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(lives):
            tally += asyncio.run(live(Path(folder) / f"{number}.db", seed + number, steps))
    return tally


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    start = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {start}:", dict(run(count, 400, start)))  # noqa: T201
