"""The thread that sends: batches of spans and what was counted, never in anybody's way.

What waits is bounded, the oldest goes first. A collector that fails is asked less and less often. At the end
it gets a second; then the process goes, with or without it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Iterable

from handrail.telemetry.endpoint import CollectorPlace, post
from handrail.telemetry.metrics import Key, Meters, Tally, since
from handrail.telemetry.otlp import metrics, traces
from handrail.telemetry.spans import Span

MOST_WAITING = 4_096
"""Spans: some three megabytes."""
BATCH = 512
EVERY_S = 5.0
LONGEST_PAUSE_S = 120.0
POST_S = 5.0
END_S = 1.0
"""What the end of a process may wait for a collector."""
_AGAIN = frozenset({429, 502, 503, 504})
"""Answers after which OTLP has the same sent once more, later. What is refused otherwise is thrown away."""

_log = logging.getLogger("handrail.telemetry")


class Exporter:
    """One process's thread; it begins with the first span. A fork of the process has none of this."""

    def __init__(self, place: CollectorPlace, meters: Meters) -> None:
        self._place = place
        self._meters = meters
        self._waiting: deque[Span] = deque(maxlen=MOST_WAITING)
        self._wake = threading.Event()
        self._is_ending = False
        self._deadline = float("inf")
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._sent: dict[Key, Tally] = {}
        self._sent_ns = time.time_ns()
        self._pause_s = EVERY_S

    def add(self, spans: Iterable[Span]) -> None:
        """Takes microseconds, and never waits."""
        if self._process != os.getpid():
            return  # the thread stayed behind in the parent
        self._waiting.extend(spans)
        self.begin()
        if len(self._waiting) >= BATCH and self._pause_s == EVERY_S:
            self._wake.set()

    def begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
            self._thread.start()

    def close(self, seconds: float = END_S) -> None:
        """Send what is left, for so long at most."""
        if self._thread is None or self._process != os.getpid():
            return
        self._deadline = time.monotonic() + seconds
        self._is_ending = True
        self._wake.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait(self._pause_s)
            self._wake.clear()
            is_last = self._is_ending  # asked before it sends: what comes meanwhile is sent once more
            is_taken = self._send_all()
            self._pause_s = EVERY_S if is_taken else min(self._pause_s * 2, LONGEST_PAUSE_S)

    def _send_all(self) -> bool:
        """Whether the collector has taken everything."""
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            status = self._post("/v1/traces", traces(batch))
            if status in _AGAIN | {None} and len(self._waiting) + len(batch) <= MOST_WAITING:
                self._waiting.extendleft(reversed(batch))
            if not _is_taken(status):
                return False
        now, now_ns = self._meters.snapshot(), time.time_ns()
        if grown := since(now, self._sent):
            if not _is_taken(self._post("/v1/metrics", metrics(grown, self._sent_ns, now_ns))):
                return False  # what was counted stays in the sums, and goes with the next ones
            self._sent, self._sent_ns = now, now_ns
        return True

    def _post(self, path: str, body: bytes) -> int | None:
        """The answer's status; None where there was none."""
        seconds = min(POST_S, self._deadline - time.monotonic())
        try:
            status = post(self._place, path, body, seconds) if seconds > 0 else None
        except OSError as error:
            _log.info("the collector can't be reached: %s", type(error).__name__)
            return None
        if not _is_taken(status):
            _log.info("the collector answers %s with %s", path, status)
        return status


def _is_taken(status: int | None) -> bool:
    return status is not None and status // 100 == 2  # a collector behind a proxy may say 202 or 204
