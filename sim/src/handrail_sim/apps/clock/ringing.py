"""What the clock does when nobody looks: it arms the phone for the next alarm or timer, and rings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from handrail_sim.apps.clock.alarms import open_store
from handrail_sim.apps.clock.countdown import load_countdown

if TYPE_CHECKING:
    from handrail_sim.system.activities import App, Context

_FILE = "ringing"


def arm(app: App) -> None:
    """Look again from now on; an older arming finds its number outdated and does nothing."""
    prefs = app.prefs(_FILE)
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
    if app is None or app.prefs(_FILE).get("armed") != number:
        return
    looked = int(app.prefs(_FILE)["looked_ms"])
    _ring_alarms(app, looked)
    countdown = load_countdown(app)
    if looked < countdown.end_ms <= phone.wall_ms():
        app.notify("Time's up", "Timer", key="timer")
    arm(app)


def _ring_alarms(app: App, looked_ms: int) -> None:
    now = app.phone.wall_ms()
    for alarm in open_store(app).all():
        if not alarm.enabled or alarm.next_ms(looked_ms, app.phone.zone) > now:
            continue
        app.notify(alarm.label or "Alarm", alarm.time, key=f"alarm:{alarm.id}")
        if not alarm.days:
            open_store(app).change(replace(alarm, enabled=False))
