"""The guard alone: what it calls a circle, and what it leaves in peace."""

from __future__ import annotations

from handrail_agent.history import PATIENT_REPEATS, Moment, StuckGuard
from tests.cases import each


def walk(guard: StuckGuard, *trail: tuple[int, str], now: int) -> str:
    """Every step with its warning asked for first, as a run does; the warning at the end of the trail."""
    for place, act in trail:
        guard.warning(place)
        guard.note(Moment(place, act))
    return guard.warning(now)


def test_once_is_no_circle() -> None:
    assert walk(StuckGuard(), (1, "tap"), now=1) == ""


def test_the_same_act_without_effect_is_told_after_two_and_refused_as_the_third() -> None:
    guard = StuckGuard()
    assert "2 times" in walk(guard, (1, "tap"), (1, "tap"), now=1)
    assert guard.stuck(Moment(1, "tap"))
    assert not guard.stuck(Moment(1, "swipe"))
    assert not guard.stuck(Moment(2, "tap"))


def test_an_act_that_changes_the_screen_may_be_repeated_for_ever() -> None:
    guard = StuckGuard()
    for place in range(40):
        assert guard.warning(place) == ""
        assert not guard.stuck(Moment(place, "tap +"))
        guard.note(Moment(place, "tap +"))


def test_waiting_is_given_more_patience() -> None:
    guard = StuckGuard()
    for _ in range(PATIENT_REPEATS - 1):
        guard.note(Moment(1, "wait", waits=True))
        assert guard.warning(1) == ""
    guard.note(Moment(1, "wait", waits=True))
    assert guard.warning(1)
    assert guard.stuck(Moment(1, "wait", waits=True))


@each("length", [2, 3, 4])
def test_a_round_that_was_walked_twice_is_told_and_a_third_refused(length: int) -> None:
    guard = StuckGuard()
    lap = [(place, f"act {place}") for place in range(1, length + 1)]
    assert walk(guard, *lap, now=1) == ""
    assert f"circle of {length}" in walk(guard, *lap, now=1)
    assert guard.stuck(Moment(1, "act 1"))
    assert not guard.stuck(Moment(1, "another way"))


def test_two_acts_in_turn_on_a_screen_that_stays_are_a_round_too() -> None:
    guard = StuckGuard()
    assert walk(guard, (1, "a"), (1, "b"), (1, "a"), (1, "b"), now=1)
    assert guard.stuck(Moment(1, "a"))


def test_the_same_screens_with_other_acts_are_given_one_round_more() -> None:
    guard = StuckGuard()
    trail = [(1 + number % 2, f"act {number}") for number in range(6)]
    assert walk(guard, *trail[:4], now=1) == ""
    assert "came 3 times" in walk(guard, *trail[4:], now=1)
    assert not guard.stuck(Moment(1, "act 6"))
    guard.note(Moment(1, "act 6"))
    guard.note(Moment(2, "act 7"))
    assert guard.stuck(Moment(1, "act 8"))


def test_visiting_one_page_after_the_other_from_a_menu_is_no_circle() -> None:
    guard = StuckGuard()
    trail = [step for page in range(2, 12) for step in ((1, f"open {page}"), (page, "back"))]
    for place, act in trail:
        assert guard.warning(place) == ""
        assert not guard.stuck(Moment(place, act))
        guard.note(Moment(place, act))


def test_a_word_from_a_person_begins_a_new_trail() -> None:
    guard = StuckGuard()
    walk(guard, (1, "tap"), (1, "tap"), now=1)
    guard.forget()
    assert guard.warning(1) == ""
    assert not guard.stuck(Moment(1, "tap"))
