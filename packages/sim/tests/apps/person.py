"""A person with a phone: sees what a dump shows, touches with fingers, waits on a clock that stands still."""

from __future__ import annotations

import asyncio
from typing import Any

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from tests.shown import Node, Screen, parse

FRAME_MS = 16
STEP_MS = 50
BACK, HOME = 4, 3


class Person:
    """Eyes and hands. Finds things by their words, description or id, as a person points at them."""

    def __init__(self, *apps: str, seed: int = 1) -> None:
        self.clock = ManualClock()
        self.phone = Phone(clock=self.clock, seed=seed, apps=["launcher", *apps])

    # eyes

    def look(self) -> Screen:
        self.phone.catch_up()
        return parse(self.phone.dump())

    def words(self) -> list[str]:
        return [words for node in self.look().nodes for words in (node.text, node.description) if words]

    def sees(self, words: str) -> bool:
        return bool(self._all(words))

    def find(self, words: str, index: int = 0) -> Node:
        found = self._all(words)
        assert len(found) > index, f"nothing says {words!r} among {self.words()}"
        return found[index]

    def _all(self, words: str) -> list[Node]:
        return [
            node
            for node in self.look().nodes
            if words in (node.text, node.description, node.id_tail, node.resource_id)
        ]

    def state(self, package: str) -> dict[str, Any]:
        self.phone.catch_up()
        state: dict[str, Any] = self.phone.state()["apps"][package]
        return state

    # hands

    def open(self, package: str) -> None:
        self.phone.start_activity(package=package)
        self.wait(1000)

    def wait(self, duration_ms: float) -> None:
        """Time passes in small steps, so that timers and animations happen in their order."""
        asyncio.run(self._pass(duration_ms))

    async def _pass(self, duration_ms: float) -> None:
        for elapsed in range(0, int(duration_ms), STEP_MS):
            await self.clock.advance(min(STEP_MS, duration_ms - elapsed))
            self.phone.catch_up()

    def tap(self, words: str, index: int = 0) -> None:
        self.tap_at(*self.find(words, index).center)

    def tap_at(self, x: float, y: float) -> None:
        self._press(x, y, 60)
        self.wait(600)

    def hold(self, words: str) -> None:
        self.hold_at(*self.find(words).center)

    def hold_at(self, x: float, y: float) -> None:
        self._press(x, y, 800)
        self.wait(600)

    def _press(self, x: float, y: float, duration_ms: float) -> None:
        self.phone.pointer("down", x, y)
        self.wait(duration_ms)
        self.phone.pointer("up", x, y)

    def type(self, words: str, into: str) -> None:
        """Taps the field and types; the keyboard is closed again, as it may cover what comes next."""
        self.tap(into)
        self.phone.commit_text(words)
        self.wait(100)
        self.hide_keyboard()

    def hide_keyboard(self) -> None:
        if any(window.type == "ime" for window in self.phone.windows()):
            self.back()

    def back(self) -> None:
        self.phone.key(BACK)
        self.wait(600)

    def swipe(self, x1: float, y1: float, x2: float, y2: float, steps: int = 12) -> None:
        self.phone.pointer("down", x1, y1)
        for step in range(1, steps + 1):
            self.wait(FRAME_MS)
            share = step / steps
            self.phone.pointer("move", x1 + (x2 - x1) * share, y1 + (y2 - y1) * share)
        self.phone.pointer("up", x2, y2)
        self.wait(1500)

    def scroll_down(self) -> None:
        self.swipe(540, 1700, 540, 900)

    def scroll_to(self, words: str, most: int = 15) -> None:
        for _ in range(most):
            if self.sees(words):
                return
            self.scroll_down()
        raise AssertionError(f"scrolled {most} times and never saw {words!r}")

    def pinch(self, words: str, start: float, end: float, steps: int = 10) -> None:
        """Two fingers, `start` px apart, move until they are `end` px apart."""
        x, y = self.find(words).center
        self.phone.pointer("down", x - start / 2, y, 0)
        self.phone.pointer("down", x + start / 2, y, 1)
        for step in range(1, steps + 1):
            self.wait(FRAME_MS)
            half = (start + (end - start) * step / steps) / 2
            self.phone.pointer("move", x - half, y, 0)
            self.phone.pointer("move", x + half, y, 1)
        self.phone.pointer("up", x - end / 2, y, 0)
        self.phone.pointer("up", x + end / 2, y, 1)
        self.wait(300)
