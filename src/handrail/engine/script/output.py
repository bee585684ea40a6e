"""What is kept of a stream while it runs: its head and its tail. Memory does not grow with the output."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

KEPT = 64 * 1024


class Kept:
    """The first and the last half of `limit` bytes; what lies between is counted and forgotten."""

    def __init__(self, limit: int = KEPT) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data[-self._half :])
            self._tail_bytes += len(self._tail[-1])
        while self._tail and self._tail_bytes - len(self._tail[0]) >= self._half:
            self._tail_bytes -= len(self._tail.popleft())

    def text(self, redact: Callable[[str], str], margin: int = 0) -> str:
        """Head and tail without secrets. `margin` more go at a cut: half a secret can't be found."""
        tail = b"".join(self._tail)
        left_out = self.total - len(self._head) - min(len(tail), self._half)
        if not left_out:
            return redact((bytes(self._head) + tail).decode(errors="replace"))
        head = redact(bytes(self._head).decode(errors="replace"))
        rest = redact(tail[-self._half :].decode(errors="replace"))
        gap = f"[… {left_out + 2 * margin:,} bytes are left out …]"
        return f"{head[: len(head) - margin]}\n{gap}\n{rest[margin:]}"
