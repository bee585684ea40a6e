"""Seed 000's ModelStepOutput from anything that a model can print; every repair is said."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.dialects.openpocket import ModelStep, parse_step
from tests.cases import each

TAP = {"type": "tap", "x": 540, "y": 750}
JSON = json.dumps(TAP)
WAIT = {"type": "wait", "durationMs": 1000}
INSIDE = "the action was inside other text"
CALL = "the action was written as a call"
ARGUMENTS = {"x": 540, "y": 750}
FUNCTION = {"name": "tap", "arguments": json.dumps(ARGUMENTS)}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "tap", "input": ARGUMENTS}


def said(step: ModelStep) -> tuple[dict[str, Any], list[str]]:
    return step.normalised.action, step.repairs


@each(
    ("text", "repairs"),
    [
        (JSON, []),
        (f"\n  {JSON}\n", []),
        (f"```json\n{JSON}\n```", []),
        (f"```\n{JSON}\n```", []),
        (f"Sure!\n```json\n{JSON}\n```\nDone.", [INSIDE]),
        (f"I tap the button. {JSON} That opens it.", [INSIDE]),
        (f"<tool_call>{JSON}</tool_call>", [INSIDE]),
        (f"[{JSON}]", []),
        (f'Such as {{"a": 1}}, so {JSON}', [INSIDE]),
        ('{"type": "tap", "x": 540, "y": 750,}', ["a trailing comma"]),
        ('{"type": "tap" "x": 540 "y": 750}', ["a missing comma"]),
        ("{'type': 'tap', 'x': 540, 'y': 750}", ["' as a quote"]),
        ("{`type`: `tap`, `x`: 540, `y`: 750}", ["` as a quote"]),
        ("{“type”: “tap”, “x”: 540, “y”: 750}", ["“ as a quote"]),
        ("{type: 'tap', x: 540, y: 750}", ["a bare word", "' as a quote"]),
        ("{type: tap, x: 540, y: 750}", ["a bare word"]),
        ('{"type": "tap", "x": 540, "y": 750', ["a missing end"]),
        ('{"type": "tap", "x": 540, "y": 750]', ["] in place of }"]),
        ('{"type": "tap", /* here */ "x": 540, // now\n "y": 750}', []),
        ('{"action": "tap", "x": 540, "y": 750}', ["the action was named by `action`"]),
        ('{"tap": {"x": 540, "y": 750}}', ["the action was named by its key"]),
        ("tap(x=540, y=750)", [CALL]),
        ("tap(540, 750)", [CALL]),
        ("tap(x: 540, y: 750)", [CALL]),
        ("tap(x=540 y=750", [CALL, "a missing comma", "a missing end"]),
        ("I go: `tap( 540 , 750 )`.", [CALL]),
        (f"{JSON}\n{JSON}", ["2 actions, the first was taken"]),
        (f"{JSON} or perhaps {{'type': 'wait'}}", ["2 actions, the first was taken"]),
    ],
)
def test_a_tap_is_read_from_text_and_repairs_are_said(text: str, repairs: list[str]) -> None:
    step = parse_step(text)
    assert said(step) == (TAP, repairs)
    assert step.normalised.defaulted == []
    assert step.raw == text


@each(
    "call",
    [
        {"name": "tap", "arguments": ARGUMENTS},
        {"name": "tap", "arguments": json.dumps(ARGUMENTS)},
        {"tool": "tap", "args": ARGUMENTS},
        {"type": "function", "id": "call_1", "function": FUNCTION},
        {"function": "tap", "parameters": ARGUMENTS},
        {"function_call": FUNCTION},
        {"tool_calls": [{"id": "call_1", "type": "function", "function": FUNCTION}]},
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"function": FUNCTION}]}}]},
        {"type": "function_call", "name": "tap", "arguments": json.dumps(ARGUMENTS)},
        {"output": [{"type": "reasoning"}, {"type": "function_call", **FUNCTION}]},
        TOOL_USE,
        {"role": "assistant", "content": [{"type": "text", "text": "I tap."}, TOOL_USE]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "tap", "args": ARGUMENTS}}]}}]},
        {"thought": "", "action": TAP},
        {"action": {"name": "tap", "arguments": ARGUMENTS}},
    ],
)
def test_a_tap_is_read_from_a_tool_call(call: dict[str, Any]) -> None:
    assert said(parse_step(call)) == (TAP, [])
    assert said(parse_step(json.dumps(call))) == (TAP, [])


def test_of_several_tool_calls_the_first_is_taken_and_it_is_said() -> None:
    calls = {"tool_calls": [{"function": FUNCTION}, {"function": {"name": "wait", "arguments": "{}"}}]}
    assert said(parse_step(calls)) == (TAP, ["2 tool calls, the first was taken"])


@each(
    ("text", "thought"),
    [
        ('{"thought": "I see it.", "action": {"type": "wait", "durationMs": 5}}', "I see it."),
        ('{"reasoning": "I see it.", "type": "wait"}', "I see it."),
        ('I see it. {"type": "wait"}', "I see it."),
        ('Thought: I see it.\n```json\n{"type": "wait"}\n```', "I see it."),
        ("I see it. wait(5)", "I see it."),
        ('<think>{"type": "wait"}', ""),
        ('[{"type": "wait"}]', ""),
        ("I see it.", "I see it."),
    ],
)
def test_the_thought_is_what_was_said_with_the_action(text: str, thought: str) -> None:
    assert parse_step(text).thought == thought


def test_a_thought_that_came_beside_a_tool_call_is_kept() -> None:
    assert parse_step(TOOL_USE, thought="I see it.").thought == "I see it."


@each(
    "text",
    ["", "   ", "\n", "No action is needed.", "😀", "null", "5", '"tap"', "[]", "{}", "}{", "```", "\x00",
     "tap", "Call tap with care.", "\ud800"],
)  # fmt: skip
def test_where_there_is_no_action_it_waits_and_says_so(text: str) -> None:
    step = parse_step(text)
    assert said(step) == (WAIT, ["no action was found"])
    assert step.normalised.defaulted == ["type"]
    assert step.raw == text


def test_an_unknown_type_waits_and_lists_the_type() -> None:
    step = parse_step('{"type": "nope", "x": 5}')
    assert said(step) == (WAIT, [])
    assert step.normalised.defaulted == ["type"]


def test_what_is_missing_is_defaulted_listed_and_not_executable() -> None:
    step = parse_step('{"type":"swipe","x1":"5"}')
    assert step.normalised.action == {"type": "swipe", "x1": 5, "y1": 0, "x2": 0, "y2": 0, "durationMs": 300}
    assert step.normalised.defaulted == ["y1", "x2", "y2", "durationMs"]
    assert step.normalised.native is None


@each(
    ("text", "typed", "repairs"),
    [
        ('{"type": "type", "text": "😀 é 漢"}', "😀 é 漢", []),
        ('{"type": "type", "text": "\\ud83d\\ude00"}', "😀", []),
        ('{"type": "type", "text": "a\\ud800b"}', "a�b", ["half a character"]),
        ("{'type': 'type', 'text': 'it\\'s \\u00e9'}", "it's é", ["' as a quote"]),
        ('{"type": "type", "text": "line\nbreak"}', "line\nbreak", []),
        ('{"type": "type", "text": "cut of', "cut of", ["a missing quote", "a missing end"]),
        ('{"type": "type", "text": "{\\"type\\": \\"tap\\"}"}', '{"type": "tap"}', []),
        ("type(text='a) b, c=d')", "a) b, c=d", [CALL]),
        ('type_text("hello, \\"you\\"")', 'hello, "you"', [CALL]),
        ('{"type": "type", "text": "/* no comment */ # nor this"}', "/* no comment */ # nor this", []),
    ],
)
def test_typed_text_arrives_whole(text: str, typed: str, repairs: list[str]) -> None:
    assert said(parse_step(text)) == ({"type": "type", "text": typed}, repairs)


def test_a_raw_lone_surrogate_is_kept_in_the_answer_and_never_typed() -> None:
    step = parse_step("{'type': 'type', 'text': '\ud800'}")
    assert step.normalised.action["type"] == "type"
    assert step.normalised.native is None


@each(
    "noise",
    ["a", "{", "}", "[", '{"a":', "{'", "(", "tap(", "/* ", "// ", "# ", '"', "\\", "😀", "```", "\n", "{/*",
     ",", "=", "{}", '{"type":"tap"'],
)  # fmt: skip
def test_a_megabyte_of_anything_is_cut_and_answered(noise: str) -> None:
    text = noise * (1_000_000 // len(noise))
    step = parse_step(text)
    assert step.repairs[0] == "the answer was cut"
    assert step.normalised.native is None or step.normalised.native.type == "wait"
    assert step.raw == text


@each("start", ['{"type": "tap", "x": ', "tap(", "{"])
@each("noise", ["9", "1.", "/* ", " ", "a "])
def test_an_argument_without_end_is_answered(start: str, noise: str) -> None:
    step = parse_step(start + noise * (180_000 // len(noise)) + "z")
    assert step.normalised.native is None or step.normalised.native.type == "wait"


def test_an_action_before_a_megabyte_of_text_is_still_found() -> None:
    assert parse_step(JSON + " and so on" * 100_000).normalised.action == TAP


def test_data_deeper_than_python_goes_and_endless_numbers_are_answered() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert parse_step(deep).normalised.action == WAIT
    assert parse_step({**TAP, "x": 10**5_000}).normalised.native is None


def test_the_output_is_the_seeds_interface() -> None:
    text = f"I tap it. {JSON}"
    assert parse_step(text).to_dict() == {"thought": "I tap it.", "action": TAP, "raw": text}


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(0, len(JSON)))
def test_any_text_around_a_cut_answer_is_survived(text: str, at: int) -> None:
    step = parse_step(text + JSON[:at] + text)
    assert (step.normalised.native is None) != (step.normalised.not_executable is None)
