"""What proves an action, looked at on drawn screens: what counts, what does not, and what is told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from handrail.engine.conditions import ConditionResult
from handrail.engine.resolve import Aim, aim
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot
from handrail.engine.verify import (
    EXPECT_MS,
    TOGGLE_MS,
    Proof,
    app_in_front,
    checked_state_changed,
    expected_proof,
    field_contains,
    keyboard_hidden,
    screen_moved,
    switch_of,
    touch_changed_screen,
)
from handrail.errors import HandrailError
from handrail.protocol.target import Condition, Selector
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.engine.scripted import Stand, page, still
from tests.unit.screen.drawn import node, row, screen, windows

APP = "com.example.app"
SHOP = "com.example.shop"


def look(drawn: Screen) -> UiSnapshot:
    return UiSnapshot(ScreenAnalysis(drawn), 0.0, 2.0)


def found(drawn: Screen, **how: Any) -> tuple[UiSnapshot, Aim]:
    """The element on a screen that a session has taken."""

    async def story() -> tuple[UiSnapshot, Aim]:
        stand = Stand(still(drawn))
        return await stand.look(), aim(stand.screens, Selector(**how))

    return asyncio.run(story())


def told(failure: HandrailError) -> tuple[str, Any, Any]:
    return failure.message, failure.details.get("expected"), failure.details.get("observed")


def failed(proof: Proof, drawn: Screen) -> tuple[str, Any, Any]:
    verdict = proof.check(look(drawn))
    assert not verdict.met
    return told(proof.failure(verdict))


# switches


def settings(*rows: tuple[str, bool], kind: str = "Switch", mark: str = "checked", top: int = 0) -> Screen:
    """Rows of a list, each with its name and its switch."""
    return screen(
        *(
            node(
                "LinearLayout",
                node("TextView", box=row(top + at, right=700), text=name),
                node(
                    kind,
                    box=row(top + at, left=700),
                    resource_id="app:id/switch",
                    flags=f"checkable {mark if is_on else ''}",
                ),
                box=row(top + at),
                flags="clickable",
            )
            for at, (name, is_on) in enumerate(rows)
        )
    )


def proof_of(drawn: Screen, name: str) -> Proof:
    before, at = found(drawn, text=name)
    made = checked_state_changed(before, at)
    assert made is not None
    return made


def test_a_tap_on_a_row_switches_the_one_thing_in_it() -> None:
    proof = proof_of(settings(("Sound", False), ("Light", True)), "Light")
    assert proof.met(look(settings(("Sound", False), ("Light", False))))
    assert not proof.met(look(settings(("Sound", False), ("Light", True))))
    assert not proof.met(look(settings(("Sound", True), ("Light", True))))


def test_what_was_not_switched_is_told() -> None:
    proof = proof_of(settings(("Sound", False), ("Light", True)), "Light")
    message, expected, observed = failed(proof, settings(("Sound", False), ("Light", True)))
    assert message.endswith("is still on after the tap")
    assert (expected, observed) == ("another state", "on")
    off = proof_of(settings(("Light", False)), "Light")
    assert failed(off, settings(("Light", False)))[2] == "off"
    verdict = proof.check(look(settings(("Sound", False), ("Light", False))))
    assert (verdict.expected, verdict.observed) == ("another state", "off")


def test_a_selected_thing_is_on() -> None:
    proof = proof_of(settings(("Light", False), mark="selected"), "Light")
    assert proof.met(look(settings(("Light", True), mark="selected")))


def test_a_switch_gets_time_to_turn_and_its_turn_decides() -> None:
    proof = proof_of(settings(("Light", False)), "Light")
    assert (proof.mode, proof.patience_ms, proof.decides) == ("built_in", TOGGLE_MS, True)
    assert TOGGLE_MS == 1_500


def test_nothing_was_done_on_the_very_screen_that_was_there_before() -> None:
    before, at = found(settings(("Light", False)), text="Light")
    proof = checked_state_changed(before, at)
    assert not proof.met(before)


def test_a_neighbours_switch_in_a_sorted_list_is_not_mine() -> None:
    """What is on comes first now: at the old place stands another row, whose switch is on."""
    proof = proof_of(settings(("Light", False), ("Sound", True)), "Light")
    assert not proof.met(look(settings(("Sound", True), ("Light", False))))
    assert proof.met(look(settings(("Light", True), ("Sound", True))))
    assert proof.met(look(settings(("Sound", False), ("Light", True))))


def test_of_two_switches_that_changed_places_each_keeps_its_state() -> None:
    def bar(*names: str, on: str = "b") -> Screen:
        drawn = (
            node("Switch", box=row(0, left=200 * at, right=200 * at + 200), resource_id=f"app:id/{name}",
                 flags=f"checkable clickable {'checked' if name == on else ''}")
            for at, name in enumerate(names)
        )  # fmt: skip
        return screen(node("LinearLayout", *drawn, box=row(0)))

    before, at = found(bar("a", "b"), id="a")
    proof = checked_state_changed(before, at)
    assert not proof.met(look(bar("b", "a")))
    assert proof.met(look(bar("b", "a", on="a")))


def test_a_switch_is_followed_to_where_it_moved() -> None:
    proof = proof_of(settings(("Light", False), ("Sound", True)), "Light")
    assert proof.met(look(settings(("Light", True), ("Sound", True), top=1)))
    assert not proof.met(look(settings(("Light", False), ("Sound", True), top=1)))
    added = settings(("New", True), ("Light", False), ("Sound", True))
    assert not proof.met(look(added))


def test_a_switch_whose_screen_is_gone_did_something() -> None:
    verdict = proof_of(settings(("Light", False)), "Light").check(look(page(title="Elsewhere")))
    assert verdict == ConditionResult(True, "another state", "another screen")


@each(
    ("kind", "is_on", "proved"),
    [("RadioButton", True, True), ("RadioButton", False, False), ("CheckBox", True, False)],
)
def test_a_radio_button_that_is_on_stays_on(kind: str, is_on: bool, proved: bool) -> None:
    drawn = settings(("Light", is_on), kind=kind)
    assert proof_of(drawn, "Light").met(look(settings(("Light", is_on), kind=kind))) is proved


def switch(text: str, at: int, *, flags: str = "checkable clickable") -> str:
    return node("Switch", box=row(at), text=text, flags=flags)


def test_a_switch_itself_is_what_a_tap_on_it_switches() -> None:
    before, at = found(screen(switch("A", 0), switch("B", 1)), text="B")
    assert switch_of(before, at) is at.touched


@each(
    ("inside", "is_switched"),
    [
        ([switch("A", 0, flags="checkable")], True),
        ([switch("A", 0, flags="checkable clickable")], False),  # it takes its own taps
        ([switch("A", 0, flags="checkable"), switch("B", 0, flags="checkable")], False),
        ([], False),
    ],
)
def test_a_row_switches_the_only_thing_in_it_that_takes_no_tap_itself(
    inside: list[str], is_switched: bool
) -> None:
    title = node("TextView", box=row(0, right=500), text="Row")
    before, at = found(
        screen(node("LinearLayout", title, *inside, box=row(0), flags="clickable")), text="Row"
    )
    assert (switch_of(before, at) is not None) is is_switched
    assert (checked_state_changed(before, at) is not None) is is_switched


# navigation


def test_navigation_is_proved_by_any_change_which_decides_nothing_yet() -> None:
    stand = Stand(still(page()))
    proof = screen_moved(look(page()), stand.screens)
    assert (proof.mode, proof.decides, proof.patience_ms) == ("built_in", False, 0)
    verdict = proof.check(look(page(title="Elsewhere")))
    assert verdict == ConditionResult(True, "another screen or scroll position", "changed")
    verdict = proof.check(look(page()))
    assert verdict == ConditionResult(False, "another screen or scroll position", "unchanged")
    assert proof.failure(verdict).code == "NAVIGATION_NO_CHANGE"


@pytest.mark.parametrize("is_home", [True, False])
async def test_home_that_changed_nothing_has_arrived_only_where_the_device_says_that_this_is_home(
    is_home: bool,
) -> None:
    async def says(_: Screen) -> bool:
        return is_home

    stand, seen = Stand(still(page())), look(page())
    proof = screen_moved(seen, stand.screens, says)
    assert not proof.met(seen)  # before anybody was asked
    assert proof.ask is not None
    await proof.ask(seen)
    assert proof.met(seen) is is_home


# an app that is started


def of(package: str, *inside: str, box: tuple[int, int, int, int] = (0, 0, 1080, 2400)) -> str:
    drawn = (one.replace(f'package="{APP}"', f'package="{package}"') for one in inside)
    return node("FrameLayout", *drawn, box=box, package=package)


def front(*roots: str) -> UiSnapshot:
    return look(parse(windows(*roots)))


PERMISSION = of(
    "com.android.permissioncontroller",
    node("TextView", text="Allow it?", resource_id="x:id/permission_message", box=row(6)),
    node("Button", text="Allow", resource_id="x:id/permission_allow_button", flags="clickable", box=row(7)),
    box=(100, 900, 980, 1500),
)
CHOOSER = of("com.android.intentresolver", node("TextView", text="Open with", box=row(6)))
INSTALLER = of("com.android.packageinstaller", node("TextView", text="Install?", box=row(6)))
CRASH = of(
    "android",
    node("TextView", text="Shop keeps stopping", resource_id="android:id/alertTitle", box=row(6)),
    node("Button", text="Close", resource_id="android:id/aerr_close", flags="clickable", box=row(7)),
)


def test_an_app_is_started_when_it_is_in_front() -> None:
    proof = app_in_front(APP, 4_000)
    assert (proof.mode, proof.patience_ms, proof.decides) == ("built_in", 4_000, True)
    assert proof.check(front(of(APP))) == ConditionResult(True, APP, APP)
    message, expected, observed = failed(proof, front(of(SHOP)).screen)
    assert message == f"{APP} did not come to the front; {SHOP} is there"
    assert (expected, observed) == (APP, SHOP)


def test_where_nothing_is_there_it_is_said() -> None:
    failure = app_in_front(APP, 0).failure(ConditionResult(False, APP, ""))
    assert failure.message == f"{APP} did not come to the front; nothing is there"


@each(("prompt", "kind"), [(PERMISSION, "permission"), (CHOOSER, "chooser"), (INSTALLER, "installer")])
def test_what_the_system_asks_above_an_app_proves_this_app_and_no_other(prompt: str, kind: str) -> None:
    above = front(of(APP), prompt)
    assert app_in_front(APP, 0).check(above) == ConditionResult(True, APP, f"a {kind} prompt of {APP}")
    assert not app_in_front(SHOP, 0).met(above)


def test_a_prompt_alone_may_be_of_any_app() -> None:
    """A channel that reads one window only shows nothing else."""
    assert app_in_front(APP, 0).met(front(PERMISSION))


def test_a_crash_proves_no_start() -> None:
    assert not app_in_front(APP, 0).met(front(CRASH))


def test_a_prompt_that_has_another_dialog_of_the_system_below_is_still_found() -> None:
    assert app_in_front(APP, 0).met(front(of(APP), CRASH, PERMISSION))


def test_who_draws_a_prompt_is_not_the_app_below_it() -> None:
    drawer = "com.android.permissioncontroller"
    proof = app_in_front(drawer, 0)
    assert proof.check(front(of(SHOP), PERMISSION)).observed != f"a permission prompt of {drawer}"


async def test_a_screen_that_belongs_to_an_app_by_the_systems_word_proves_that_it_is_in_front() -> None:
    async def foreground() -> Any:
        return SimpleNamespace(package=APP)

    for ask, is_met in ((None, False), (foreground, True)):
        proof = app_in_front(APP, 0, ask)
        await proof.ask(front(of(SHOP)))
        assert proof.met(front(of(SHOP))) is is_met


def test_a_keyboard_is_hidden_when_no_window_of_one_is_there() -> None:
    proof = keyboard_hidden()
    assert (proof.mode, proof.patience_ms) == ("built_in", TOGGLE_MS)
    assert proof.check(front(of(APP))) == ConditionResult(True, "no keyboard", "no keyboard")
    keyboard = front(of(APP), of("com.android.inputmethod.latin")).screen
    assert failed(proof, keyboard) == ("The keyboard is still shown", "no keyboard", "a keyboard")


async def test_a_touch_on_something_drawn_is_proved_by_any_change_and_decides_nothing() -> None:
    drawn, other = page(title="Play"), page(title="Pause")
    stand = Stand(still(drawn))
    before = await stand.look()
    title = next(shown for shown in drawn.nodes if shown.text == "Play")
    title.drawn = SimpleNamespace(look="")
    proof = touch_changed_screen(before, stand.screens, aim(stand.screens, Selector(text="Play")))
    assert (proof.mode, proof.decides) == ("built_in", False)
    assert proof.check(look(other)) == ConditionResult(True, "the picture changes", "the picture changed")
    verdict = proof.check(look(drawn))
    assert verdict == ConditionResult(False, "the picture changes", "the picture did not change")
    assert "was touched and nothing that is drawn changed" in proof.failure(verdict).message


# typed text


def form(name: str, mail: str = "", *, focused: str = "name", title: str = "Form", top: int = 0) -> Screen:
    def field(name: str, text: str, at: int) -> str:
        flags = f"clickable {'focused' if name == focused else ''}"
        return node("EditText", box=row(at), text=text, resource_id=f"app:id/{name}", flags=flags)

    words = node("TextView", text=title, box=row(top), flags="focused" if focused == "title" else "")
    return screen(words, field("name", name, top + 1), field("mail", mail, top + 2))


def typed(text: str, drawn: Screen, **how: Any) -> Proof:
    before, at = found(drawn, **(how or {"id": "name"}))
    made = field_contains(before, at, text)
    assert made is not None
    return made


def test_the_field_must_still_say_what_was_read_back() -> None:
    proof = typed("Ada", form(""))
    assert proof.check(look(form("Ada"))) == ConditionResult(True, "Ada", "Ada")
    assert failed(proof, form("")) == ("The field does not contain the typed text", "Ada", "")
    assert not proof.met(look(form("Ad")))
    assert (proof.mode, proof.patience_ms, proof.decides) == ("built_in", 0, True)


def test_where_nothing_could_be_read_nothing_is_proved() -> None:
    assert field_contains(look(form("")), None, None) is None
    assert field_contains(look(form("")), None, "") is not None


def test_the_field_that_has_the_focus_was_typed_into() -> None:
    proof = typed("Ada", form("", focused=""))
    assert proof.met(look(form("", "Ada", focused="mail")))
    assert not proof.met(look(form("Ada", "", focused="mail")))


def test_only_a_field_counts_as_focused_and_else_the_one_that_was_aimed_at() -> None:
    for focused in ("", "title"):
        proof = typed("Ada", form("", focused=focused))
        assert proof.met(look(form("Ada", "other", focused=focused)))
        assert not proof.met(look(form("Eve", "Ada", focused=focused)))
        assert not proof.met(look(form("Eve", "Ada", focused=focused, top=1)))


def test_a_field_that_is_gone_says_nothing_against_it() -> None:
    assert typed("Ada", form("")).check(look(page())) == ConditionResult(True, "Ada", None)


def test_without_a_target_only_the_focused_field_is_read() -> None:
    proof = field_contains(look(form("")), None, "Ada")
    assert proof.met(look(form("Ada")))
    assert not proof.met(look(form("Eve")))
    assert proof.check(look(form("Eve", focused=""))).observed is None


# the caller's own words


def test_an_expectation_is_looked_for_on_each_screen_and_told_in_its_own_words() -> None:
    stand = Stand(still(page()))
    proof = expected_proof(Condition(app=APP), stand.screens, None)
    assert (proof.mode, proof.patience_ms, proof.decides) == ("explicit", EXPECT_MS, True)
    assert EXPECT_MS == 5_000
    assert proof.met(front(of(APP)))
    told = f'Expected: {APP} is in front. Found: "{SHOP}". Waited 5 s.'
    assert failed(proof, front(of(SHOP)).screen) == (told, APP, SHOP)


def test_a_change_is_measured_against_the_screen_before() -> None:
    stand = Stand(still(page()))
    proof = expected_proof(Condition(screen_changed=True), stand.screens, look(page()))
    assert not proof.met(look(page()))
    assert proof.met(look(page(title="Elsewhere", extra=switch("New", 5))))
    assert not expected_proof(Condition(screen_changed=True), stand.screens, None).met(look(page()))


# what the envelope tells


def test_a_verdict_is_told_with_what_was_wanted_and_what_was_there() -> None:
    made = ConditionResult(True, "this", "that").verification("built_in")
    assert (made.mode, made.expected, made.observed, made.outcome) == ("built_in", "this", "that", "verified")
    assert ConditionResult(False, "this", "that").verification("built_in").outcome == "failed"
