"""Rules of a policy file: what each key matches, and that the first match wins."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from handrail.errors import ActionRejected
from handrail.safety.policy import Policy
from handrail.safety.subject import TouchedElement
from tests.cases import each
from tests.unit.safety.policy_subjects import button, policy, subject


def decides(text: str, *args: Any, **more: Any) -> str:
    """The rule's name, or the built-in case."""
    return policy(text).decide(subject(*args, **more)).rule


def test_the_first_rule_that_matches_decides() -> None:
    rules = policy("""
        [[rule]]
        name = "shop"
        app = "com.shop"
        verdict = "allow"
        [[rule]]
        name = "all taps"
        action = "tap"
        verdict = "deny"
    """)
    assert rules.decide(subject("tap", button("Pay", package="com.shop"))).rule == "shop"
    assert rules.decide(subject("tap", button("Pay", package="com.bank"))).rule == "all taps"
    assert rules.decide(subject("get_state")).rule == "built-in: get_state"


def test_a_rule_without_parts_matches_everything() -> None:
    assert decides("[[rule]]\nverdict = 'deny'", "get_state") == "rule 1"


@each(
    ("part", "hit", "miss"),
    [
        ("action = 'get_*'", ("get_state",), ("tap",)),
        ("action = ['tap', 'finish']", ("finish",), ("get_state",)),
        ("action = '/^(tap|swipe)$/'", ("tap",), ("finish",)),
        ("effect = 'read'", ("get_state",), ("tap",)),
        (
            "effect = 'sensitive'",
            ({"type": "shell", "command": "ls", "raw": True},),
            ({"type": "shell", "command": "ls"},),
        ),
        (
            "semantic = 'navigation'",
            ({"type": "press_key", "key": "back"},),
            ({"type": "press_key", "key": "enter"},),
        ),
        (
            "app = 'com.bank.*'",
            ("tap", button("x", package="com.bank.de")),
            ("tap", button("x", package="com.shop")),
        ),
        (
            "app = 'com.bank'",
            ({"type": "start_app", "package": "com.bank"},),
            ({"type": "start_app", "package": "com.shop"},),
        ),
        ("label = 'pay*'", ("tap", button("Pay now")), ("tap", button("Play now"))),
        ("label = '/^pay\\b/'", ("tap", button("PAY 12")), ("tap", button("Payment"))),
        (
            "id = 'pay'",
            ("tap", button("x", id="com.shop:id/pay")),
            ("tap", button("x", id="com.shop:id/repay")),
        ),
        (
            "id = 'com.shop:id/*'",
            ("tap", button("x", id="com.shop:id/pay")),
            ("tap", button("x", id="a:id/pay")),
        ),
        ("role = 'switch'", ("tap", button("x", role="switch")), ("tap", button("x"))),
        ("password = true", ("tap", button("x", password=True)), ("tap", button("x"))),
        (
            "secret = true",
            ({"type": "type_text", "text": "${secret:PIN}"},),
            ({"type": "type_text", "text": "12"},),
        ),
        (
            "host = '*.example.org'",
            ({"type": "open_url", "url": "https://a.example.org/x"},),
            ({"type": "open_url", "url": "https://example.com"},),
        ),
    ],
)
def test_a_part_matches_what_it_names_and_nothing_else(part: str, hit: Any, miss: Any) -> None:
    text = f"[[rule]]\nname = 'it'\nverdict = 'ask'\n{part}"
    assert decides(text, *hit) == "it"
    assert decides(text, *miss) != "it"


@each(
    ("part", "hit", "miss"),
    [
        ("device = 'emulator-*'", {"device": "emulator-5554"}, {"device": "R58M"}),
        ("door = ['mcp', 'agent']", {"door": "mcp"}, {"door": "cli"}),
        ("caller = 'remote'", {"caller": "remote"}, {"caller": "local"}),
    ],
)
def test_who_and_where_can_be_matched(part: str, hit: Any, miss: Any) -> None:
    text = f"[[rule]]\nname = 'it'\nverdict = 'ask'\n{part}"
    assert decides(text, "get_state", **hit) == "it"
    assert decides(text, "get_state", **miss) != "it"


@each(
    ("window", "time", "matches"),
    [
        ("22:00-06:00", "23:30", True),
        ("22:00-06:00", "05:59", True),
        ("22:00-06:00", "06:00", False),
        ("09:00-17:00", "09:00", True),
        ("09:00-17:00", "17:00", False),
        ("09:00-24:00", "23:59", True),
    ],
)
def test_a_time_window_holds_by_the_local_clock(window: str, time: str, matches: bool) -> None:
    at_ms = int(datetime.fromisoformat(f"2026-04-23T{time}").timestamp() * 1000)
    text = f"[[rule]]\nname = 'it'\nverdict = 'deny'\ntime = '{window}'"
    assert (decides(text, "get_state", at_ms=at_ms) == "it") is matches


