"""Flows written as YAML: what is written reads back the same, and edits keep the rest of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail.flow.document import Place, loads
from handrail.flow.parse import plain_data, read_yaml
from handrail.flow.write import flat_yaml, replace_target, replace_value, write_flow, write_steps
from handrail.protocol.actions import ACTIONS
from handrail.protocol.device import Tap
from handrail.protocol.flow import AnyStep, Branch, Flow, Parallel, Repeat, RunFlow, Step
from handrail.protocol.observe import Finish, WaitFor
from handrail.protocol.read import action_from
from handrail.protocol.target import Condition, Point, Selector
from tests.cases import each
from tests.unit.flow.good_flows import GOOD


def again(flow: Flow) -> Flow:
    return loads(write_flow(flow)).bind({}).flow


@each("kind", ACTIONS)
def test_every_action_is_read_back_as_it_was(kind: str) -> None:
    flow = Flow(name=kind, steps=(Step(action=action_from(ACTIONS[kind].example)),))
    assert again(flow) == flow


@each("data", GOOD, ids=lambda data: json.dumps(data)[:40])
def test_every_form_of_a_step_is_read_back_as_it_was(data: Any) -> None:
    flow = (
        loads(json.dumps(data)).bind({"MS": "5", "KEY": "back", "APP": "com.a", "NAME": "a", "N": "3"}).flow
    )
    assert again(flow) == flow


def test_steps_are_written_as_a_person_would() -> None:
    flow = Flow(
        name="Save a contact",
        app="com.google.android.contacts",
        env={"PORT": "8080"},
        tags=("smoke",),
        steps=(
            Step(action=Tap(target=Selector(text="Save")), label="Save it", optional=True),
            Step(action=Tap(target=Selector(id="com.a:id/save", within=Selector(text="List")))),
            Step(action=Tap(target=Point(x=1, y=2), expect=Condition(visible=Selector(text="Done")))),
            Step(action=WaitFor(condition=Condition(visible=Selector(text="A: b")), timeout_ms=500)),
            Repeat(while_=Condition(absent=Selector(text="yes")), steps=(Step(action=Finish()),)),
            RunFlow(file="other.yaml"),
        ),
    )
    assert (
        write_flow(flow)
        == """name: Save a contact
app: com.google.android.contacts
tags: [smoke]
env: {PORT: "8080"}
steps:
  - tap: Save
    label: Save it
    optional: true
  - tap: {id: "com.a:id/save", within: List}
  - tap: "1,2"
    expect: Done
  - wait_for: "A: b"
    timeout_ms: 500
  - repeat:
      while: {absent: yes}
      steps:
        - finish
  - run_flow: other.yaml
