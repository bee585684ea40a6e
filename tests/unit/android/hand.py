"""A person in front of a simulated phone on a manual clock, who sees what its own dump shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone


@dataclass(frozen=True)
class Shown:
    """One element of a dump."""

    attributes: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    @property
    def centre(self) -> tuple[float, float]:
        left, top, right, bottom = map(int, re.findall(r"-?\d+", self["bounds"]))
        return (left + right) / 2, (top + bottom) / 2


class Hand:
    """Taps and types; time passes only by what is done."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.phone = Phone(clock=self.clock)

    def see(self) -> list[Shown]:
        root = ElementTree.fromstring(self.phone.dump().encode())
        return [Shown(dict(node.attrib)) for node in root.iter("node")]

    async def wait(self, duration_ms: float) -> None:
        await self.clock.advance(duration_ms)
        self.phone.catch_up()

    async def settle(self, longest_ms: float = 10_000.0) -> None:
        """Wait until nothing moves."""
        for _ in range(int(longest_ms / 50)):
            if self.phone.is_idle():
                return
            await self.wait(50.0)

    async def tap(self, words: str) -> None:
        found = [one for one in self.see() if words in (one["text"], one["content-desc"])]
        await self.tap_at(*found[0].centre)

    async def tap_at(self, x: float, y: float) -> None:
        await self.phone.tap(x, y)
        await self.wait(400.0)

    async def type(self, words: str) -> None:
        self.phone.commit_text(words)
        await self.wait(50.0)
