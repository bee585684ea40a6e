"""Actions out of what models write when they have no tools."""

from __future__ import annotations

from handrail_agent.read_answer import read_text
from tests.cases import each

TAP = {"type": "tap", "target": "@b1"}
STEP = '{"thought": "It is there.", "action": {"type": "tap", "target": "@b1"}}'


@each(
    "text",
    [
        STEP,
        f"```json\n{STEP}\n```",
        f"Let me see.\n\n{STEP}\n\nThis should open the note.",
        "{'thought': 'It is there.', 'action': {'type': 'tap', 'target': '@b1',},}",
        '{"thought": "It is there.", "action": {"tap": {"target": "@b1"}}}',
        '{"thought": "It is there.", "tool_calls": [{"name": "tap", "arguments": {"target": "@b1"}}]}',
    ],
)
def test_one_action_is_found_however_it_is_wrapped(text: str) -> None:
    reading = read_text(text)
    assert reading.action == TAP
    assert reading.thought == "It is there."
    assert reading.problem == ""


def test_openpockets_own_words_are_kept_for_whoever_checks_them() -> None:
    assert read_text('{"type": "keyevent", "keycode": "KEYCODE_BACK"}').action == {
        "type": "keyevent",
        "keycode": "KEYCODE_BACK",
    }
    for call in ("tap(540, 750)", "I see it.\n\nAction: `tap(x=540, y=750)`"):
        assert read_text(call).action == {"type": "tap", "x": 540, "y": 750}


@each("before", ["<think>{draft}</think>", "<thinking>{draft}</thinking>\n", "{draft}</think>"])
def test_what_was_only_thought_of_is_no_answer(before: str) -> None:
    draft = '{"type": "tap", "target": "@b9"}'
    assert read_text(before.replace("{draft}", draft) + STEP).action == TAP
    assert read_text(f"<think>{draft} or perhaps").action is None


def test_an_action_of_the_desk_keeps_its_content() -> None:
    window = '{"type": "window.create", "windowId": "w", "content": {"renderer": "text", "data": "Hello"}}'
    action = read_text(window).action
    assert action
    assert action["content"] == {"renderer": "text", "data": "Hello"}


def test_the_first_of_several_wins_and_the_reading_says_so() -> None:
    reading = read_text(f'{STEP}\n{{"action": {{"type": "finish", "message": "done"}}}}')
    assert reading.action == TAP
    assert reading.problem == "2 actions, the first was taken."


@each(
    ("text", "words"),
    [
        ("I would tap the save button.", "There is no action in the answer."),
        ("I should finish (the list) before I tap (on) anything.", "There is no action in the answer."),
        ('{"action": {"type": "type_text", "text": "Dear Ad', "has no end"),
        ('{"action": {"type": "type_text", "text": "Dear Ada"', "has no end"),
        ('{"thought": "hm"}', "no `type`"),
        ("{" * 100_000, "There is no action"),
        ("", "There is no action"),
    ],
)
def test_what_is_no_whole_action_is_a_problem(text: str, words: str) -> None:
    reading = read_text(text)
    assert reading.action is None
    assert words in reading.problem


def test_a_text_that_is_longer_than_any_step_is_read_up_to_its_limit() -> None:
    assert read_text(STEP + " " * 10_000_000).action == TAP
    assert read_text("x" * 10_000_000 + STEP).action is None
