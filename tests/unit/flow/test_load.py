"""Reading flows: what the language takes, and how it says no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.flow.document import load, loads
from handrail.flow.parse import text_with_caret
from handrail.protocol.actions import ACTIONS
from handrail.protocol.flow import Step
from handrail.protocol.read import action_from
from tests.cases import each


def first(text: str) -> Any:
    return loads(text).flow.steps[0]


def problems(text: str, path: Path | None = None) -> list[dict[str, Any]]:
    with pytest.raises(InvalidAction) as refused:
        loads(text, path).bind({})
    found: list[dict[str, Any]] = refused.value.details["problems"]
    return found


def said(text: str) -> str:
    """Everything that is said of a text, in one string."""
    return json.dumps(problems(text), ensure_ascii=False)


@each("kind", ACTIONS)
def test_every_action_can_be_a_step(kind: str) -> None:
    fields = {key: value for key, value in ACTIONS[kind].example.items() if key != "type"}
    step = first(json.dumps([{kind: fields}]))
    assert step.action == action_from(ACTIONS[kind].example)


def test_our_steps_are_not_taken_for_agentest() -> None:
    assert not loads("- tap: Save").is_agentest


def test_every_wrong_agentest_step_is_said_with_its_line() -> None:
    text = '[\n {"action": "tap", "target": {"txt": "A"}},\n {"action": "tapp"},\n "tap"\n]'
    found = problems(text)
    assert [(one["line"], one["path"]) for one in found] == [
        (2, "steps[0].target.txt"),
        (3, "steps[1].action"),
        (4, "steps[2]"),
    ]


def test_json_takes_escaped_pairs_and_tabs() -> None:
    assert first('[\t{"tap": "\\ud83d\\ude00"}]').action.target.text == "😀"


@each(
    ("text", "line", "words"),
    [
        ("name: a\nname: b\nsteps: [finish]", 2, "given twice, first in line 1"),
        ('{"name": "a",\n"name": "b", "steps": ["finish"]}', 2, "given twice, first in line 1"),
        ("- tap: !!str Save", 1, "tag"),
        ("- tap: !python/object:os.system Save", 1, "tag"),
        ("- tap: {<<: {id: a}}", 1, "merge keys"),
        ("- tap: *nothing", 1, "stands for nothing"),
        ("- &a [*a]", 1, "stands for nothing"),
        ("- finish\n---\n- finish", 2, "One flow per file"),
        ("- tap: @b1", 1, 'in quotes: \\"@…'),
        ("- tap: {text: ${NAME}}", 1, "put variables in quotes"),
        ("- tap: Save: now", 1, "in quotes"),
        ("\t- tap: Save", 1, "spaces"),
        ("- finish\n  when: Saved", 2, "Write `- finish:`"),
        ("", 1, "is empty"),
        ("# only a comment", 1, "is empty"),
        ("Save", 1, "is not a flow"),
        ("name: a", 1, "needs at least one step"),
        ("steps: []", 1, "needs at least one step"),
        ("steps: tap", 1, "should be a list of steps"),
        ("steps:\n  -\n", 2, "is empty"),
        ("- - tap: A", 1, "not a list"),
        ("- {tap: A, swipe: up}", 1, "does two things"),
        ("- label: A", 1, "says nothing to do"),
        ("- when: A", 1, "says when, and not what"),
        ("- when: A\n  else: [finish]", 1, "needs `then`"),
        ("- then: [finish]", 1, "needs `when`"),
        ("- type: tap\n  target: A", 1, "Write `- tap: …`"),
        ("- long_press: A\n  duration_ms: 5", 2, "It belongs inside"),
        ("- tap: {target: A, optional: true}", 1, "beside the action"),
        ("- tap: {target: A, reason: x}\n  reason: y", 2, "inside and beside"),
        ("- tap: A\n  timeout_ms: 5\n  timeoutMs: 5", 3, "in both spellings"),
        ("- tap: A\n  optinal: true", 2, "Did you mean optional"),
        ("- tap: A\n  label:", 2, "has no value"),
        ("- tap: {target: A, expect: }", 1, "has no value"),
        ("- drag: A", 1, "has no short form"),
        ("- drag: {from_: A, to: B}", 1, "Did you mean from?"),
        ("- tap:", 1, "is required"),
        ("- repeat: 3", 1, "times: 3, steps"),
        ("- when: {visibl: A}\n  then: [finish]", 1, "steps[0].when.visibl"),
        ("- repeat: {steps: [finish]}", 1, "exactly one of times"),
        ("- repeat: {times: 3}", 1, "needs at least one step"),
        ("- parallel: [tap]", 1, "names of devices"),
        ("- run_flow: {fil: a.yaml}", 1, "Did you mean file"),
        ("- tap: A\n  element: B", 2, "should be a mapping"),
        ("app:\nsteps: [finish]", 1, "has no value"),
        ("env: {A B: c}\nsteps: [finish]", 1, "name of a variable"),
        ("? [a]\n: b", 1, "a key must be a text"),
        ('{"steps": [}', 1, ""),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_its_line_and_what_to_do(text: str, line: int, words: str) -> None:
    assert words in said(text)
    assert problems(text)[0]["line"] == line


@each(
    "text",
    [
        '[{"tap": "A"},]', '{"steps": ["finish"]} x', '{"steps" 1}', '["a"', "[nul]", "[01]", '["\\ud800"]',
        "[1 2]", "{1: 2}", '{"a": 1,}', '["\n"]',
    ],
)  # fmt: skip
def test_a_json_file_is_read_as_json_alone(text: str) -> None:
    (problem,) = problems(text, Path("flow.json"))
    assert problem["message"].startswith("not valid JSON")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="No such file"):
        load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"- tap: Save\n- tap: Men\xfc\n")
    with pytest.raises(InvalidAction, match=r"latin.yaml:2:1: not UTF-8"):
        load(tmp_path / "latin.yaml")


def test_aliases_work_and_can_not_be_a_bomb() -> None:
    flow = loads("steps:\n  - tap: &save {id: save}\n  - long_press: *save\n").flow
    assert [step.action.target.id for step in flow.steps if isinstance(step, Step)] == ["save", "save"]  # type: ignore[union-attr]
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(9)
    )
    assert "more than 100,000 values" in said(bomb)
    deep = "".join(f"k{n}: &k{n} [*k{n - 1}]\n" if n else "k0: &k0 [x]\n" for n in range(100))
    assert "nested deeper" in said(deep)


@each("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_at_once(opening: str) -> None:
    assert "nested deeper than 60" in said(opening * (1_000_000 // len(opening)))
    assert "nested deeper than 60" in json.dumps(problems("[" * 1_000_000, Path("a.json")))


def test_more_steps_than_a_flow_may_have_are_refused() -> None:
    assert "has 10,001 steps" in said("- finish\n" * 10_001)


def test_of_very_many_problems_the_first_hundred_are_told() -> None:
    assert len(problems("- tapp: A\n" * 5_000)) == 100
    assert len(problems("[" + ",".join(['{"action": "tapp"}'] * 5_000) + "]")) == 100


def test_too_many_bytes_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="too many"):
        loads("#" * 2_000_001)
    (tmp_path / "big.yaml").write_bytes(b"#" * 2_000_001)
    with pytest.raises(InvalidAction, match="too many"):
        load(tmp_path / "big.yaml")


def test_places_are_found_by_the_path_of_a_step() -> None:
    document = loads("""name: places
