"""What is decided before a screen is read is never decided otherwise afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from handrail.protocol.actions import ACTIONS
from handrail.safety.policy import KEYS, Policy, Rule
from handrail.safety.subject import TouchedElement
from tests.unit.safety.policy_subjects import button, policy, subject

LABELS = ["Pay now", "Save", "", "Delete account"]
APPS = ["com.bank", "com.shop"]

elements = st.builds(
    TouchedElement,
    package=st.sampled_from(APPS),
    label=st.sampled_from(LABELS),
    says=st.lists(st.sampled_from(LABELS[:2]), max_size=1).map(tuple),
    id=st.sampled_from(["", "com.shop:id/pay"]),
    role=st.sampled_from(["button", "text_field"]),
    password=st.booleans(),
)
values = {
    "action": ["tap", "t*", "type_text", "*", "get_*"],
    "app": ["com.bank", "com.*"],
    "label": ["Pay*", "*", "/save/"],
    "id": ["pay"],
    "device": ["emulator-*", "R58M"],
    "effect": ["input", "read", "system"],
    "door": ["mcp", "cli"],
    "caller": ["remote"],
    "role": ["button"],
    "password": [True, False],
    "secret": [True, False],
}


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    parts = [
        KEYS[name].part(draw(st.sampled_from(known)))
        for name, known in values.items()
        if draw(st.integers(0, 3)) == 0
    ]
    verdict = draw(st.sampled_from(["allow", "ask", "deny"]))
    return Rule(verdict, f"r{draw(st.integers(0, 99))}", parts=tuple(parts))


actions = st.sampled_from([dict(cls.example) for cls in ACTIONS.values()])


@settings(max_examples=200)
@given(
    st.lists(rules(), max_size=6),
    actions,
    st.lists(elements, min_size=1, max_size=2),
    st.sampled_from(["local", "remote"]),
    st.sampled_from(["emulator-5554", "R58M"]),
    st.sampled_from(["mcp", "cli"]),
)
def test_an_early_verdict_is_the_later_one_whatever_the_screen_shows(
    made: list[Rule],
    action: dict[str, Any],
    touched: list[TouchedElement],
    caller: str,
    device: str,
    door: str,
) -> None:
    rules_of = Policy(tuple(made))
    about = {"caller": caller, "device": device, "door": door}
    early = rules_of.early(subject(action, resolved=None, **about))
    later = rules_of.decide(subject(action, resolved=touched, **about))
    assert early in (None, later)


@settings(max_examples=200)
@given(st.lists(rules(), min_size=1, max_size=6), actions, elements)
def test_the_decision_is_that_of_the_first_rule_whose_every_part_holds(
    made: list[Rule], action: dict[str, Any], element: TouchedElement
) -> None:
    looked_at = subject(action, element)
    first = next((rule for rule in made if rule.test(looked_at)), None)
    verdict = Policy(tuple(made)).decide(looked_at)
    if first is None:
        assert verdict.rule.startswith("built-in: ")
    else:
        assert verdict == replace(first.says(), policy="defaults")


def test_an_open_rule_in_front_keeps_everything_behind_it_open() -> None:
    rules_of = policy("""
        [[rule]]
        label = "Save"
        verdict = "allow"
        [[rule]]
        action = "tap"
        verdict = "deny"
    """)
    assert rules_of.early(subject("tap", resolved=None)) is None
    assert rules_of.decide(subject("tap", button("Save"))).kind == "allow"
    assert rules_of.decide(subject("tap", button("Other"))).kind == "deny"


def test_what_the_action_alone_tells_is_refused_early() -> None:
    rules_of = policy("[[rule]]\naction = 'shell'\nverdict = 'deny'\n[[rule]]\nlabel = 'x'\nverdict = 'ask'")
    early = rules_of.early(subject({"type": "shell", "command": "ls"}, resolved=None))
    assert early is not None
    assert early.kind == "deny"


def test_a_screen_rule_for_other_actions_keeps_nothing_open() -> None:
    rules_of = policy("[[rule]]\naction = 'tap'\nlabel = 'x'\nverdict = 'ask'")
    early = rules_of.early(subject({"type": "shell", "command": "ls"}, resolved=None, caller="remote"))
    assert early is not None
    assert early.kind == "deny"


def test_early_does_not_peek_at_an_element_that_it_is_given_by_mistake() -> None:
    assert Policy().early(subject("tap", button("Pay now"))) is None
