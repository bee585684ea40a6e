from __future__ import annotations

from tests.apps.owner import Owner, story
from tests.shell_person import out

PACKAGE = "com.google.android.calendar"
EVENTS = "content query --uri content://com.android.calendar/events --projection title:dtstart:dtend"


@story("calendar")
def test_an_event_that_was_typed_is_in_the_provider(owner: Owner) -> None:
    owner.open(PACKAGE)
    owner.tap("Create new event")
    owner.type("Tea with Ada", "title")
    owner.tap("Save")
    hour = 3_600_000
    start = owner.phone.wall_ms() // hour * hour + hour
    words = f"Row: 0 title=Tea with Ada, dtstart={start}, dtend={start + hour}\n"
    assert out(EVENTS, phone=owner.phone) == words
    assert owner.sees("Tea with Ada")


@story("calendar")
def test_the_state_tells_what_an_event_says_of_itself(owner: Owner) -> None:
    owner.phone.give({"calendar": [{"title": "Regatta", "description": "Bring oars", "all_day": True}]})
    [event] = owner.phone.state()["apps"][PACKAGE]["events"]
    assert (event["description"], event["all_day"]) == ("Bring oars", True)


@story("calendar")
def test_an_intent_fills_the_form_and_a_bad_time_is_refused(owner: Owner) -> None:
    owner.phone.start_activity(
        action="android.intent.action.INSERT",
        mime="vnd.android.cursor.dir/event",
        extras={"title": "Dentist", "beginTime": 1_710_068_400_000, "eventLocation": "Larkspur"},
    )
    owner.wait(1000)
    for _ in range(5):
        owner.tap("start_time")
        owner.phone.key(67)
    owner.hide_keyboard()
    owner.tap("Save")
    assert owner.sees("Dates are written YYYY-MM-DD, times HH:MM")
    owner.type("09:30", "start_time")
    owner.tap("Save")
    assert "title=Dentist" in out(EVENTS, phone=owner.phone)


@story("calendar")
def test_an_event_of_the_provider_is_shown_and_can_be_deleted(owner: Owner) -> None:
    soon = owner.phone.wall_ms() + 7_200_000
    out(
        "content insert --uri content://com.android.calendar/events --bind calendar_id:i:1 "
        f"--bind title:s:Ferry --bind dtstart:l:{soon} --bind dtend:l:{soon + 60_000}",
        phone=owner.phone,
    )
    owner.open(PACKAGE)
    owner.tap("Ferry")
    owner.tap("Delete")
    owner.tap("Delete")
    assert out(EVENTS, phone=owner.phone) == "No result found.\n"