"""
    )


def test_long_values_are_written_below_each_other() -> None:
    flow = Flow(name="n", steps=(Step(action=Tap(target=Selector(id="a" * 60, text="b" * 60))),))
    assert write_flow(flow).splitlines()[2:] == [
        "  - tap:",
        f"      id: {'a' * 60}",
        f"      text: {'b' * 60}",
    ]
    assert again(flow) == flow


def test_what_a_recording_knows_stands_beside_its_step() -> None:
    tap = Step(action=Tap(target=Selector(text="Save")))
    steps = (tap, Repeat(times=2, steps=(tap,)), Branch(condition=Condition(app="a"), then=(tap,)))
    elements = {path: {"class": "Button", "text": "${x}"} for path in ((0,), (1, 0), (2, "then", 0))}
    document = loads(write_steps(steps, elements))
    assert document.flow.steps == steps
    assert all(document.element(path) == elements[path] for path in elements)


def test_a_branch_that_is_itself_conditional_can_not_be_written() -> None:
    inner = (Step(action=Finish()),)
    branch = Branch(condition=Condition(app="a"), when=Condition(app="b"), then=inner)
    with pytest.raises(InvalidAction, match="when"):
        write_flow(Flow(name="n", steps=(branch,)))


NASTY_TEXTS = (
    "yes", "null", "~", "12", "-1.5", "1e5", "a: b", " a", "a ", "#a", "@b1", "1,2", "- a", "&a", "*a",
    "!a", "%a", "${A}", "$${A}", "${",
    "${secret:PIN}", "a\nb", "\u2028b", "\x85b", "\x7f", "\ufeff", "😀", "é",
    "日本", "\tb", "'", '"', "\\", "{a}", "[a]", "a,b", "---", "...", "?", ":", "true", "0123",
)  # fmt: skip
NASTY = st.one_of(
    st.text(min_size=1, max_size=30).filter(lambda text: "$${secret:" not in text and not text.isspace()),
    st.sampled_from(NASTY_TEXTS),
)
NUMBER = st.one_of(st.integers(-(10**15), 10**15), st.floats(-1e9, 1e9, allow_nan=False))


@st.composite
def selectors(draw: st.DrawFn) -> Selector:
    fields = draw(
        st.dictionaries(st.sampled_from(["text", "id", "text_contains", "hint"]), NASTY, min_size=1)
    )
    anchor = {"within": draw(selectors())} if draw(st.integers(0, 9)) == 0 else {}
    return Selector(**fields, **anchor, index=draw(st.none() | st.integers(0, 9)))


TARGETS = st.one_of(selectors(), st.builds(Point, x=st.integers(-5, 5_000), y=st.integers(-5, 5_000)))
CONDITIONS = st.recursive(
    st.one_of(
        st.builds(Condition, visible=TARGETS),
        st.builds(Condition, absent=TARGETS),
        st.builds(Condition, app=NASTY),
    ),
    lambda inner: st.builds(Condition, all=st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=4,
)
ACTS = st.one_of(
    TARGETS.map(lambda target: {"type": "tap", "target": target}),
    st.tuples(TARGETS, NASTY).map(lambda both: {"type": "type_text", "target": both[0], "text": both[1]}),
    st.tuples(TARGETS, NUMBER | NASTY).map(
        lambda both: {"type": "set_value", "target": both[0], "value": both[1]}
    ),
    st.tuples(CONDITIONS, st.integers(0, 9_999)).map(
        lambda both: {"type": "wait_for", "condition": both[0], "timeout_ms": both[1]}
    ),
    st.lists(NASTY, min_size=1, max_size=3).map(lambda words: {"type": "shell", "command": words}),
    st.just({"type": "get_state"}),
)


@st.composite
def action_steps(draw: st.DrawFn) -> Step:
    act = draw(ACTS)
    if draw(st.booleans()):
        act |= {"reason": draw(st.none() | NASTY), "expect": draw(st.none() | CONDITIONS)}
    return Step.model_validate(
        {
            "action": act,
            "label": draw(st.none() | NASTY),
            "optional": draw(st.booleans()),
            "timeout_ms": draw(st.none() | st.integers(0, 600_000)),
            "when": draw(st.none() | CONDITIONS),
            "retry": draw(st.integers(0, 3)),
            "settle": draw(st.sampled_from([None, "full", "light", "none"])),
        }
    )


RUN_FLOWS = st.builds(RunFlow, file=NASTY, env=st.dictionaries(st.sampled_from("AB"), NASTY))


def _controls(inner: st.SearchStrategy[AnyStep]) -> st.SearchStrategy[AnyStep]:
    steps = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Repeat, times=st.integers(1, 9), steps=steps, label=st.none() | NASTY),
        st.builds(Repeat, until=CONDITIONS, max_times=st.integers(1, 9), steps=steps),
        st.builds(Branch, condition=CONDITIONS, then=steps, otherwise=st.none() | steps),
        st.builds(Parallel, devices=st.dictionaries(NASTY, steps, min_size=1, max_size=2)),
    )


STEPS: st.SearchStrategy[AnyStep] = st.recursive(action_steps() | RUN_FLOWS, _controls, max_leaves=5)
FLOWS = st.builds(
    Flow,
    name=NASTY,
    app=st.none() | NASTY,
    tags=st.lists(NASTY, max_size=2).map(tuple),
    env=st.dictionaries(st.sampled_from("AB"), NASTY, max_size=2),
    devices=st.lists(NASTY, max_size=2).map(tuple),
    steps=st.lists(STEPS, min_size=1, max_size=4).map(tuple),
)


@given(FLOWS)
@settings(max_examples=15)
def test_whatever_is_written_reads_back_the_same(flow: Flow) -> None:
    assert again(flow) == flow


@given(NASTY)
def test_a_text_is_the_same_in_both_of_yamls_styles(text: str) -> None:
    node = read_yaml(f"- {flat_yaml(text)}\n- {{a: {flat_yaml(text)}}}\n", [])
    assert node
    assert plain_data(node) == [text, {"a": text}]


FILE = """# a flow that people keep
name: keep   # the name
steps:
  - tap: Save   # saves
    label: x
  - long_press: {id: a, text: b}   # holds
  - scroll_to:
      # the list's end
      id: end   # stays
      text: The end   # goes
    optional: true
"""


def edited(path: tuple[int | str, ...], new: Any) -> list[tuple[str, str]]:
    """The lines that an edit changed."""
    text = replace_target(FILE, loads(FILE).places.of(path), new)
    return [(a, b) for a, b in zip(FILE.splitlines(), text.splitlines(), strict=True) if a != b]


def test_another_target_changes_its_own_line_and_nothing_else() -> None:
    assert edited((0, "target"), Selector(id="save")) == [
        ("  - tap: Save   # saves", "  - tap: {id: save}   # saves")
    ]
    assert edited((0, "target"), "Save: now") == [
        ("  - tap: Save   # saves", '  - tap: "Save: now"   # saves')
    ]
    assert edited((1, "target"), Point(x=1, y=2))[0][1] == '  - long_press: "1,2"   # holds'


def test_below_each_other_only_what_differs_is_written_anew() -> None:
    changed = edited((2, "target"), {"id": "end", "text": "Fin"})
    assert changed == [("      text: The end   # goes", "      text: Fin   # goes")]


def test_other_keys_below_each_other_are_written_in_the_same_column() -> None:
    text = replace_target(FILE, loads(FILE).places.of((2, "target")), {"description": "End", "hint": "x"})
    assert "\n      description: End\n      hint: x   # goes\n    optional: true\n" in text
    assert loads(text).flow.steps[2].action.target.description == "End"  # type: ignore[union-attr]


def test_a_block_text_is_replaced_without_its_last_line_break() -> None:
    text = "- finish: |\n    many\n    lines\n- get_state\n"
    assert replace_value(text, loads(text).places.of((0, "message")), "one") == "- finish: one\n- get_state\n"


def test_a_json_file_stays_json() -> None:
    text = '[{"tap": {"id": "a"}},\n  {"tap": "B"}]'
    new = replace_target(text, loads(text, Path("a.json")).places.of((1, "target")), {"id": "b", "text": "B"})
    assert new == '[{"tap": {"id": "a"}},\n  {"tap": {"id": "b", "text": "B"}}]'


def test_a_place_where_nothing_starts_is_refused() -> None:
    with pytest.raises(InvalidAction, match="flow:1:2: no value starts here"):
        replace_target(FILE, Place(None, 1, 2), "A")
    with pytest.raises(InvalidAction, match="not valid YAML"):
        replace_target("- [", Place(None, 1, 1), "A")
