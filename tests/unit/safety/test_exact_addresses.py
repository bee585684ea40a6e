"""What a remembered answer covers: addresses that are not web pages, and parts of apps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handrail.protocol.read import action_from
from handrail.safety.approval_request import GrantScope
from handrail.safety.permissions import AnsweredPolicy, Permissions
from handrail.safety.subject import Subject, TouchedElement
from tests.cases import each
from tests.unit.safety.policy_subjects import policy

ALWAYS = '[[rule]]\nname = "all"\nverdict = "ask"\nremember = "always"\n'
PAIRS = [
    ("tel:+4912345", "tel:+49900123"),
    ("sms:123?body=hi", "sms:900?body=WIN"),
    ("mailto:a@b.c", "mailto:x@y.z"),
    ("geo:1,2", "geo:3,4"),
    ("market://details?id=a", "market://details?id=b"),
    ("bank://home", "bank://pay?to=x"),
    ("file:///sdcard/a", "file:///sdcard/b"),
    ("TEL:1", "tel:2"),
]
INTENTS = ["intent:#Intent;end", "INTENT://x#Intent;end", "android-app://a.b/https/x"]


def subject(**fields: Any) -> Subject:
    return Subject.of(action_from(fields), resolved=TouchedElement(package="a.b"), at_ms=0)


def answered(gate: AnsweredPolicy, of: Subject) -> str:
    gate.remember(of, gate.decide(of), "always", allow=True)
    return gate.decide(of).kind


@each("url,other", PAIRS)
@each("rules", ["", ALWAYS])
def test_an_answer_about_another_scheme_is_for_that_exact_address(
    tmp_path: Path, url: str, other: str, rules: str
) -> None:
    gate = AnsweredPolicy(policy(rules), Permissions(tmp_path / f"{abs(hash((url, rules)))}.json"))
    first, second = subject(type="open_url", url=url), subject(type="open_url", url=other)
    assert answered(gate, first) == "allow"
    assert gate.decide(second).kind == "ask"
    assert GrantScope.of(first) != GrantScope.of(second)


@each("url", INTENTS)
@each("rules", ["", ALWAYS])
def test_an_answer_about_an_intent_is_never_remembered(tmp_path: Path, url: str, rules: str) -> None:
    permissions = Permissions(tmp_path / "permissions.json")
    gate = AnsweredPolicy(policy(rules), permissions)
    asked = subject(type="open_url", url=url)
    assert gate.decide(asked).remember == "never"
    assert answered(gate, asked) == "ask"
    permissions.remember("open_url", "intent:", allow=True)
    assert gate.decide(asked).kind == "ask"


def test_a_host_of_the_web_is_remembered_as_before(tmp_path: Path) -> None:
    gate = AnsweredPolicy(policy(""), Permissions(tmp_path / "permissions.json"))
    assert answered(gate, subject(type="open_url", url="https://example.org/a")) == "allow"
    assert gate.decide(subject(type="open_url", url="https://example.org/b")).kind == "allow"


PARTS: list[dict[str, Any]] = [
    {"activity": ".Transfer"},
    {"activity": ".Main"},
    {"extras": {"to": "mallory"}},
    {"extras": {"to": "alice"}},
    {"activity": ".Main", "extras": {"to": "alice"}},
]


def test_a_part_of_an_app_is_asked_about_and_each_is_another(tmp_path: Path) -> None:
    gate = AnsweredPolicy(policy(""), Permissions(tmp_path / "permissions.json"))
    assert gate.decide(subject(type="start_app", package="a.bank")).kind == "allow"
    parts = [subject(type="start_app", package="a.bank", **part) for part in PARTS]
    for number, part in enumerate(parts):
        assert gate.decide(part).kind == "ask", PARTS[number]
        assert answered(gate, part) == "allow"
    assert len({part.context for part in parts}) == len(parts)
