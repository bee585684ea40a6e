"""One phone's date and zone: what shows a time shows that phone's, and nothing else on the host changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from handrail_sim.apps.clock.store import Alarm, open_store
from handrail_sim.clock import ManualClock, zone_of
from handrail_sim.phone import Phone
from tests.apps.owner import Owner
from tests.shell_person import out, shell

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


def as_root(phone: Phone) -> None:
    phone.props |= {"ro.debuggable": "1", "service.adb.root": "1"}


def test_only_root_sets_the_date_and_only_of_its_own_phone() -> None:
    clock = ManualClock()
    phone, other = Phone(clock=clock, apps=["launcher"]), Phone(clock=clock, apps=["launcher"])
    refused = shell("date 1015153423.00", phone=phone)
    assert (refused.status, refused.errors) == (1, "date: cannot set date: Operation not permitted\n")
    assert phone.wall_ms() == clock.now_ms()
    as_root(phone)
    assert out("date 1015153423.00", phone=phone) == "Sun Oct 15 15:34:00 UTC 2023\n"
    assert out("date +%Y", phone=phone) == "2023\n"
    assert other.wall_ms() == clock.now_ms()


def test_the_zone_is_set_by_the_alarm_service_and_a_wrong_one_is_thrown_back() -> None:
    phone = Phone(clock=ManualClock(AUGUST), apps=["launcher"])
    assert out("service call alarm 3 s16 Asia/Tokyo", phone=phone) == "Result: Parcel(00000000    '....')\n"
    assert out("date", phone=phone) == "Wed Aug 16 00:34:00 JST 2023\n"
    assert out("date -u", phone=phone) == "Tue Aug 15 15:34:00 UTC 2023\n"
    assert "M.i.d.d.l.e./." in out("service call alarm 3 s16 Middle/Earth", phone=phone)
    assert out("getprop persist.sys.timezone", phone=phone) == "Asia/Tokyo\n"
    out("cmd alarm set-timezone Europe/Paris", phone=phone)
    assert out("date +%H:%M", phone=phone) == "17:34\n"
    assert "SecurityException" in shell("cmd alarm set-time 0", phone=phone).errors
    as_root(phone)
    out(f"cmd alarm set-time {AUGUST + 60_000}", phone=phone)
    assert out("date +%H:%M", phone=phone) == "17:35\n"


def test_an_alarm_rings_by_the_date_that_was_set() -> None:
    owner = Owner("clock")
    owner.open("com.google.android.deskclock")
    store = open_store(owner.phone.tasks.running["com.google.android.deskclock"])
    alarm = store.all()[0]
    store.change(replace(alarm, enabled=True, hour=12, minute=0, days=()))
    noon = owner.phone.local().replace(hour=11, minute=59, second=50)
    owner.phone.set_date(int(noon.timestamp() * 1000))
    owner.wait(15_000)
    assert any(one["title"] == (alarm.label or "Alarm") for one in owner.phone.state()["notifications"])