steps:
  - tap: Save
  - repeat:
      times: 2
      steps:
        - tap: {id: a}
  - when: A
    then: [{tap: B}]
    else:
      - get_state
  - parallel:
      alice: [{tap: C}]
""")
    places = document.places
    found = {path: (places.of(path).line, places.of(path).column) for path in [
        (), (0,), (0, "target"), (1, 0), (1, "steps", 0), (1, 0, "target"), (1, "times"), (2, "then", 0),
        (2, "else", 0), (2, "otherwise", 0), (3, "alice", 0), (3, "devices", "alice", 0),
        (3, "alice", 0, "target"), (9,), ("steps",),
    ]}  # fmt: skip
    assert found == {
        (): (1, 1), (0,): (3, 5), (0, "target"): (3, 10), (1, 0): (7, 11), (1, "steps", 0): (7, 11),
        (1, 0, "target"): (7, 16), (1, "times"): (5, 14), (2, "then", 0): (9, 12), (2, "else", 0): (11, 9),
        (2, "otherwise", 0): (11, 9), (3, "alice", 0): (13, 15), (3, "devices", "alice", 0): (13, 15),
        (3, "alice", 0, "target"): (13, 21), (9,): (1, 1), ("steps",): (3, 3),
    }  # fmt: skip
    assert document.step_source((1, 0)) == {"tap": {"id": "a"}}
    assert document.step_source((2, "else", 0)) == {"get_state": None}


def test_a_frame_shows_the_line_with_a_caret_under_the_column() -> None:
    assert text_with_caret("steps:\n  - tpa: Save\n", 2, 5) == "1 | steps:\n2 |   - tpa: Save\n  |     ^"
    assert text_with_caret("\ta\x1b[31m", 1, 2) == "1 |  a [31m\n  |  ^"
    cut = text_with_caret("x" * 500, 1, 400).splitlines()
    assert cut[1].index("^") < 110
    assert text_with_caret("a", 9, 1) == ""
