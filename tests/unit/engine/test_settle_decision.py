"""The judge of a wait, without any phone: each rule at its very millisecond."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from handrail.engine.settle import CaptureAgain, Decision, SettleDone, SettleEvidence, SettleState, decide
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot
from handrail.screen.node import Screen
from handrail.surface.values import Synced
from tests.cases import each
from tests.unit.engine.scripted import page
from tests.unit.screen.drawn import node

CALM = page()
MOVED = page(title="Another page")
SPINNER = node("ProgressBar", box=(500, 1200, 580, 1280), resource_id="app:id/spinner")
LOADING = page(extra=SPINNER)
WORDS = page(extra=SPINNER + node("TextView", text="Please wait", box=(0, 1300, 900, 1400)))
BUSY = Synced("react_native", ("hermes",), 700.0, True, ("fetch",))
IDLE = Synced("react_native", ("hermes",), 5.0, True)


def look(began: float, ended: float | None = None, screen: Screen = CALM) -> UiSnapshot:
    """At 1,000 ms the wait began; a read takes 2 ms unless told."""
    began += 1_000
    return UiSnapshot(ScreenAnalysis(screen), began, began + 2 if ended is None else ended + 1_000)


def evidence(began: float, ended: float | None = None, screen: Screen = CALM, **told: bool) -> SettleEvidence:
    """A look at the same content as the last one, and nothing else to tell of it."""
    plain = {one.name: one.name == "is_same" for one in fields(SettleEvidence) if one.name != "snapshot"}
    return SettleEvidence(look(began, ended, screen), **{**plain, **told})


def waiting(
    *, budget: float = 10_000, loading: float = 8_000, patience: float = 0, follows: bool = True
) -> SettleState:
    return SettleState(1_000, 1_000 + budget, loading, 1_000 + patience, follows)


def judged(start: SettleState, *evidences: SettleEvidence) -> tuple[SettleState, Decision]:
    """After the last one of them; all others must ask for one more look."""
    for one in evidences[:-1]:
        start, decision = decide(start, one)
        assert isinstance(decision, CaptureAgain)
    return decide(start, evidences[-1])


def decision(start: SettleState, *evidences: SettleEvidence) -> Decision:
    return judged(start, *evidences)[1]


def reason(start: SettleState, *evidences: SettleEvidence) -> str | None:
    made = decision(start, *evidences)
    return made.reason if isinstance(made, SettleDone) else None


def again(start: SettleState, *evidences: SettleEvidence) -> CaptureAgain:
    made = decision(start, *evidences)
    assert isinstance(made, CaptureAgain)
    return made


# rest


@pytest.mark.parametrize(("began", "rests"), [(101.9, None), (102, "quiet")])
def test_a_hundred_milliseconds_after_the_first_look_at_it_had_ended_it_is_quiet(
    began: float, rests: str | None
) -> None:
    assert reason(waiting(), evidence(0), evidence(began)) == rests


def test_one_look_is_no_rest() -> None:
    assert reason(waiting(), evidence(0)) is None


@pytest.mark.parametrize(("began", "rests"), [(149.9, None), (150, "quiet")])
def test_a_screen_as_before_gets_its_grace_from_the_start(began: float, rests: str | None) -> None:
    assert reason(waiting(), evidence(0), evidence(began, is_as_before=True)) == rests


def test_the_grace_never_shortens_the_quiet() -> None:
    late = (evidence(70), evidence(160, is_as_before=True))
    assert reason(waiting(), *late) is None
    assert reason(waiting(), late[0], evidence(172, is_as_before=True)) == "quiet"


def test_a_change_begins_the_quiet_anew() -> None:
    changed = evidence(90, screen=MOVED, is_same=False)
    assert reason(waiting(), evidence(0), changed, evidence(191)) is None
    assert reason(waiting(), evidence(0), changed, evidence(192)) == "quiet"


def frames(*ended: float) -> list[SettleEvidence]:
    return [evidence(at - 2, is_same=False) for at in ended]


@each(
    ("ended", "window"),
    [
        ((0, 100, 200), 140),  # two paces of 100 ms: the next frame may be late
        ((0, 60, 160), 140),  # the slower pace counts, be it the last one
        ((0, 100, 160), 140),  # or the one before
        ((0, 20, 40), 100),  # never less than the usual quiet
        ((0, 150, 300), 210),
        ((0, 150, 300.5), 100),  # so slow are no frames
        ((0, 160, 260), 100),
        ((0, 100), 100),  # one change is no pace
    ],
)
def test_frames_of_an_animation_are_waited_for_at_their_own_pace(
    ended: tuple[float, ...], window: float
) -> None:
    over = ended[-1] + window
    assert reason(waiting(), *frames(*ended), evidence(over - 0.1)) is None
    assert reason(waiting(), *frames(*ended), evidence(over)) == "quiet"


def test_a_helper_that_heard_nothing_ends_the_wait_at_once() -> None:
    assert reason(waiting(), evidence(0, is_helper_idle=True)) == "quiet"


@each(("ended", "waits", "rests"), [(400, True, "quiet"), (399.9, True, None), (400, False, None)])
def test_a_slow_answer_of_a_channel_that_waits_for_idle_is_quiet(
    ended: float, waits: bool, rests: str | None
) -> None:
    assert reason(waiting(), evidence(0, ended, waits_for_idle=waits)) == rests


@each(
    ("screen", "restless", "rests"),
    [(MOVED, True, "volatile"), (MOVED, False, "quiet"), (CALM, True, "quiet")],
)
def test_a_rest_that_left_something_out_is_called_volatile(
    screen: Screen, restless: bool, rests: str
) -> None:
    assert reason(waiting(), evidence(0), evidence(102, screen=screen, has_volatile=restless)) == rests


@each(("ended", "endless", "learns"), [(1_200, 1, True), (1_199.9, 1, False), (1_200, 0, False)])
def test_what_moves_for_ever_is_learned_when_no_transition_lasts_so_long(
    ended: float, endless: bool, learns: bool
) -> None:
    made = decision(waiting(), evidence(0), evidence(1_190, ended, is_same=False, is_endless=bool(endless)))
    assert made.learns is learns
    assert isinstance(made, SettleDone) is learns
    assert not isinstance(made, SettleDone) or made.reason == "volatile"


def test_what_is_quiet_teaches_nothing() -> None:
    assert not decision(waiting(), evidence(0), evidence(1_300, is_endless=True)).learns


def test_what_moves_for_ever_is_learned_although_a_proof_is_still_waited_for() -> None:
    made = decision(waiting(patience=5_000), evidence(0), evidence(1_300, is_same=False, is_endless=True))
    assert isinstance(made, CaptureAgain)
    assert made.learns


def test_what_moves_for_ever_is_learned_at_the_end_of_the_budget_too() -> None:
    made = decision(
        waiting(budget=1_300, patience=5_000), evidence(0), evidence(1_300, is_same=False, is_endless=True)
    )
    assert made == SettleDone("budget", 0.0, learns=True)


# proof


@pytest.mark.parametrize(("began", "rests"), [(19.9, None), (20, "verified")])
def test_a_proof_counts_when_it_still_holds_twenty_milliseconds_later(
    began: float, rests: str | None
) -> None:
    assert reason(waiting(), evidence(0, is_met=True), evidence(began, is_met=True)) == rests


def test_a_proof_that_came_later_is_counted_from_there() -> None:
    seen = (evidence(0), evidence(30, is_met=True))
    assert reason(waiting(), *seen, evidence(49.9, is_met=True)) is None
    assert reason(waiting(), *seen, evidence(50, is_met=True)) == "verified"


def test_a_proof_on_other_content_is_another_proof() -> None:
    seen = (evidence(0, is_met=True), evidence(10, is_same=False, is_met=True))
    assert reason(waiting(), *seen, evidence(29.9, is_met=True)) is None
    assert reason(waiting(), *seen, evidence(30, is_met=True)) == "verified"


@pytest.mark.parametrize("is_same", [True, False])
def test_a_proof_that_does_not_last_is_forgotten(is_same: bool) -> None:
    flash = (evidence(0, is_met=True), evidence(10, is_same=is_same))
    assert judged(waiting(), *flash)[0].proved is None
    assert reason(waiting(), *flash, evidence(21, is_met=True)) is None


def test_a_slow_answer_of_a_patient_channel_proves_at_once() -> None:
    assert reason(waiting(), evidence(0, 400, is_met=True, waits_for_idle=True)) == "verified"


@pytest.mark.parametrize(("patience", "rests"), [(302, "quiet"), (302.1, None)])
def test_quiet_without_the_proof_is_enough_only_when_patience_ends(
    patience: float, rests: str | None
) -> None:
    assert reason(waiting(patience=patience), evidence(0), evidence(300)) == rests


def test_quiet_before_the_second_look_at_the_proof_is_enough() -> None:
    """It rests, and the proof is there: nothing more is to come."""
    assert reason(waiting(patience=5_000), evidence(0), evidence(300, is_met=True)) == "quiet"


# budgets


@pytest.mark.parametrize(("ended", "rests"), [(499.9, None), (500, "budget")])
def test_the_budget_ends_a_wait(ended: float, rests: str | None) -> None:
    moving = evidence(490, ended, is_same=False)
    assert reason(waiting(budget=500), evidence(0), moving) == rests


def test_a_screen_at_rest_that_loads_is_waited_for_and_what_for_is_told() -> None:
    known, made = judged(waiting(), evidence(0, screen=WORDS), evidence(300, screen=WORDS))
    assert isinstance(made, CaptureAgain)
    assert known.loading == 'spinner, "Please wait"'
    known, made = judged(known, evidence(400))
    assert made == SettleDone("quiet", 3_000.0)
    assert known.loading == 'spinner, "Please wait"'


def test_a_moving_screen_that_loads_waits_for_rest_first() -> None:
    known, _ = judged(waiting(), evidence(0, screen=LOADING))
    assert (known.loading, known.loading_since_ms) == (None, None)


def loads(at: float) -> SettleEvidence:
    return evidence(at, screen=LOADING)


@pytest.mark.parametrize(("at", "rests"), [(799.9, None), (800, "loading")])
def test_loading_has_a_budget_of_its_own(at: float, rests: str | None) -> None:
    """From 302 ms on it loads, and the other budget stands still."""
    assert reason(waiting(budget=400, loading=500), loads(0), loads(300), loads(500), loads(at)) == rests


def test_time_that_was_spent_on_loading_is_given_back_to_the_budget() -> None:
    seen = (loads(0), loads(300), loads(500), evidence(600, is_same=False))
    known, _ = judged(waiting(budget=700), *seen)
    assert known.deadline_ms == 1_000 + 700 + 300
    assert known.loading_left_ms == 8_000 - 300
    assert reason(known, evidence(997.9, is_same=False)) is None
    assert reason(known, evidence(998, is_same=False)) == "budget"


def test_without_an_action_loading_is_taken_from_the_one_budget() -> None:
    seen = (loads(0), loads(300), loads(397.9))
    assert reason(waiting(budget=400, follows=False), *seen) is None
    assert reason(waiting(budget=400, follows=False), *seen, loads(398)) == "loading"


def test_a_wait_for_a_proof_is_no_wait_for_loading() -> None:
    known, made = judged(waiting(patience=5_000), loads(0), loads(300))
    assert isinstance(made, CaptureAgain)
    assert known.loading_since_ms is None
    assert reason(waiting(patience=5_000, budget=302), loads(0), loads(300)) == "budget"


# the next look


def test_the_gap_doubles_while_nothing_changes_up_to_a_fifth_of_a_second() -> None:
    seen = [evidence(0, is_as_before=True)]
    known, made = decide(waiting(patience=5_000), seen[0])
    gaps = [known.gap_ms]
    for at in range(300, 900, 100):
        known, made = decide(known, evidence(at))
        assert isinstance(made, CaptureAgain)
        gaps.append(made.gap_ms)
    assert gaps == [20, 40, 80, 160, 200, 200, 200]


def test_a_change_brings_the_gap_back() -> None:
    seen = (evidence(0), evidence(20), evidence(60), evidence(70, is_same=False))
    assert again(waiting(), *seen).gap_ms == 20


def test_a_look_that_a_helper_vouched_for_followed_no_gap() -> None:
    assert again(waiting(patience=900), evidence(0), evidence(20, is_helper_idle=True)).gap_ms == 20


def test_far_from_the_moment_that_decides_the_gap_counts() -> None:
    made = again(waiting(), evidence(0))
    assert (made.due_ms, made.reach_ms) == (1_102, 32)
    assert made.after_ms(1_069.9) == 20
    assert made.after_ms(1_070) == 32


def test_a_look_just_before_the_moment_that_decides_is_put_off_to_it() -> None:
    made = again(waiting(), evidence(0, 5), evidence(40, 50))
    assert (made.gap_ms, made.due_ms, made.reach_ms) == (40, 1_105, 70)
    assert made.after_ms(1_050) == 55


def test_a_moment_that_has_passed_is_not_waited_for() -> None:
    assert again(waiting(), evidence(0)).after_ms(1_200) == 0


def test_after_the_moment_of_quiet_only_the_gap_counts() -> None:
    made = again(waiting(patience=5_000), evidence(0), evidence(102))
    assert made.due_ms is None
    assert made.after_ms(1_104) == made.gap_ms == 40


def test_the_grace_decides_where_nothing_happened() -> None:
    assert again(waiting(), evidence(0, is_as_before=True)).due_ms == 1_150


def test_a_proof_is_looked_at_again_after_twenty_milliseconds_or_a_shorter_gap() -> None:
    made = again(waiting(), evidence(0, 3), evidence(40, is_met=True))
    assert (made.due_ms, made.reach_ms) == (1_060, 40)
    assert made.after_ms(1_042) == 18
    assert made.after_ms(1_019.9) == 40


def test_a_second_look_at_the_same_content_or_a_proof_may_be_the_last_but_one() -> None:
    assert not again(waiting(), evidence(0)).is_likely_last
    assert again(waiting(), evidence(0), evidence(20)).is_likely_last
    assert not again(waiting(), evidence(0), evidence(20, is_same=False)).is_likely_last
    assert again(waiting(), evidence(0, is_met=True)).is_likely_last


# the app's own framework


def test_the_framework_may_be_asked_for_three_seconds_in_all() -> None:
    start = waiting()
    assert decision(start, evidence(0, is_helper_idle=True)) == SettleDone("quiet", 3_000.0)
    spent = replace(start, probes=(BUSY, IDLE))
    assert decision(spent, evidence(0, is_helper_idle=True)) == SettleDone("quiet", 2_295.0)
    over = replace(start, probes=(replace(BUSY, ms=3_100.0),))
    assert decision(over, evidence(0, is_helper_idle=True)) == SettleDone("quiet", 0.0)


def test_a_framework_at_rest_changes_nothing_but_the_report() -> None:
    known, _ = judged(waiting(), evidence(0), evidence(40, is_met=True))
    assert known.synced(IDLE) == replace(known, probes=(IDLE,))


def test_after_a_framework_was_waited_for_everything_is_looked_at_anew() -> None:
    known, _ = judged(waiting(), evidence(0), evidence(40, is_met=True))
    later = known.synced(IDLE).synced(BUSY)
    assert later.probes == (IDLE, BUSY)
    assert later.deadline_ms == known.deadline_ms + 700
    assert (later.first, later.proved, later.gap_ms) == (None, None, 20)
    known, made = decide(later, evidence(800, is_met=True))
    assert isinstance(made, CaptureAgain)
    assert made.gap_ms == 20
    assert known.proved is known.first is not None
    assert reason(known, evidence(820, is_met=True)) == "verified"
