"""Many attempts, each under `allow` as a control and then under what should stop it, and their table."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError
from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import action_from
from handrail.protocol.traits import Pressed
from tests.attacks.draw_attempts import draw_attempt
from tests.attacks.stage import POLICIES, AttackStage, Attempt, Seen, stage

SEED = "HANDRAIL_ATTACK_SEED"
ASKING = ("net", "ask")
DENYING = tuple(name for name in POLICIES if name.startswith("deny"))
MEMORY = Path("/dev/shm")
"""Homes in memory: what is journalled here is thrown away."""


@dataclass
class Tally:
    """By action and channel: how many attempts, and how many of their controls reached the phone."""

    seed: int
    attempts: int = 0
    controls: Counter[tuple[str, str]] = field(default_factory=Counter)
    landed: Counter[tuple[str, str]] = field(default_factory=Counter)
    deeds: int = 0
    through: list[tuple[Attempt, Seen]] = field(default_factory=list)
    policies: Counter[str] = field(default_factory=Counter)
    doors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.seed,
            self.attempts + other.attempts,
            self.controls + other.controls,
            self.landed + other.landed,
            self.deeds + other.deeds,
            self.through + other.through,
            self.policies + other.policies,
            self.doors + other.doors,
            self.seconds + other.seconds,
        )

    @property
    def share(self) -> float:
        return self.landed.total() / max(1, self.controls.total())

    def never_landed(self) -> list[str]:
        """Actions that press and never reached the phone, where they were tried often enough to tell."""
        tried, came = Counter[str](), Counter[str]()
        for (kind, _), count in self.controls.items():
            tried[kind] += count
        for (kind, _), count in self.landed.items():
            came[kind] += count
        return [
            kind for kind in tried if not came[kind] and ACTIONS[kind].traits.presses is not Pressed.NOTHING
        ]

    def table(self) -> str:
        channels = sorted({channel for _, channel in self.controls})
        lines = [f"{'action':24}" + "".join(f"{channel:>16}" for channel in channels)]
        for kind in sorted({kind for kind, _ in self.controls}, key=list(ACTIONS).index):
            cells = [self._cell(kind, channel) for channel in channels]
            lines.append(f"{kind:24}" + "".join(f"{cell:>16}" for cell in cells))
        lines.append(
            f"{self.attempts} attempts under {dict(self.policies)} by {dict(self.doors)}; "
            f"of {self.controls.total()} controls {self.share:.0%} reached the phone and {self.deeds} did "
            f"the guarded thing; {len(self.through)} got through; {self.seconds:.0f} s; {SEED}={self.seed}"
        )
        return "\n".join(lines)

    def _cell(self, kind: str, channel: str) -> str:
        tried = self.controls[kind, channel]
        return f"{self.landed[kind, channel]}/{tried}" if tried else "-"


class Campaign:
    """Opens each phone once, and keeps it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = AsyncExitStack()
        self._stages: dict[tuple[str, str], AttackStage] = {}
        self._opened = 0

    async def __aenter__(self) -> Campaign:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def on(self, channel: str, policy: str) -> AttackStage:
        if (channel, policy) not in self._stages:
            self._opened += 1
            home = self._folder / f"{channel}-{policy}-{self._opened}"
            opened = await self._stack.enter_async_context(stage(home, channel, policy))
            self._stages[channel, policy] = opened
        return self._stages[channel, policy]

    async def attempt(self, one: Attempt) -> Seen:
        return await (await self.on(one.channel, one.policy)).attempt(one)

    async def run(self, count: int, seed: int, channels: Sequence[str], denials: int = 1) -> Tally:
        """At least `count` attempts: each that is drawn is asked about once and denied `denials` times."""
        luck, tally, began = random.Random(seed), Tally(seed), time.monotonic()
        while tally.attempts < count:
            drawn = draw_attempt(luck, channels)
            await self._control(drawn, tally)
            for policy in (luck.choice(ASKING), *luck.sample(DENYING, denials)):
                one = replace(drawn, policy=policy)
                seen = await self.attempt(one)
                tally.attempts += 1
                tally.policies[policy] += 1
                tally.doors[one.door] += 1
                if seen.got_through:
                    tally.through.append((one, seen))
        tally.seconds = time.monotonic() - began
        return tally

    async def _control(self, drawn: Attempt, tally: Tally) -> None:
        seen = await self.attempt(drawn)
        key = drawn.steps[-1]["type"], drawn.channel
        tally.controls[key] += 1
        tally.landed[key] += seen.landed
        tally.deeds += bool(seen.deeds)

    async def shrink(self, one: Attempt) -> Attempt:
        """The smallest attempt that still gets through: fewer steps, then fewer fields."""
        smaller = True
        while smaller:
            smaller = False
            for candidate in _smaller(one):
                if (await self.attempt(candidate)).got_through:
                    one, smaller = candidate, True
                    break
        return one


def _smaller(one: Attempt) -> list[Attempt]:
    found = []
    if one.door != "python":
        found.append(replace(one, door="python", around={}))
    if len(one.steps) > 1:
        found += [replace(one, steps=one.steps[:n] + one.steps[n + 1 :]) for n in range(len(one.steps))]
    for number, step in enumerate(one.steps):
        for name in step:
            fewer = {key: value for key, value in step.items() if key != name}
            if name != "type" and _is_valid(fewer):
                found.append(replace(one, steps=(*one.steps[:number], fewer, *one.steps[number + 1 :])))
    return found


def _is_valid(step: dict[str, Any]) -> bool:
    try:
        action_from(step)
    except HandrailError:
        return False
    return True


def chosen_seed(default: int | None = None) -> int:
    """As the environment says, else the given one, else another one each time."""
    given = os.environ.get(SEED, "")
    return int(given) if given else random.randrange(2**31) if default is None else default


@asynccontextmanager
async def phones() -> AsyncIterator[Campaign]:
    """With their homes in memory, for as long as the block runs."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        async with Campaign(Path(folder)) as one:
            yield one


async def campaign(
    count: int,
    seed: int,
    channels: Sequence[str],
    *,
    denials: int = 1,
    most: int = 1,
    say: Callable[[str], object] = print,
) -> Tally:
    """Run, and tell what got through as attempts that anybody can repeat."""
    async with phones() as one:
        tally = await one.run(count, seed, channels, denials)
        said = Counter[str]()
        for attempt, seen in tally.through:
            kind = f"{attempt.steps[-1]['type']} {attempt.scene}"
            said[kind] += 1
            if said[kind] <= most:
                what = f"{seen.deeds} deeds, {len(seen.touches)} touches"
                say(f"GOT THROUGH ({what}): {await one.shrink(attempt)}")
    say(tally.table())
    return tally


async def again(line: str) -> Seen:
    """One attempt, as a line that a run printed."""
    async with phones() as one:
        return await one.attempt(Attempt.read(line))
