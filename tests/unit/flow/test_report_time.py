"""Where the time of a flow went: parts that add up, on one phone and on two, and the order of flows."""

from __future__ import annotations

from handrail.flow.report.page import PlacedPicture, touch_marks
from handrail.flow.report.timeline import step_words, time_parts
from handrail.flow.run_record import TimeBook, TimeStretch, time_parts_of
from handrail_sim.clock import ManualClock
from tests.unit.flow.records_made import STARTED_MS, envelope, failing_contact, step, two_phones


def test_the_phases_of_an_action_become_parts_that_add_up() -> None:
    told = envelope("tap", timings_ms={"queue": 1, "permit": 2, "approval": 300, "look": 4, "dispatch": 5,
                                       "settle": 6, "waiting": 70, "other": 2, "total": 390})  # fmt: skip
    parts = time_parts_of(told, 400.0)
    assert parts == {
        "waiting": 1, "engine": 4, "approval": 300, "looking": 4, "acting": 5, "settling": 76, "journal": 10,
    }  # fmt: skip
    assert sum(parts.values()) == 400


def test_sleeping_for_what_was_expected_is_waiting_and_not_settling() -> None:
    told = envelope("tap", timings_ms={"expect": 20, "waiting": 4_900, "total": 4_920})
    assert time_parts_of(told, 4_920.0) == {"waiting": 4_920, "journal": 0}


async def test_a_stretch_is_what_it_is_but_for_what_somebody_knows_better() -> None:
    clock = ManualClock()
    book = TimeBook(clock)
    with book.stretch("launch", "Starting it") as spent:
        await clock.advance(500)
        spent["approval"] = 300.0
    [stretch] = book.stretches
    assert stretch.spent == {"approval": 300.0, "launch": 200.0}
    assert stretch.part == "approval"


def test_a_flow_is_the_sum_of_its_steps_and_of_what_stands_beside_them() -> None:
    record = failing_contact()
    record.stretches.append(TimeStretch("Starting", STARTED_MS, 10.0, {"launch": 10.0}))
    record.stretches.append(TimeStretch("A picture", STARTED_MS, 20.0, {"evidence": 20.0}, path=(1,)))
    parts = time_parts(record)
    assert parts["launch"] == 10.0
    assert parts["evidence"] == 20.0
    assert sum(parts.values()) == sum(one.duration_ms for one in record.steps) + 30


def test_of_phones_at_the_same_time_the_one_that_took_longest_counts() -> None:
    record = two_phones()
    assert sum(time_parts(record).values()) <= record.duration_ms


def test_a_step_says_where_its_own_time_went_the_longest_part_first() -> None:
    one = step(0, "Tap", "tap", ms=100, spent={"acting": 10.0, "settling": 80.0})
    assert step_words(one) == "settling 80 ms, acting 10 ms, handrail itself 10 ms"


def test_a_swipe_is_drawn_as_an_arrow() -> None:
    swiped = step(
        0, "Swipe", "swipe", envelope=envelope("swipe", details={"strokes": [[[540, 1900], [540, 500]]]})
    )
    drawn = "".join(touch_marks(swiped, PlacedPicture("p1", 1080, 2400)))
    assert drawn.count('points="540,1900 540,500"') == 2
    assert "542" not in drawn
    assert 'cx="540" cy="1900"' in drawn
