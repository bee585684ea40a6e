"""From journalled actions to the steps of a flow: what is kept, in which words, and what is one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.flow.document import loads
from handrail.flow.recording import RecordedStep, Recording, recorded_step
from handrail.journal.query import ShownAction
from handrail.protocol.device import Drag, PressKey, TypeText
from handrail.protocol.flow import Step
from handrail.protocol.target import Selector

SAVE = {
    "selector": {"id": "save"},
    "element": {"package": "com.example.app", "class": "Button", "text": "Save", "bounds": [0, 0, 10, 10]},
}
NAME = {
    "selector": {"hint": "Name"},
    "element": {"class": "EditText", "text": "Name", "bounds": [0, 50, 10, 60]},
}
PIN = {"selector": {"id": "pin"}, "element": {"class": "EditText", "id": "login_pin"}}


def done(
    action: dict[str, Any],
    robust: dict[str, Any] | None = None,
    *,
    landmark: dict[str, str] | None = None,
    success: bool = True,
    **more: Any,
) -> ShownAction:
    """An action as the journal shows it; `more` stands in its envelope."""
    envelope: dict[str, Any] = {"success": success, "action_type": action["type"], **more}
    events: list[dict[str, Any]] = [
        {"kind": "accepted", "action": action},
        {"kind": "resolved", **({"robust": robust} if robust else {})},
        {"kind": "verified", "terminal": True, **({"landmark": landmark} if landmark else {})},
    ]
    return ShownAction("x_1_1", events, envelope)


def told(*args: Any, **more: Any) -> RecordedStep:
    step = recorded_step(done(*args, **more))
    assert step is not None
    return step


def recorded(*shown: ShownAction) -> Recording:
    made = Recording()
    for one in shown:
        made.add_action(one)
    return made


def recording(*shown: ShownAction) -> list[Any]:
    return [step.action for step in recorded(*shown).steps]


class TestOneStep:
    def test_a_ref_becomes_the_selector_that_was_drawn(self) -> None:
        step = told({"type": "tap", "target": {"ref": "@b1"}, "reason": "I save"}, {"target": SAVE})
        assert step.action.to_dict() == {"type": "tap", "target": {"id": "save"}}
        assert step.element == SAVE["element"]

    def test_a_point_on_an_element_becomes_its_selector(self) -> None:
        assert told({"type": "tap", "target": {"x": 5, "y": 5}}, {"target": SAVE}).action.to_dict() == {
            "type": "tap",
            "target": {"id": "save"},
        }

    def test_a_point_on_nothing_that_has_a_name_stays(self) -> None:
        step = told({"type": "tap", "target": {"x": 5, "y": 5}})
        assert step.action.to_dict()["target"] == {"x": 5, "y": 5}
        assert step.element is None

    def test_where_nothing_was_drawn_the_envelope_helps(self) -> None:
        found = {"resource_id": "com.example.app:id/save", "text": "Save"}
        step = told({"type": "tap", "target": {"ref": "@b1"}}, target={"resolved": found})
        assert step.action.to_dict()["target"] == {"id": "save"}

    def test_what_a_field_held_does_not_name_it(self) -> None:
        found = {"class": "android.widget.EditText", "text": "Ada", "accessibility_id": "First name"}
        step = told({"type": "clear_text", "target": {"ref": "@f1"}}, target={"resolved": found})
        assert step.action.to_dict()["target"] == {"description": "First name"}

    def test_a_selector_that_holds_a_secret_is_not_used(self) -> None:
        drawn = {**SAVE, "selector": {"text": "Hello ${secret:ME}"}}
        step = told({"type": "tap", "target": {"text": "Hello you"}}, {"target": drawn})
        assert step.action.to_dict()["target"] == {"text": "Hello you"}

    def test_a_ref_that_nobody_can_say_more_about_is_left_out(self) -> None:
        assert recorded_step(done({"type": "tap", "target": {"ref": "@b1"}})) is None

    def test_a_drag_has_two_elements(self) -> None:
        step = told(
            {"type": "drag", "from": {"ref": "@i1"}, "to": {"ref": "@i2"}}, {"from": SAVE, "to": NAME}
        )
        assert step.action == Drag(from_=Selector(id="save"), to=Selector(hint="Name"))
        assert step.element.keys() == {"from", "to"}

    def test_typing_without_a_target_is_aimed_at_the_field_that_had_the_focus(self) -> None:
        step = told({"type": "type_text", "text": "Ada"}, {"target": NAME})
        assert step.action == TypeText(text="Ada", target=Selector(hint="Name"))

    def test_a_placeholder_of_a_secret_stays(self) -> None:
        step = told({"type": "type_text", "text": "${secret:PIN}"}, {"target": PIN})
        assert step.action.to_dict()["text"] == "${secret:PIN}"

    @pytest.mark.parametrize("written", ["••••", "${secret:TYPED_3}"])
    def test_a_password_that_nobody_wrote_down_becomes_a_secret_to_be_made(self, written: str) -> None:
        step = told({"type": "type_text", "text": written}, {"target": PIN})
        assert step.action.to_dict()["text"] == "${secret:LOGIN_PIN}"

    @pytest.mark.parametrize(
        "action",
        [
            {"type": "get_ui_tree"},
            {"type": "screenshot"},
            {"type": "wait", "duration_ms": 10},
            {"type": "finish"},
            {"type": "expect_visible", "target": {"ref": "@b1"}},
        ],
    )
    def test_reads_waits_and_checks_of_refs_are_left_out(self, action: dict[str, Any]) -> None:
        assert recorded_step(done(action)) is None

    def test_a_check_in_lasting_words_is_kept(self) -> None:
        assert told({"type": "expect_visible", "target": {"text": "Saved"}}).action.type == "expect_visible"

    def test_a_failed_attempt_is_left_out(self) -> None:
        assert (
            recorded_step(done({"type": "tap", "target": {"text": "Save"}}, {"target": SAVE}, success=False))
            is None
        )

    def test_a_new_screen_is_waited_for_by_its_landmark(self) -> None:
        step = told(
            {"type": "tap", "target": {"ref": "@b1"}}, {"target": SAVE}, landmark={"text": "Contacts"}
        )
        assert step.action.to_dict()["expect"] == {"visible": {"text": "Contacts"}}

    def test_the_callers_own_expectation_is_kept_if_it_lasts(self) -> None:
        step = told(
            {"type": "tap", "target": {"ref": "@b1"}, "expect": {"absent": {"text": "Save"}}},
            {"target": SAVE},
            landmark={"text": "Contacts"},
        )
        assert step.action.to_dict()["expect"] == {"absent": {"text": "Save"}}

    def test_an_expectation_of_a_ref_gives_way_to_the_landmark(self) -> None:
        step = told(
            {"type": "tap", "target": {"ref": "@b1"}, "expect": {"visible": {"ref": "@b2"}}},
            {"target": SAVE},
            landmark={"text": "Contacts"},
        )
        assert step.action.to_dict()["expect"] == {"visible": {"text": "Contacts"}}

    def test_a_landmark_that_shows_a_secret_is_not_used(self) -> None:
        step = told(
            {"type": "tap", "target": {"ref": "@b1"}}, {"target": SAVE}, landmark={"text": "Hi ${secret:ME}"}
        )
        assert "expect" not in step.action.to_dict()

    def test_scrolling_is_no_navigation(self) -> None:
        step = told({"type": "swipe", "direction": "up"}, landmark={"text": "About"})
        assert "expect" not in step.action.to_dict()


def on(before: str, after: str) -> dict[str, str]:
    """The screens that an action found and left."""
    return {"ui_fingerprint_before": before, "ui_fingerprint_after": after}


IN_VAIN: dict[str, Any] = {"success": False, "retryable": True, "delivery": "not_delivered"}


class TestAttempts:
    save = {"type": "tap", "target": {"text": "Save"}}

    def test_one_that_failed_and_yet_led_elsewhere_is_kept_as_optional(self) -> None:
        there = on("aaaaaa", "bbbbbb")
        step = told(self.save, {"target": SAVE}, success=False, delivery="delivered", **there)
        assert step.step.optional

    def test_what_needed_several_tries_may_be_tried_again(self) -> None:
        covered = done({**self.save, "reason": "I try"}, {"target": SAVE}, **IN_VAIN)
        [step] = recorded(covered, covered, done(self.save, {"target": SAVE})).steps
        assert step.step.retry == 4

    def test_tries_at_something_else_do_not_count(self) -> None:
        covered = done({"type": "tap", "target": {"text": "Send"}}, **IN_VAIN)
        [step] = recorded(covered, done(self.save, {"target": SAVE})).steps
        assert step.step.retry == 0


class TestTheWayThere:
    def swipe(self, dy: int, dx: int = 0) -> ShownAction:
        moved = [{"type": "scrolled", "dx": dx, "dy": dy}]
        action = {"type": "swipe", "direction": "up", "target": {"id": "list"}}
        return done(action, changes=moved, **on("aaaaaa", "bbbbbb"))

    def tap(self, before: str = "bbbbbb") -> ShownAction:
        return done({"type": "tap", "target": {"ref": "@b1"}}, {"target": SAVE}, **on(before, "cccccc"))

    def test_swipes_that_scroll_to_something_become_a_scroll_to_it(self) -> None:
        scroll, tap = recording(self.swipe(-900), self.swipe(-400), self.tap())
        assert scroll.to_dict() == {
            "type": "scroll_to",
            "target": {"id": "save"},
            "within": {"id": "list"},
            "direction": "down",
            "max_scrolls": 10,
        }
        assert tap.type == "tap"

    @pytest.mark.parametrize(("dx", "dy", "way"), [(0, 300, "up"), (-300, 10, "right"), (300, 10, "left")])
    def test_the_way_is_where_the_content_lay(self, dx: int, dy: int, way: str) -> None:
        assert recording(self.swipe(dy, dx), self.tap())[0].direction == way

    def test_swipes_there_and_back_are_no_way(self) -> None:
        kinds = [step.type for step in recording(self.swipe(-900), self.swipe(400), self.tap())]
        assert kinds == ["swipe", "scroll_to", "tap"]

    def test_a_swipe_that_scrolls_nothing_stays_a_swipe(self) -> None:
        opens = done({"type": "swipe", "direction": "up"}, **on("aaaaaa", "bbbbbb"))
        assert [step.type for step in recording(opens, self.tap())] == ["swipe", "tap"]

    def test_an_element_on_a_screen_that_came_by_itself_is_waited_for(self) -> None:
        first = done({"type": "press_key", "key": "back"}, **on("zzzzzz", "aaaaaa"))
        _, wait, _ = recording(first, self.tap())
        assert wait.to_dict()["condition"] == {"visible": {"id": "save"}}
        assert [step.type for step in recording(first, self.tap(before="aaaaaa"))] == ["press_key", "tap"]

    def test_what_is_waited_for_already_needs_no_other_wait(self) -> None:
        first = done({"type": "press_key", "key": "back"}, **on("zzzzzz", "aaaaaa"))
        waited = done({"type": "wait_for", "condition": {"visible": {"text": "Save"}}})
        kinds = [step.type for step in recording(first, waited, self.tap())]
        assert kinds == ["press_key", "wait_for", "tap"]

    def test_a_wait_of_no_time_is_a_look_and_left_out(self) -> None:
        looked = done({"type": "wait_for", "condition": {"visible": {"text": "Save"}}, "timeout_ms": 0})
        assert recorded_step(looked) is None


class TestOneOfTwo:
    tap = done({"type": "tap", "target": {"ref": "@f1"}}, {"target": NAME})
    ada = done({"type": "type_text", "text": "Ada"}, {"target": NAME})

    def test_a_tap_into_a_field_is_part_of_typing_into_it(self) -> None:
        assert recording(self.tap, self.ada) == [TypeText(text="Ada", target=Selector(hint="Name"))]

    def test_a_tap_that_leads_elsewhere_stays(self) -> None:
        opens = done({"type": "tap", "target": {"ref": "@f1"}}, {"target": NAME}, landmark={"text": "Search"})
        assert len(recording(opens, self.ada)) == 2

    def test_pieces_of_a_text_are_one_text(self) -> None:
        more = done({"type": "type_text", "text": " Marrow", "submit": True}, {"target": NAME})
        [step] = recording(self.ada, more)
        assert step == TypeText(text="Ada Marrow", target=Selector(hint="Name"), submit=True)

    def test_what_was_submitted_is_not_continued(self) -> None:
        sent = done({"type": "type_text", "text": "Hi", "submit": True}, {"target": NAME})
        assert len(recording(sent, self.ada)) == 2

    def test_a_text_that_replaces_another_is_the_only_one(self) -> None:
        again = done({"type": "type_text", "text": "Bob", "clear": True}, {"target": NAME})
        assert [step.text for step in recording(self.ada, again)] == ["Bob"]

    def test_clearing_and_typing_is_one_step(self) -> None:
        clear = done({"type": "clear_text", "target": {"ref": "@f1"}}, {"target": NAME})
        [step] = recording(clear, self.ada)
        assert step == TypeText(text="Ada", target=Selector(hint="Name"), clear=True)

    def test_two_fields_are_two_steps(self) -> None:
        assert len(recording(self.ada, done({"type": "type_text", "text": "1"}, {"target": PIN}))) == 2

    def test_two_taps_are_two_steps(self) -> None:
        assert len(recording(self.tap, self.tap)) == 2


class TestTheFile:
    start = done({"type": "start_app", "package": "com.example.app"})
    tap = done({"type": "tap", "target": {"ref": "@b1"}}, {"target": SAVE})

    def test_the_app_that_is_started_first_is_the_flows_app(self) -> None:
        document = loads(recorded(self.start, self.start, self.tap).text("Save it"))
        assert document.flow.app == "com.example.app"
        assert [step.action.type for step in document.flow.steps] == ["tap"]  # type: ignore[union-attr]

    def test_without_a_start_it_is_the_app_that_was_in_front(self) -> None:
        assert loads(recorded(self.tap).text("Save it")).flow.app == "com.example.app"

    def test_what_begins_on_the_home_screen_goes_there_first(self) -> None:
        element = {"package": "com.android.launcher3", "class": "TextView", "text": "Pets"}
        icon = {"selector": {"text": "Pets"}, "element": element}
        tap = done({"type": "tap", "target": {"text": "Pets"}}, {"target": icon})
        document = loads(recorded(tap).text("Open"))
        assert document.flow.app is None
        home, opens = document.flow.steps
        assert isinstance(home, Step)
        assert isinstance(opens, Step)
        assert (home.action, home.optional) == (PressKey(key="home"), True)
        assert document.element((1,)) == element

    def test_an_app_that_is_started_in_a_certain_way_stays_a_step(self) -> None:
        start = done({"type": "start_app", "package": "com.example.app", "activity": ".Edit"})
        document = loads(recorded(start, self.tap).text("Save it"))
        assert [step.action.type for step in document.flow.steps] == ["start_app", "tap"]  # type: ignore[union-attr]

    def test_identities_stand_beside_their_steps(self) -> None:
        document = loads(recorded(self.start, self.tap).text("Save it"), Path("save.yaml"))
        assert document.element((0,)) == SAVE["element"]

    def test_a_text_with_a_dollar_and_a_brace_is_typed_as_it_was(self) -> None:
        typed = done({"type": "type_text", "text": "echo ${HOME}"}, {"target": NAME})
        document = loads(recorded(typed).text("Literal")).bind({})
        assert document.flow.steps[0].action.text == "echo ${HOME}"  # type: ignore[union-attr]

    def test_nothing_recorded_is_said(self) -> None:
        with pytest.raises(InvalidAction, match="nothing was recorded"):
            Recording().text("Nothing")
