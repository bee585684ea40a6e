"""One phone's date and zone: what shows a time shows that phone's, and nothing else on the host changes."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail_sim.apps.clock.alarms import Alarm
from handrail_sim.clock import ManualClock, zone_of
from handrail_sim.phone import Phone

AUGUST = int(datetime(2023, 8, 15, 15, 34, tzinfo=UTC).timestamp() * 1000)


def test_a_phone_that_is_set_keeps_its_own_date_through_a_snapshot() -> None:
    clock = ManualClock()
    phone, other = Phone(clock=clock, apps=["launcher"]), Phone(clock=clock, apps=["launcher"])
    phone.snapshot()
    phone.wall.set(AUGUST)
    phone.files.write("/sdcard/a", b"")
    assert phone.files.stat("/sdcard/a").mtime == AUGUST // 1000
    assert "15:34" in phone.dump(all_windows=True)
    assert other.wall_ms() == clock.now_ms()
    phone.restore()
    assert phone.wall_ms() == clock.now_ms()


def test_the_zone_moves_the_clock_of_the_status_bar_and_no_alarm_off_its_hour() -> None:
    phone = Phone(clock=ManualClock(AUGUST), apps=["launcher"])
    phone.props["persist.sys.timezone"] = "America/New_York"
    assert "11:34" in phone.dump(all_windows=True)
    due = Alarm(1, 11, 0).next_ms(AUGUST, phone.zone)
    assert datetime.fromtimestamp(due / 1000, phone.zone).strftime("%d %H:%M") == "16 11:00"


def test_a_zone_that_nobody_knows_is_utc() -> None:
    assert zone_of("Middle/Earth") is UTC
    assert zone_of("../etc/passwd") is UTC
