"""Where alarms are kept and when they next ring. Knows nothing of screens."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

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
        return twelve_hours(self.hour, self.minute)

    def next_ms(self, now_ms: int, zone: tzinfo = UTC) -> int:
        """The wall clock at which it rings next in this zone, always later than now."""
        now = datetime.fromtimestamp(now_ms / 1000, zone)
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        upcoming = (today + timedelta(days=day) for day in range(9))
        return next(
            int(at.timestamp() * 1000)
            for at in upcoming
            if at > now and (not self.days or at.isoweekday() % 7 in self.days)
        )


def twelve_hours(hour: int, minute: int) -> str:
    """As a phone set to American English writes it."""
    return f"{hour % 12 or 12}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


def days_text(days: tuple[int, ...]) -> str:
    """As the alarm's row says it."""
    if len(days) == 7:
        return "Every day"
    return ", ".join(DAYS[day][:3] for day in days)


class Store:
    """The table of alarms with the two every new clock has (`user_version` marks the seeding)."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create()

    def _create(self) -> None:
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