def test_a_rule_can_be_for_some_days() -> None:
    text = "[[rule]]\nname = 'it'\nverdict = 'deny'\ndays = ['sat', 'sun']"
    saturday = int(datetime(2026, 4, 25, 12).timestamp() * 1000)
    assert decides(text, "get_state", at_ms=saturday) == "it"
    assert decides(text, "get_state") != "it"


def test_a_limit_sees_everything_that_an_element_says_and_an_allow_only_its_name() -> None:
    shown = button("Cancel", says=("Pay now",))
    assert decides("[[rule]]\nname = 'it'\nlabel = 'Pay*'\nverdict = 'deny'", "tap", shown) == "it"
    assert decides("[[rule]]\nname = 'it'\nlabel = 'Pay*'\nverdict = 'allow'", "tap", shown) != "it"


def test_an_allow_holds_only_if_all_that_is_touched_fits() -> None:
    drag = {"type": "drag", "from": "1,1", "to": "2,2"}
    both = [button("Card", package="com.notes"), button("Bin", package="com.bank")]
    allow = "[[rule]]\nname = 'it'\napp = 'com.notes'\nverdict = 'allow'"
    deny = "[[rule]]\nname = 'it'\napp = 'com.bank'\nverdict = 'deny'"
    assert decides(allow, drag, resolved=both) != "it"
    assert decides(deny, drag, resolved=both) == "it"


def test_an_action_that_names_an_app_is_judged_by_that_and_not_by_the_app_in_front() -> None:
    text = "[[rule]]\nname = 'it'\napp = 'com.bank'\nverdict = 'deny'"
    front = TouchedElement(package="com.bank")
    assert decides(text, {"type": "stop_app", "package": "com.shop"}, front) != "it"
    assert (
        decides(text, {"type": "stop_app", "package": "com.bank"}, TouchedElement(package="com.shop")) == "it"
    )


def test_a_label_pattern_needs_an_element() -> None:
    assert (
        decides("[[rule]]\nname = 'it'\nlabel = '*'\nverdict = 'deny'", "get_state", TouchedElement()) != "it"
    )


def test_a_verdict_carries_the_rules_reason_and_memory() -> None:
    rules = policy("[[rule]]\nname = 'n'\nverdict = 'ask'\nremember = 'always'\nwhy = 'because'")
    verdict = rules.decide(subject("get_state"))
    assert (verdict.kind, verdict.why, verdict.remember) == ("ask", "because", "always")


def test_a_denial_becomes_a_failure_that_names_the_rule() -> None:
    verdict = policy("[[rule]]\nname = 'no shells'\nverdict = 'deny'\nwhy = 'house rule'").decide(
        subject({"type": "shell", "command": "ls"})
    )
    failure = verdict.rejection()
    assert isinstance(failure, ActionRejected)
    assert "no shells" in failure.message
    assert "house rule" in failure.message


def test_nobody_can_forget_to_resolve_before_a_decision() -> None:
    unread = subject("tap", resolved=None)
    with pytest.raises(ValueError, match="resolved"):
        Policy().decide(unread)
    with pytest.raises(TypeError):
        type(unread).of(unread.action, at_ms=0)  # type: ignore[call-arg]


PAGE = TouchedElement(package="com.example.app", label="Go", role="button", place="https://a.example")


@pytest.mark.parametrize("app", ["com.example.app", "https://a.example"])
def test_a_rule_for_an_app_or_for_an_address_holds_for_a_page_inside_the_app(app: str) -> None:
    rules = policy(f'[[rule]]\nname = "never"\nverdict = "deny"\napp = "{app}"\n')
    assert rules.decide(subject("tap", PAGE)).kind == "deny"
    assert (
        rules.decide(subject("tap", replace(PAGE, package="com.other", place="https://b.example"))).kind
        != "deny"
    )


def test_a_new_address_inside_an_app_asks_and_a_known_one_does_not() -> None:
    asked = policy("").decide(subject("tap", PAGE))
    assert (asked.kind, asked.rule) == ("ask", "built-in: a new place")
    assert policy('known_hosts = ["a.example"]').decide(subject("tap", PAGE)).kind == "allow"


@pytest.mark.parametrize(("home", "kind"), [("https://a.example", "allow"), ("com.example.app", "deny")])
def test_a_secret_goes_by_the_page_where_there_is_one(home: str, kind: str) -> None:
    rules = policy(f'known_hosts = ["a.example"]\n[secrets]\nPIN = "{home}"\n')
    field = replace(PAGE, role="text_field")
    typing = {"type": "type_text", "text": "${secret:PIN}", "target": "540,750"}
    assert rules.decide(subject(typing, field)).kind == kind
