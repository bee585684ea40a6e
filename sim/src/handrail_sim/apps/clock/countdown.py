"""The one timer and the stopwatch as numbers in the app's preferences. Times are wall clock milliseconds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

_FILE = "com.google.android.deskclock_preferences"


@dataclass(frozen=True, slots=True)
class Countdown:
    """`length_ms` 0: none was set. It runs while `end_ms` is given, else `left_ms` waits."""

    length_ms: int = 0
    left_ms: int = 0
    end_ms: int = 0

    def remaining(self, now_ms: int) -> int:
        """Below zero once it has rung."""
        return self.end_ms - now_ms if self.end_ms else self.left_ms

    def start(self, now_ms: int) -> Countdown:
        return replace(self, end_ms=now_ms + self.left_ms)

    def pause(self, now_ms: int) -> Countdown:
        return replace(self, left_ms=max(0, self.remaining(now_ms)), end_ms=0)

    def add(self, more_ms: int) -> Countdown:
        if self.end_ms:
            return replace(self, end_ms=self.end_ms + more_ms)
        return replace(self, left_ms=self.left_ms + more_ms)

    def reset(self) -> Countdown:
        return Countdown(self.length_ms, self.length_ms)


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """`since_ms` 0: it stands at `kept_ms`. Laps are the totals at which the button was pressed."""

    kept_ms: int = 0
    since_ms: int = 0
    laps: list[int] = field(default_factory=list)

    def total(self, now_ms: int) -> int:
        return self.kept_ms + (now_ms - self.since_ms if self.since_ms else 0)

    def start(self, now_ms: int) -> Stopwatch:
        return replace(self, since_ms=now_ms)

    def pause(self, now_ms: int) -> Stopwatch:
        return replace(self, kept_ms=self.total(now_ms), since_ms=0)

    def lap(self, now_ms: int) -> Stopwatch:
        return replace(self, laps=[*self.laps, self.total(now_ms)])


def load_countdown(app: App) -> Countdown:
    """As it was last kept."""
    return Countdown(**_load(app, "timer"))


def load_stopwatch(app: App) -> Stopwatch:
    """As it was last kept."""
    return Stopwatch(**_load(app, "stopwatch"))


def save(app: App, kept: Countdown | Stopwatch) -> None:
    """Keep it where the app's next process finds it."""
    name = "timer" if isinstance(kept, Countdown) else "stopwatch"
    app.prefs(_FILE)[name] = json.dumps(asdict(kept))


def _load(app: App, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(app.prefs(_FILE).get(name, "{}")))
    return found


def clock_text(duration_ms: int) -> str:
    """4:59 or 1:04:59, rounded up as a countdown shows it; a minus once the time is over."""
    seconds = -(-duration_ms // 1000)
    hours, rest = divmod(abs(seconds), 3600)
    words = f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
    return f"-{words}" if seconds < 0 else words
