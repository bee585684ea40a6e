"""What is due when: a heap of callbacks on the phone's own time. Nothing runs by itself."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class Timer:
    """One callback that waits; cancel it as often as you like."""

    due_ms: float
    number: int
    run: Callable[[], object] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class Timers:
    """Callbacks in the order in which they are due; equal times in the order of their setting."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._count = 0

    def add(self, due_ms: float, run: Callable[[], object]) -> Timer:
        self._count += 1
        timer = Timer(due_ms, self._count, run)
        heapq.heappush(self._heap, timer)
        return timer

    def again(self, timer: Timer, due_ms: float) -> None:
        """Set a timer that has run once more; who holds it can still cancel it."""
        self._count += 1
        timer.due_ms, timer.number = due_ms, self._count
        heapq.heappush(self._heap, timer)

    def next_due_ms(self) -> float | None:
        while self._heap and self._heap[0].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0].due_ms if self._heap else None

    def pop_due(self, now_ms: float) -> Timer | None:
        due = self.next_due_ms()
        return heapq.heappop(self._heap) if due is not None and due <= now_ms else None

    def clear(self) -> None:
        for timer in self._heap:
            timer.cancel()
        self._heap.clear()
