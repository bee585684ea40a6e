"""Rules that can never decide, because of themselves or of one before them."""

import pytest

from handrail.safety.policy import unreachable
from tests.cases import each
from tests.unit.safety.policy_subjects import button, policy, subject


def dead(text: str) -> set[int]:
    return set(unreachable(policy(text).rules))


@each(
    ("first", "later", "covered"),
    [
        ("", "action = 'tap'", True),
        ("action = '*'", "action = 'tap'", True),
        ("action = 't*'", "action = 'tap'", True),
        ("action = 'tap'", "action = 't*'", False),
        ("effect = 'input'", "action = 'tap'", True),
        ("effect = 'system'", "action = 'shell'", False),
        ("effect = ['system', 'sensitive']", "action = 'shell'", True),
        ("app = 'com.*'", "app = 'com.bank'", True),
        ("app = 'com.*'", "app = '/bank/'", False),
        ("label = 'pay*'", "label = 'Pay now'\napp = 'com.a'", True),
        ("label = 'Pay'", "", False),
        ("door = ['mcp', 'cli']", "door = 'mcp'", True),
        ("door = 'mcp'", "door = ['mcp', 'cli']", False),
        ("password = true", "password = true", True),
        ("password = true", "password = false", False),
        ("time = '20:00-08:00'", "time = '22:00-06:00'", True),
        ("time = '22:00-06:00'", "time = '20:00-08:00'", False),
        ("time = '22:00-06:00'", "", False),
    ],
)
def test_a_rule_that_an_earlier_one_covers_never_decides(first: str, later: str, covered: bool) -> None:
    text = f"[[rule]]\nverdict = 'deny'\n{first}\n[[rule]]\nverdict = 'ask'\n{later}"
    assert (1 in dead(text)) is covered


def test_an_allow_on_a_name_does_not_cover_a_limit_that_looks_at_more() -> None:
    allow = "[[rule]]\nverdict = 'allow'\nlabel = 'Save'\n"
    assert dead(allow + "[[rule]]\nverdict = 'ask'\nlabel = 'Save'") == set()
    assert dead(allow + "[[rule]]\nverdict = 'allow'\nlabel = 'Save'") == {1}


def test_a_rule_whose_own_parts_exclude_each_other_never_decides() -> None:
    assert dead("[[rule]]\nverdict = 'deny'\naction = 'tap'\neffect = 'read'") == {0}


def test_an_allow_that_excludes_password_fields_looks_at_the_screen_too() -> None:
    allow = "[[rule]]\nverdict = 'allow'\npassword = false\n"
    assert dead(allow + "[[rule]]\nverdict = 'ask'\npassword = false") == set()
    rules = policy(allow + "[[rule]]\nname = 'it'\nverdict = 'ask'\npassword = false")
    both = [button("Name"), button("Password", password=True)]
    assert rules.decide(subject({"type": "drag", "from": "1,1", "to": "2,2"}, resolved=both)).rule == "it"


@each(
    ("first", "later", "covered"),
    [
        ("semantic = 'navigation'", "action = 'press_key'", False),
        ("semantic = ['navigation', 'input']", "action = 'press_key'", True),
        ("effect = 'read'", "action = 'query_db'", False),
        ("effect = ['read', 'sensitive']", "action = 'query_db'", True),
        ("semantic = 'selection'", "action = 'tap'", True),
        ("action = ['tap', 'swipe']\nsemantic = 'selection'", "action = 'tap'", True),
        ("action = 'shell'\neffect = 'system'", "action = 'shell'\neffect = 'sensitive'", False),
        ("role = ['button', 'tab']", "role = 'tab'", True),
        ("role = 'tab'", "role = 'button'", False),
        ("caller = 'local'", "caller = 'remote'", False),
        ("days = ['sat', 'sun']", "days = 'sun'", True),
        ("host = '*.org'", "host = 'a.org'", True),
        ("host = '*.org'", "action = 'open_url'", False),
        ("device = 'R*'", "device = ['R58M', 'X']", False),
        ("device = ['R*', 'X']", "device = ['R58M', 'X']", True),
        ("id = 'pay'", "id = 'pay'\nlabel = 'x'", True),
        ("secret = true", "secret = false", False),
        ("secret = false", "secret = false", True),
        ("secret = false", "", False),
        ("time = ['00:00-12:00', '12:00-24:00']", "time = '11:00-13:00'", True),
    ],
)
def test_a_rule_is_covered_only_by_one_that_asks_for_less(first: str, later: str, covered: bool) -> None:
    text = f"[[rule]]\nverdict = 'deny'\n{first}\n[[rule]]\nverdict = 'ask'\n{later}"
    assert (1 in dead(text)) is covered


@pytest.mark.parametrize(
    "own", ["action = 'press_key'\nsemantic = 'selection'", "action = 'shell'\neffect = 'read'"]
)
def test_what_no_action_can_be_never_decides_and_says_so(own: str) -> None:
    rules = policy(f"[[rule]]\nverdict = 'deny'\n{own}\n[[rule]]\nverdict = 'ask'\n{own}").rules
    assert unreachable(rules) == dict.fromkeys(
        (0, 1), "no action has this type, effect and semantic together"
    )


def test_the_first_rule_that_takes_all_is_named() -> None:
    one = "[[rule]]\nverdict = 'ask'\nname = '{}'\naction = 'tap'\n"
    assert unreachable(policy(one.format("a") + one.format("b") + one.format("c")).rules) == {
        1: "a comes first and matches all of it",
        2: "a comes first and matches all of it",
    }


def test_a_permission_that_looks_at_no_screen_covers_a_limit_behind_it() -> None:
    assert dead(
        "[[rule]]\nverdict = 'allow'\naction = 'tap'\n[[rule]]\nverdict = 'deny'\nlabel = 'x'\naction = 'tap'"
    ) == {1}
    assert dead("[[rule]]\nverdict = 'deny'\nlabel = 'x'\n[[rule]]\nverdict = 'allow'\nlabel = 'x'") == {1}
