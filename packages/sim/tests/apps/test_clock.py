from __future__ import annotations

from handrail_sim.apps.clock.store import Alarm
from tests.apps.owner import Owner, story

PACKAGE = "com.google.android.deskclock"
DAY_MS = 86_400_000
DELETE = 67


def test_an_alarm_rings_on_its_next_day() -> None:
    thursday_noon = DAY_MS // 2
    assert Alarm(1, 11, 0).next_ms(thursday_noon) == DAY_MS + 11 * 3_600_000
    assert Alarm(1, 11, 0, (4,)).next_ms(thursday_noon) == 7 * DAY_MS + 11 * 3_600_000


@story("clock")
def test_the_time_ticks(person: Owner) -> None:
    person.open(PACKAGE)
    before = person.find("digital_clock").text
    person.wait(1000)
    assert person.find("digital_clock").text != before


@story("clock")
def test_a_clock_that_nobody_looks_at_has_nothing_to_do(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.wait(1000)
    due = person.phone.next_due_ms()
    assert due is None or due - person.clock.monotonic_ms() > 1000


@story("clock")
def test_an_alarm_is_switched_on(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("onoff")
    assert person.find("onoff").checked
    assert [alarm["enabled"] for alarm in person.state(PACKAGE)["alarms"]] == [True, False]


@story("clock")
def test_an_alarm_is_added_with_the_time_picker(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("Add alarm")
    person.tap("7")
    person.tap("35")
    person.tap("PM")
    person.tap("OK")
    assert person.sees("7:35 PM")
    assert (19, 35, True) in [(a["hour"], a["minute"], a["enabled"]) for a in person.state(PACKAGE)["alarms"]]


@story("clock")
def test_a_time_can_be_typed_and_nonsense_is_refused(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("Add alarm")
    person.tap("toggle_mode")
    person.tap("input_minute")
    person.press(DELETE, 2)
    person.write("75")
    person.tap("OK")
    assert person.sees("Enter a valid time")
    person.tap("input_minute")
    person.press(DELETE, 2)
    person.write("07")
    person.tap("OK")
    assert person.sees("9:07 AM")


@story("clock")
def test_an_alarm_rings_while_another_app_is_in_front(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("onoff")
    person.home()
    person.forget_it(8 * DAY_MS)
    assert "8:30 AM" in str(person.phone.state()["notifications"])


@story("clock")
def test_an_open_alarm_takes_days_and_can_be_deleted(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("Expand alarm")
    person.tap("Sunday")
    assert person.state(PACKAGE)["alarms"][0]["days"] == [0, 1, 2, 3, 4, 5]
    person.tap("Delete")
    assert [alarm["time"] for alarm in person.state(PACKAGE)["alarms"]] == ["9:00 AM"]


@story("clock")
def test_a_timer_counts_down_on_the_phones_clock_and_says_when_it_is_over(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Timer")
    for key in ("1", "0", "5"):
        person.tap(key)
    assert person.sees("00h 01m 05s")
    person.tap("Start")
    person.wait(4500)
    person.tap("Pause")
    left = person.state(PACKAGE)["timer"]["remaining_ms"]
    shown = person.find("timer_time_text").text
    assert 58_000 < left < 61_000
    person.wait(60_000)
    assert person.find("timer_time_text").text == shown
    assert person.state(PACKAGE)["timer"]["remaining_ms"] == left
    person.tap("Start")
    person.wait(61_000)
    assert "Time's up" in str(person.phone.state()["notifications"])


@story("clock")
def test_the_stopwatch_measures_and_keeps_laps(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Stopwatch")
    person.tap("Start")
    person.wait(3000)
    person.tap("Lap")
    person.tap("Pause")
    stopped = person.state(PACKAGE)["stopwatch"]
    assert len(stopped["laps_ms"]) == 1
    assert stopped["total_ms"] >= 3000
    person.wait(5000)
    assert person.state(PACKAGE)["stopwatch"] == stopped
    person.tap("Reset")
    assert person.sees("00:00.0")


@story("clock")
def test_an_alarm_is_still_set_after_a_snapshot_and_a_reboot(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("onoff")
    person.phone.snapshot()
    person.tap("onoff")
    person.phone.restore()
    person.phone.reboot()
    person.forget_it(8 * DAY_MS)
    assert "8:30 AM" in str(person.phone.state()["notifications"])


@story("clock")
def test_an_open_time_picker_comes_back_with_a_snapshot(person: Owner) -> None:
    person.open(PACKAGE)
    person.tap("Alarm")
    person.tap("Add alarm")
    person.tap("7")
    person.phone.snapshot()
    person.tap("Cancel")
    person.phone.restore()
    person.wait(500)
    person.tap("15")
    person.tap("OK")
    assert person.sees("7:15 AM")


@story("clock")
def test_the_clock_ticks_once_for_any_time_nobody_looked(person: Owner) -> None:
    person.open(PACKAGE)
    before = len(person.phone.events)
    person.forget_it(DAY_MS)
    assert len(person.phone.events) - before < 10
    assert person.find("digital_clock").text.endswith("PM")
