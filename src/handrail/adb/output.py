"""Output that is kept up to a limit: the head stays, the rest is counted and dropped."""

from __future__ import annotations


class Kept:
    """The first `limit` bytes of what came."""

    __slots__ = ("_limit", "_parts", "dropped", "size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self.size = 0
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self._limit - self.size
        if len(data) > room:
            self.dropped += len(data) - room
            data = data[:room]
        if data:
            self.size += len(data)
            self._parts.append(data)

    def value(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
