"""What the clock stores and rings: alarms in SQLite, the timer and the stopwatch in preferences."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Any

from handrail_sim.system.activities import Activity, App, Context

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True, slots=True)
class Alarm:
    """`days` holds indices into DAYS; without any it rings once."""

    id: int
    hour: int
    minute: int
    days: tuple[int, ...] = ()
    enabled: bool = True
    vibrate: bool = True
    label: str = ""

    @property
    def time(self) -> str:
        return f"{self.hour % 12 or 12}:{self.minute:02d} {'AM' if self.hour < 12 else 'PM'}"

    def next_ms(self, now_ms: int, zone: tzinfo = UTC) -> int:
        now = datetime.fromtimestamp(now_ms / 1000, zone)
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        upcoming = (today + timedelta(days=day) for day in range(9))
        return next(
            int(at.timestamp() * 1000)
            for at in upcoming
            if at > now and (not self.days or at.isoweekday() % 7 in self.days)
        )


def days_text(days: tuple[int, ...]) -> str:
    if len(days) == 7:
        return "Every day"
    return ", ".join(DAYS[day][:3] for day in days)


class Store:
    """The table of alarms with the two every new clock has (`user_version` marks the seeding)."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._database.execute(
                "CREATE TABLE alarm_templates (_id INTEGER PRIMARY KEY AUTOINCREMENT, hour INTEGER NOT NULL, "
                "minutes INTEGER NOT NULL, daysofweek TEXT NOT NULL, enabled INTEGER NOT NULL, "
                "vibrate INTEGER NOT NULL, label TEXT NOT NULL)"
            )
            self._insert(Alarm(0, 8, 30, (1, 2, 3, 4, 5), enabled=False))
            self._insert(Alarm(0, 9, 0, (0, 6), enabled=False))
            self._database.execute("PRAGMA user_version = 1")
            self._database.commit()

    def _insert(self, alarm: Alarm) -> int:
        cursor = self._database.execute(
            "INSERT INTO alarm_templates (hour, minutes, daysofweek, enabled, vibrate, label) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            _columns(alarm),
        )
        return int(cursor.lastrowid or 0)

    def all(self) -> list[Alarm]:
        rows = self._database.execute(
            "SELECT _id, hour, minutes, daysofweek, enabled, vibrate, label FROM alarm_templates "
            "ORDER BY hour, minutes, _id"
        )
        return [
            Alarm(row[0], row[1], row[2], _days(row[3]), bool(row[4]), bool(row[5]), row[6]) for row in rows
        ]

    def get(self, alarm_id: int) -> Alarm | None:
        return next((alarm for alarm in self.all() if alarm.id == alarm_id), None)

    def add(self, hour: int, minute: int) -> Alarm:
        alarm = Alarm(0, hour, minute)
        added = replace(alarm, id=self._insert(alarm))
        self._database.commit()
        return added

    def change(self, alarm: Alarm) -> None:
        self._database.execute(
            "UPDATE alarm_templates SET hour = ?, minutes = ?, daysofweek = ?, enabled = ?, vibrate = ?, "
            "label = ? WHERE _id = ?",
            (*_columns(alarm), alarm.id),
        )
        self._database.commit()

    def delete(self, alarm_id: int) -> None:
        self._database.execute("DELETE FROM alarm_templates WHERE _id = ?", (alarm_id,))
        self._database.commit()


def open_store(app: App) -> Store:
    """The alarms of this app; the file is named as AOSP's clock names it."""
    return Store(app.database("alarms.db"))


def _columns(alarm: Alarm) -> tuple[int, int, str, int, int, str]:
    days = "".join(map(str, alarm.days))
    return alarm.hour, alarm.minute, days, int(alarm.enabled), int(alarm.vibrate), alarm.label


def _days(stored: str) -> tuple[int, ...]:
    return tuple(int(day) for day in stored)


_FILE = "com.google.android.deskclock_preferences"


