"""Clock: alarms, the time, a timer and a stopwatch, all on the phone's own clock."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from handrail_sim.apps.clock.alarm_panel import AlarmPanel
from handrail_sim.apps.clock.alarms import open_store
from handrail_sim.apps.clock.countdown import load_countdown, load_stopwatch
from handrail_sim.apps.clock.ringing import arm, rearm
from handrail_sim.apps.clock.stopwatch_panel import StopwatchPanel
from handrail_sim.apps.clock.time_panel import TimePanel
from handrail_sim.apps.clock.timer_panel import TimerPanel
from handrail_sim.system.activities import App
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import clock_time, entries, needed
from handrail_sim.view import View, column, tabs

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context

_TABS = ("Alarm", "Clock", "Timer", "Stopwatch")
_SECOND_MS = 1000


class DeskClock(AlarmPanel, TimePanel, TimerPanel, StopwatchPanel):
    """Four panels behind four tabs; it ticks only while something on the screen moves."""

    title = "Clock"

    def on_create(self) -> None:
        shown = {"android.intent.action.SET_ALARM": 0, "android.intent.action.SET_TIMER": 2}
        self.state.update(tab=shown.get(self.intent.action, 1), open=0, entry="", picker=None, tick=0)

    def build(self) -> View:
        panels = (self.alarm_panel, self.time_panel, self.timer_panel, self.stopwatch_panel)
        return column(
            tabs(_TABS, self.state["tab"], self.show, id="tabs"),
            column(panels[self.state["tab"]](), id="desk_clock_pager", height="wrap", weight=1.0),
            height="fill",
        )

    def show(self, tab: int) -> None:
        self.state["tab"] = tab
        self.tick()

    def pace_ms(self) -> int:
        match _TABS[self.state["tab"]]:
            case "Clock":
                return _SECOND_MS
            case "Timer":
                return _SECOND_MS if load_countdown(self.app).end_ms else 0
            case "Stopwatch":
                return 100 if load_stopwatch(self.app).since_ms else 0
        return 0


class Clock(App):
    """com.google.android.deskclock."""

    package = "com.google.android.deskclock"
    label = "Clock"
    labels = {"de": "Uhr", "es": "Reloj", "zh": "时钟"}
    icon = "clock"
    color = "#3949ab"
    version = "5.3"
    system = True
    activities = {"com.android.deskclock.DeskClock": DeskClock}
    handles = (
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SHOW_ALARMS"),
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SET_ALARM"),
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SET_TIMER"),
    )

    def on_create(self) -> None:
        arm(self)

    @classmethod
    def on_boot(cls, phone: Context) -> None:
        rearm(phone, cls.package)

    def fill(self, given: Any) -> None:
        """Alarms with `time` (07:30), `days` (0 is Sunday), `enabled`, `vibrate`, `label`."""
        alarms = entries(given, "clock", "time days enabled vibrate label")
        store = open_store(self)
        if not alarms.adds:
            for known in store.all():
                store.delete(known.id)
        for number, row in enumerate(alarms.rows):
            needed(row, ("time",), f"clock[{number}]")
            made = store.add(*clock_time(row.pop("time"), f"clock[{number}]"))
            store.change(replace(made, **{**row, "days": tuple(row.get("days", ()))}))
        arm(self)

    def state(self) -> dict[str, Any]:
        """Alarms, timer and stopwatch as they stand now."""
        now = self.phone.wall_ms()
        countdown, watch = load_countdown(self), load_stopwatch(self)
        return {
            "alarms": [
                {**asdict(alarm), "days": list(alarm.days), "time": alarm.time}
                for alarm in open_store(self).all()
            ],
            "timer": {
                "set": bool(countdown.length_ms),
                "running": bool(countdown.end_ms),
                "length_ms": countdown.length_ms,
                "remaining_ms": countdown.remaining(now),
            },
            "stopwatch": {
                "running": bool(watch.since_ms),
                "total_ms": watch.total(now),
                "laps_ms": watch.laps,
            },
        }


APP = Clock
