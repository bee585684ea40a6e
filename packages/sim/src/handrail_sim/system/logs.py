"""The phone's log: lines as logd keeps them, the oldest forgotten first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

CAPACITY = 4096  # lines


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: `time_ms` is wall-clock, `level` one of V D I W E F."""

    time_ms: int
    pid: int
    tid: int
    level: str
    tag: str
    text: str
    buffer: str = "main"
    uid: int = 1000


class LogBuffer:
    """A ring of log lines; listeners hear of new ones as they come."""

    def __init__(self) -> None:
        self.lines: deque[LogLine] = deque(maxlen=CAPACITY)
        self.listeners: list[Callable[[LogLine], object]] = []

    def add(self, line: LogLine) -> None:
        self.lines.append(line)
        for listener in list(self.listeners):
            listener(line)

    def clear(self) -> None:
        self.lines.clear()
