"""A person who knows the phone's own apps: the home key, sliders, starting an app afresh."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.apps.person import HOME, Person

_STEPS = 12
_FRAME_MS = 16


class Owner(Person):
    """Adds to a person what the stories of the system's apps need."""

    def write(self, text: str) -> None:
        """Into the field that has the cursor already."""
        self.phone.commit_text(text)
        self.wait(100)

    def home(self) -> None:
        self.phone.key(HOME)
        self.wait(600)

    def reopen(self, package: str) -> None:
        """In a new process."""
        self.phone.force_stop(package)
        self.open(package)

    def forget_it(self, duration_ms: float) -> None:
        """Leave the phone alone: time passes and nobody asks it anything."""
        asyncio.run(self.clock.advance(duration_ms))
        self.phone.catch_up()

    def press(self, key: int, times: int = 1) -> None:
        for _ in range(times):
            self.phone.key(key)
        self.wait(100)

    def drag_slider(self, words: str, share: float) -> None:
        """From the middle of a bar to a place on it; 0 is its left end."""
        left, top, right, bottom = self.find(words).bounds
        y = (top + bottom) / 2
        self.phone.pointer("down", (left + right) / 2, y)
        for step in range(1, _STEPS + 1):
            self.wait(_FRAME_MS)
            reached = 0.5 + (share - 0.5) * step / _STEPS
            self.phone.pointer("move", left + reached * (right - left), y)
        self.phone.pointer("up", left + share * (right - left), y)
        self.wait(300)

    def swipe_up(self) -> None:
        self.swipe(540, 1700, 540, 700)


def story(*apps: str) -> Callable[[Callable[[Owner], None]], Callable[[], None]]:
    """A test told by the owner of a phone with these apps."""

    def with_phone(tell: Callable[[Owner], None]) -> Callable[[], None]:
        def run() -> None:
            tell(Owner(*apps))

        run.__name__ = getattr(tell, "__name__", "story")
        return run

    return with_phone
