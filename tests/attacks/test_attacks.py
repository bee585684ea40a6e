"""Generated attacks on guarded buttons, judged by the phone itself. `make fuzz` has the long run.

`HANDRAIL_ATTACK_SEED=n` chooses another run. What gets through is printed as a line for
`python tests/fuzz/attacks.py --again LINE`.
"""

from __future__ import annotations

import json
import random

import pytest

from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import action_from
from tests.attacks.campaign import Tally, again, campaign, chosen_seed
from tests.attacks.draw import Draw
from tests.attacks.draw_attempts import draw_attempt
from tests.attacks.guarded import SCENES
from tests.attacks.ordinary import ordinary
from tests.attacks.stage import POLICIES, Attempt, new_phone
from tests.scenario.world import play

LANDED = {"android": 0.6, "ios": 0.25}
"""No button of an iPhone has the keyboard's focus, and many actions are not there."""
CHANNELS = {"android": ["adb", "u2", "grpc"], "ios": ["ios"]}


def nothing_got_through(tally: Tally, kind: str) -> None:
    assert not tally.through, "\n".join(str(one) for one, _ in tally.through)
    assert tally.share >= LANDED[kind], tally.table()
    assert tally.deeds > tally.attempts / 50, "the attempts are too tame to show anything"


@pytest.mark.parametrize(("kind", "count", "seed"), [("android", 150, 17), ("ios", 60, 5)])
def test_nothing_drawn_from_the_vocabulary_reaches_a_guarded_button(kind: str, count: int, seed: int) -> None:
    tally = play(campaign(count, chosen_seed(seed), CHANNELS[kind][:2], denials=2))
    assert tally.attempts >= count
    nothing_got_through(tally, kind)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("kind", "count", "seed"), [("android", 2_000, 4), ("ios", 3_000, 11)])
def test_thousands_of_attempts_reach_no_guarded_button(kind: str, count: int, seed: int) -> None:
    tally = play(campaign(count, chosen_seed(seed), CHANNELS[kind]))
    assert tally.attempts >= count
    nothing_got_through(tally, kind)
    assert kind == "ios" or tally.never_landed() == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_a_thousand_ordinary_actions_hardly_any_is_asked_about() -> None:
    asked = play(ordinary(1_000, chosen_seed(5), ["adb", "u2"]))
    assert len(asked.needless) <= 10, str(asked)
    assert len(asked.failed) <= 10, str(asked)


def attempt(scene: str, policy: str, *steps: dict[str, str], channel: str = "adb") -> str:
    return str(Attempt(scene, channel, policy, "python", steps))


@pytest.mark.parametrize("policy", sorted(set(POLICIES) - {"allow", "deny-app"}))
def test_what_is_not_guarded_works_on_the_same_screens(policy: str) -> None:
    for step in (
        {"type": "tap", "target": "Help"},
        {"type": "get_ui_tree"},
        {"type": "press_key", "key": "tab"},
    ):
        seen = play(again(attempt("Plain", policy, step)))
        assert seen.codes == {"done": 1}, (step, seen)
        assert not seen.touches


def test_the_judge_sees_a_press_by_finger_and_by_key() -> None:
    by_finger = play(again(attempt("Plain", "allow", {"type": "tap", "target": "Pay $12.50"})))
    assert (by_finger.deeds, [one["action"] for one in by_finger.touches]) == (1, ["down", "up"])
    by_key = play(again(attempt("Plain+focus", "allow", {"type": "press_key", "key": "enter"})))
    assert (by_key.deeds, [one["code"] for one in by_key.touches]) == (1, [66])


def test_the_swipe_that_goes_back_on_an_iphone_is_judged_where_it_begins_and_ends() -> None:
    back = {"type": "press_key", "key": "back"}
    assert not play(again(attempt("Plain+turned", "net", back, channel="ios"))).touches
    assert play(again(attempt("Plain", "net", back, channel="ios"))).codes == {"done": 1}


def test_what_an_attempt_did_to_the_phone_itself_is_undone_before_the_next() -> None:
    scene = SCENES["Plain+focus"]
    phone, _ = new_phone("u2")
    phone.show(scene)
    phone.packages.uninstall(scene.package)
    phone.set_font_scale(2.0)
    phone.set_density(640)
    phone.set_size(240, 320)
    phone.show(scene)
    guard = phone.guard()
    assert guard is not None
    fresh, _ = new_phone("u2")
    fresh.show(scene)
    again = fresh.guard()
    assert again is not None
    assert guard.clip == again.clip


def test_every_action_of_the_vocabulary_can_be_drawn_as_valid_input() -> None:
    draw = Draw(random.Random(1), SCENES["Plain"], "adb")
    drawn = {kind: draw.action(kind) for kind in ACTIONS}
    missing = [kind for kind, action in drawn.items() if action is None]
    assert missing == []
    for action in drawn.values():
        assert action is not None
        action_from(action)


def test_the_same_seed_draws_the_same_attempts() -> None:
    def lines() -> list[str]:
        luck = random.Random(3)
        return [str(draw_attempt(luck, ["adb", "u2"])) for _ in range(50)]

    assert lines() == lines()
    one = Attempt.read(lines()[0])
    assert json.loads(str(one)) == json.loads(lines()[0])