@dataclass(frozen=True, slots=True)
class Countdown:
    """`length_ms` 0: none was set. It runs while `end_ms` is given, else `left_ms` waits."""

    length_ms: int = 0
    left_ms: int = 0
    end_ms: int = 0

    def remaining(self, now_ms: int) -> int:
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
    return Countdown(**_load(app, "timer"))


def load_stopwatch(app: App) -> Stopwatch:
    return Stopwatch(**_load(app, "stopwatch"))


def save(app: App, saved: Countdown | Stopwatch) -> None:
    name = "timer" if isinstance(saved, Countdown) else "stopwatch"
    app.prefs(_FILE)[name] = json.dumps(asdict(saved))


def _load(app: App, name: str) -> dict[str, Any]:
    matches: dict[str, Any] = json.loads(str(app.prefs(_FILE).get(name, "{}")))
    return matches


def clock_text(duration_ms: int) -> str:
    """4:59 or 1:04:59, rounded up as a countdown shows it; a minus once the time is over."""
    seconds = -(-duration_ms // 1000)
    hours, rest = divmod(abs(seconds), 3600)
    words = f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
    return f"-{words}" if seconds < 0 else words


_RINGING_PREFS = "ringing"


def arm(app: App) -> None:
    """Look again from now on; an older arming finds its number outdated and does nothing."""
    prefs = app.prefs(_RINGING_PREFS)
    now = app.phone.wall_ms()
    number = int(prefs.get("armed", 0)) + 1
    prefs["armed"] = number
    prefs["looked_ms"] = now
    due = _next_ms(app, now)
    if due is not None:
        app.phone.later(due - now, partial(_ring, app.phone, app.package, number))


def rearm(phone: Context, package: str) -> None:
    """After a boot, without starting the app; a clock that was never opened has nothing to ring."""
    if not phone.files.exists(f"/data/data/{package}/databases/alarms.db"):
        return
    app = phone.reading(package)
    if app is not None:
        arm(app)
        if app is not phone.tasks.running.get(package):
            app.close()


def _next_ms(app: App, now_ms: int) -> int | None:
    due = [alarm.next_ms(now_ms, app.phone.zone) for alarm in open_store(app).all() if alarm.enabled]
    countdown = load_countdown(app)
    if countdown.end_ms > now_ms:
        due.append(countdown.end_ms)
    return min(due, default=None)


def _ring(phone: Context, package: str, number: int) -> None:
    app = phone.app(package)
    if app is None or app.prefs(_RINGING_PREFS).get("armed") != number:
        return
    looked = int(app.prefs(_RINGING_PREFS)["looked_ms"])
    now = app.phone.wall_ms()
    for alarm in open_store(app).all():
        if not alarm.enabled or alarm.next_ms(looked, app.phone.zone) > now:
            continue
        app.notify(alarm.label or "Alarm", alarm.time, key=f"alarm:{alarm.id}")
        if not alarm.days:
            open_store(app).change(replace(alarm, enabled=False))
    countdown = load_countdown(app)
    if looked < countdown.end_ms <= phone.wall_ms():
        app.notify("Time's up", "Timer", key="timer")
    arm(app)


class Panel(Activity):
    """`pace_ms` says how often the screen in front changes by itself; 0 is never.

    `state["tick"]` numbers the ticks: whatever was set before the last one is void.
    """

    def pace_ms(self) -> int:
        return 0

    def on_resume(self) -> None:
        self.tick()

    def on_pause(self) -> None:
        self.state["tick"] += 1

    def tick(self) -> None:
        """Sets the next tick, on a full second or tenth; missed ticks are left out."""
        pace = self.pace_ms()
        self.state["tick"] += 1
        if pace:
            late = self.phone.clock.monotonic_ms() - self.phone.now_ms()
            missed = late // pace * pace
            self.later(pace - self.phone.wall_ms() % pace + missed, self.next_tick, self.state["tick"])

    def next_tick(self, number: int) -> None:
        if number == self.state["tick"]:
            self.tick()
