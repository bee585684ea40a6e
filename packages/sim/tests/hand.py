"""A person in front of a phone on a manual clock: sees the dump, taps, types, swipes, waits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.system.activities import App


@dataclass(frozen=True)
class Seen:
    """One node of a dump."""

    attributes: dict[str, str]
    bounds: tuple[int, int, int, int]

    @property
    def text(self) -> str:
        return self.attributes["text"]

    @property
    def desc(self) -> str:
        return self.attributes["content-desc"]

    @property
    def id(self) -> str:
        return self.attributes["resource-id"]

    @property
    def centre(self) -> tuple[float, float]:
        left, top, right, bottom = self.bounds
        return (left + right) / 2, (top + bottom) / 2

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def says(self, words: str) -> bool:
        """By text, description or id (whole, or its last part)."""
        return words in (self.text, self.desc, self.id, self.id.rpartition("/")[2])


class Hand:
    """`hand = Hand(apps=["contacts"])`, then `await hand.tap("Save")`; time passes only by what is done."""

    def __init__(self, phone: Phone | None = None, **options: Any) -> None:
        self.clock = ManualClock()
        self.phone = phone or Phone(clock=self.clock, **options)
        if phone is not None:
            assert isinstance(phone.clock, ManualClock)
            self.clock = phone.clock

    # looking

    def see(self, **how: bool) -> list[Seen]:
        """Every node of the dump, parents first."""
        found = []
        for node in ElementTree.fromstring(self.phone.dump(**how).encode()).iter("node"):
            left, top, right, bottom = map(int, re.findall(r"-?\d+", node.attrib["bounds"]))
            found.append(Seen(dict(node.attrib), (left, top, right, bottom)))
        return found

    def all(self, words: str) -> list[Seen]:
        return [seen for seen in self.see() if seen.says(words)]

    def sees(self, words: str) -> bool:
        return bool(self.all(words))

    def find(self, words: str, number: int = 0) -> Seen:
        found = self.all(words)
        assert len(found) > number, f"{words!r} is not on the screen: {self.words()}"
        return found[number]

    def words(self) -> list[str]:
        """What a person could read."""
        return [seen.text or seen.desc for seen in self.see() if seen.text or seen.desc]

    # doing

    async def run(self, doing: Coroutine[Any, Any, Any], step_ms: float = 8.0) -> Any:
        """Let time pass until it is done."""
        task = asyncio.ensure_future(doing)
        await asyncio.sleep(0)
        for _ in range(100_000):
            if task.done():
                break
            await self.clock.advance(step_ms)
        return await task

    async def wait(self, duration_ms: float) -> None:
        await self.clock.advance(duration_ms)
        self.phone.catch_up()

    async def settle(self, longest_ms: float = 10_000.0) -> None:
        """Wait until nothing moves."""
        waited = 0.0
        while not self.phone.is_idle() and waited < longest_ms:
            await self.wait(50.0)
            waited += 50.0

    async def tap(self, words: str, number: int = 0) -> None:
        await self.tap_at(*self.find(words, number).centre)

    async def tap_at(self, x: float, y: float) -> None:
        await self.phone.tap(x, y)
        await self.wait(400.0)

    async def hold(self, words: str, number: int = 0) -> None:
        x, y = self.find(words, number).centre
        await self.run(self.phone.long_press(x, y, 700.0))
        await self.wait(400.0)

    async def type(self, words: str) -> None:
        self.phone.commit_text(words)
        await self.wait(50.0)

    async def fill(self, field: str, words: str) -> None:
        """Tap a field, empty it, type."""
        await self.tap(field)
        self.phone.editing.select_all()
        await self.type(words)

    async def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_ms: float = 300.0) -> None:
        await self.run(self.phone.swipe(x1, y1, x2, y2, duration_ms))
        await self.settle()

    async def scroll(self, share: float = 0.5) -> None:
        """Bring what is below into sight; a negative share what is above."""
        width, height = self.phone.display.width, self.phone.display.height
        middle = height * 0.5
        await self.swipe(
            width / 2, middle + height * share / 2, width / 2, middle - height * share / 2, 600.0
        )

    async def scroll_to(self, words: str, most: int = 30) -> Seen:
        """Scroll down until it is in sight."""
        for _ in range(most):
            if self.sees(words):
                break
            await self.scroll()
        return self.find(words)

    async def back(self) -> None:
        self.phone.key(4)
        await self.wait(400.0)

    async def home(self) -> None:
        self.phone.key(3)
        await self.wait(400.0)

    async def open(self, package: str) -> None:
        assert self.phone.start_activity(package=package).ok, package
        await self.settle()

    def app_state(self, package: str) -> dict[str, Any]:
        state: dict[str, Any] = self.phone.state()["apps"][package]
        return state


def phone_with(*apps: type[App], **options: Any) -> Hand:
    """A hand on a phone that carries the launcher and these apps."""
    return Hand(apps=list(apps), **options)


__all__ = ["Hand", "Seen", "phone_with"]
