"""Parts of a rule: what each accepts, what it says when it does not match, and how it stands in the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.safety.policy import KEYS
from handrail.safety.policy_values import Pattern, Window, Windows
from handrail.safety.subject import TouchedElement
from tests.cases import each
from tests.unit.safety.policy_subjects import button, policy, subject

SAFETY = Path(__file__).parents[3] / "docs" / "safety.md"
DRAG = {"type": "drag", "from": "1,1", "to": "2,2"}


def misses(body: str, *args: Any, **more: Any) -> list[str]:
    """What a rule says about an act; a limit unless the body has another verdict."""
    verdict = "" if "verdict" in body else "verdict = 'ask'\n"
    [rule] = policy(f"[[rule]]\n{verdict}{body}").rules
    return [str(miss) for miss in rule.misses(subject(*args, **more))]


@each(
    ("part", "act", "says"),
    [
        ("action = 'get_*'", ("tap",), "action: 'tap' does not match 'get_*'"),
        ("action = ['get_*', '/^x|_tap/']", ("tap",), "action: 'tap' does not match 'get_*' or /^x|_tap/"),
        ("effect = 'read'", ("tap",), "effect: input is not read"),
        ("semantic = ['input', 'system']", ("tap",), "semantic: selection is not one of input, system"),
        ("app = 'com.bank'", ("tap", button("x")), "app: 'com.example.app' does not match 'com.bank'"),
        (
            "app = 'com.bank'",
            ({"type": "start_app", "package": "com.shop"},),
            "app: 'com.shop' does not match 'com.bank'",
        ),
        ("label = '/pay/'", ("tap", button("Save")), "label: 'Save' does not match /pay/"),
        (
            "label = 'Pay'",
            ("tap", button("Save", says=("Draft",))),
            "label: none of 'Save', 'Draft' matches 'Pay'",
        ),
        ("label = '*'", ("tap", button("")), "label: there is none"),
        (
            "id = 'pay'",
            ("tap", button("x", id="a:id/send")),
            "id: none of 'a:id/send', 'send' matches 'pay'",
        ),
        ("id = '*'", ("tap", button("x")), "id: there is none"),
        ("role = 'switch'", ("tap", button("x")), "role: button is not switch"),
        ("role = 'switch'", ("tap", TouchedElement()), "role: there is none"),
        ("password = true", ("tap", button("x")), "password: it is false"),
        ("password = false", ("tap", button("x", password=True)), "password: it is true"),
        ("secret = true", ({"type": "type_text", "text": "a"},), "secret: it is false"),
        ("host = '*'", ("tap",), "host: there is none"),
        (
            "host = 'a.org'",
            ({"type": "open_url", "url": "https://b.org/x"},),
            "host: 'b.org' does not match 'a.org'",
        ),
        ("time = '22:00-06:30'", ("tap",), "time: 12:00 is not within 22:00-06:30"),
        (
            "time = ['22:00-06:00', '13:05-14:00']",
            ("tap",),
            "time: 12:00 is not within 22:00-06:00 or 13:05-14:00",
        ),
        ("days = ['sat', 'sun']", ("tap",), "days: thu is not one of sat, sun"),
    ],
)
def test_a_part_that_does_not_match_says_what_it_saw_and_what_it_wants(
    part: str, act: Any, says: str
) -> None:
    assert misses(part, *act) == [says]


@each(
    ("part", "says"),
    [
        ("device = 'emulator-*'", "device: 'R58M' does not match 'emulator-*'"),
        ("door = 'mcp'", "door: cli is not mcp"),
        ("caller = 'remote'", "caller: local is not remote"),
    ],
)
def test_who_and_where_are_told_too(part: str, says: str) -> None:
    assert misses(part, "tap", device="R58M", door="cli", caller="local") == [says]


def test_a_rule_that_matches_missed_nothing() -> None:
    assert misses("action = 'tap'\nlabel = 'Save'", "tap", button("Save")) == []
    assert misses("", "tap") == []


def test_every_part_that_does_not_match_is_told_those_of_the_act_first() -> None:
    assert misses("label = 'Pay'\naction = 'tap'\nrole = 'button'\ndoor = 'mcp'", "tap", button("Save")) == [
        "door: python is not mcp",
        "label: 'Save' does not match 'Pay'",
    ]


def test_of_several_elements_the_one_that_comes_nearest_is_told() -> None:
    both = [button("Card", role="switch"), button("Bin")]
    assert misses("label = 'Pay'\nrole = 'button'", DRAG, resolved=both) == [
        "label: 'Bin' does not match 'Pay'"
    ]


def test_an_allow_tells_what_does_not_fit_and_looks_at_names_only() -> None:
    both = [button("Card"), button("Bin", says=("Card",))]
    assert misses("verdict = 'allow'\nlabel = 'Card'", DRAG, resolved=both) == [
        "label: 'Bin' does not match 'Card'"
    ]
    assert misses("label = 'Card'", DRAG, resolved=both) == []


def test_where_nothing_is_touched_there_is_nothing_to_match() -> None:
    assert misses("label = '*'\naction = 'tap'", "tap", resolved=[]) == ["label: there is none"]


def test_a_part_knows_what_it_saw_as_a_file_would_write_it() -> None:
    [rule] = policy("[[rule]]\nverdict = 'ask'\ntime = '22:00-06:00'\nsecret = true\nlabel = 'x'").rules
    saw = {miss.part: miss.saw for miss in rule.misses(subject("tap", button("Save")))}
    assert saw == {"time": ("12:00",), "secret": (False,), "label": ("Save",)}


def test_values_are_told_as_they_stand_in_the_file() -> None:
    body = (
        "time = '22:00 – 06:05'\nlabel = ['Pay*', '/x/']\ndoor = ['mcp', 'cli']\nrole = 'tab'\nsecret = false"
    )
    [rule] = policy(f"[[rule]]\nverdict = 'ask'\n{body}").rules
    assert {part.name: part.plain_values() for part in rule.parts} == {
        "secret": False,
        "door": ["mcp", "cli"],
        "time": "22:00-06:05",
        "label": ["Pay*", "/x/"],
        "role": "tab",
    }


@each(
    ("pattern", "value", "matches"),
    [
        ("com.bank", "com.bank", True),
        ("com.bank", "com.bank.de", False),
        ("com.bank", "com.BANK", False),
        ("com.[a-c]*", "com.bank", True),
        ("com.ban?", "com.bank", True),
        ("/bank/", "com.bank.de", True),
        ("/BANK/", "com.bank.de", False),
        ("/BANK/i", "com.bank.de", True),
        ("/bank/i/", "x", False),
        ("/", "/", True),
        ("//", "//", True),
    ],
)
def test_a_pattern_is_a_glob_for_the_whole_or_a_regular_expression_found_anywhere(
    pattern: str, value: str, matches: bool
) -> None:
    act = ("tap", button("x", package=value))
    assert (misses(f"app = '{pattern}'", *act) == []) is matches


def test_a_regular_expression_may_have_several_lines() -> None:
    assert Pattern("/a\nb/", ignore_case=False).is_regex


@each(
    ("first", "later", "covered"),
    [
        ("*", "/x/", True),
        ("com.*", "com.a", True),
        ("com.*", "com.a*", False),
        ("com.*", "com.a?", False),
        ("com.*", "com.[a]", False),
        ("com.*", "/com.a/", False),
        ("/a/", "/a/", True),
        ("com.b", "com.a", False),
    ],
)
def test_a_pattern_covers_itself_and_the_texts_that_it_matches(first: str, later: str, covered: bool) -> None:
    assert KEYS["app"].read(first).covers(KEYS["app"].read(later)) is covered


@each(
    ("text", "shown", "count"),
    [
        (" 22:00-06:00 ", "22:00-06:00", 8 * 60),
        ("00:00–24:00", "00:00-24:00", 24 * 60),
        ("10:59 - 11:01", "10:59-11:01", 2),
        ("23:59-00:01", "23:59-00:01", 2),
        ("10:01-10:00", "10:01-10:00", 24 * 60 - 1),
        ("19:00-20:30", "19:00-20:30", 90),
    ],
)
def test_a_window_is_read_and_has_its_minutes(text: str, shown: str, count: int) -> None:
    window = Window.read(text)
    assert str(window) == shown
    assert len(window.minutes) == count
    assert window.first in window.minutes
    assert window.end not in window.minutes


@each(
    "text", ["24:00-06:00", "10:00-24:01", "10:00-10:00", "10:60-11:00", "9:00-10:00", "10:00-11:00 x", "x"]
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time window"):
        Window.read(text)


def test_windows_together_cover_what_lies_in_both() -> None:
    day = Windows.read(["00:00-12:00", "12:00-24:00"])
    assert day.covers(Windows.read("11:00-13:00"))
    assert not Windows.read("11:00-13:00").covers(day)


def test_values_of_another_kind_are_never_covered() -> None:
    values = [KEYS[name].read(value) for name, value in (
        ("app", "*"), ("door", "mcp"), ("secret", True), ("time", "00:00-24:00"),
    )]  # fmt: skip
    for one in values:
        assert [one.covers(other) for other in values] == [one is other for other in values]


@each("name", KEYS)
def test_every_key_stands_in_the_docs(name: str) -> None:
    key = KEYS[name]
    assert f"\n| `{key.name}` | {key.matches} | {key.takes} |\n" in SAFETY.read_text(), "run `make docs`"
