"""The last frames of a session by number, so that whoever was away gets what was missed."""

from __future__ import annotations

from collections import deque

FRAMES = 5_000
BYTES = 64_000_000
"""Huge frames push old ones out earlier; whoever needs those gets a snapshot."""


class Ring:
    """Gap-free numbers, oldest forgotten first. `last` is the newest number."""

    def __init__(self, last: int, frames: int = FRAMES, size: int = BYTES) -> None:
        self.last = last
        self._frames: deque[str] = deque()
        self._most, self._most_size = frames, size
        self._size = 0

    @property
    def first(self) -> int:
        """The oldest number that is still here; `last + 1` when there is none."""
        return self.last - len(self._frames) + 1

    def append(self, frame: str) -> None:
        """Keep the frame with the number `last + 1`."""
        self.last += 1
        self._frames.append(frame)
        self._size += len(frame)
        while len(self._frames) > self._most or (self._size > self._most_size and len(self._frames) > 1):
            self._size -= len(self._frames.popleft())

    def get(self, seq: int) -> str:
        return self._frames[seq - self.first]

    def covers(self, since: int) -> bool:
        """True when everything after `since` is here."""
        return self.first - 1 <= since <= self.last
