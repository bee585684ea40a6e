"""A batch is one transaction: validated whole, applied whole, told as one change."""

from __future__ import annotations

import pytest

from handrail.desk.state import CaptureAsked, state_json
from handrail.errors import ActionRejected, InvalidAction
from tests.unit.desk.scene import Scene, action, applied, creating


def test_one_bad_action_and_nothing_is_applied() -> None:
    scene = Scene("a")
    before = scene.state
    with pytest.raises(InvalidAction) as caught:
        scene.batch(
            creating("b"), action("window.close", windowId="a"), action("window.focus", windowId="nobody")
        )
    assert scene.state is before
    assert (caught.value.details["index"], caught.value.details["path"]) == (2, "[2].windowId")


def test_a_rejection_in_a_batch_names_index_and_holder() -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    with pytest.raises(ActionRejected) as caught:
        scene.batch(creating("b"), action("window.close", windowId="a"), by="bob")
    assert (caught.value.details["index"], caught.value.details["holder"]) == (1, "ada")


def test_later_actions_see_what_earlier_ones_did() -> None:
    scene = Scene()
    reduced = scene.batch(
        creating("a"),
        action("window.setTitle", windowId="a", title="new"),
        action("window.minimize", windowId="a"),
        action("window.minimize", windowId="a"),
    )
    assert scene.window("a").title == "new"
    assert reduced.details == ({"key": "monitor-0/a"}, {}, {}, {"no_op": True})


def test_a_batch_is_told_as_one_change() -> None:
    scene = Scene("a", "b")
    before = state_json(scene.state)
    reduced = scene.batch(
        action("window.close", windowId="a"), creating("a", (5, 5, 300, 200)), creating("c"),
        action("window.close", windowId="c"), action("window.move", windowId="b", x=9, y=9),
        action("window.move", windowId="b", x=10, y=10),
    )  # fmt: skip
    assert applied(before, reduced.changes) == state_json(scene.state)
    assert reduced.changes["windows"]["monitor-0/b"] == {"bounds": {"x": 10, "y": 10, "w": 480, "h": 320}}
    assert reduced.changes["windows"]["monitor-0/c"] is None


def test_a_capture_is_left_for_after_the_batch_with_its_index() -> None:
    scene = Scene("a")
    reduced = scene.batch(action("window.capture", windowId="a", requestId="r"), creating("b"))
    assert reduced.effects == ((0, CaptureAsked("monitor-0/a", "r")),)
