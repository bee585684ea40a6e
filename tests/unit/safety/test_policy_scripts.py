"""A script is allowed by a person who reads it, or by a rule that names its exact text."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.read import action_from
from handrail.safety.policy import Policy, unreachable
from handrail.safety.policy_file import parse_policy
from handrail.safety.subject import Subject, TouchedElement
from tests.cases import each

SCRIPT = "adb devices\n"
HASH = f"sha256:{sha256(SCRIPT.encode()).hexdigest()}"


def rule(verdict: str, *keys: str) -> str:
    return "\n".join(["[[rule]]", f'verdict = "{verdict}"', *keys, ""])


def decided(policy: str, script: str = SCRIPT, **more: Any) -> str:
    subject = Subject.of(
        action_from({"type": "run_script", "script": script}), resolved=TouchedElement(), at_ms=0, **more
    )
    rules = Policy.of(parse_policy(policy))
    early = rules.early(subject)
    verdict = rules.decide(subject)
    assert early is None or early.kind == verdict.kind
    return verdict.kind


BROAD = [
    (),
    ('action = "run_script"',),
    ('action = "*"',),
    ('effect = "sensitive"',),
    ('semantic = "system"', 'door = ["python", "cli"]'),
    ('caller = ["local", "remote"]',),
]


@each("keys", BROAD)
@each("table", ["", "[script]\nshell = true\nallow = ['adb']\n"])
def test_no_rule_allows_scripts_in_general(keys: tuple[str, ...], table: str) -> None:
    assert decided(rule("allow", *keys) + table) == "ask"
    assert decided(rule("allow", *keys) + table, caller="remote") == "deny"


@each("keys", BROAD)
def test_a_limit_holds_whatever_the_script_is(keys: tuple[str, ...]) -> None:
    for script in (SCRIPT, "true", "x" * 5_000):
        assert decided(rule("deny", *keys), script) == "deny"
        assert decided(rule("ask", *keys), script) == "ask"
    allow = rule("allow", f'script = "{HASH}"')
    assert decided(rule("deny", *keys) + allow) == "deny"
    assert decided(rule("allow", *keys) + rule("deny", *keys) + allow) == "deny"


@pytest.mark.parametrize("keys", [(), ('action = "run_script"',)])
def test_a_rule_allows_one_exact_text(keys: tuple[str, ...]) -> None:
    policy = rule("allow", f'script = ["{"sha256:" + "0" * 64}", "{HASH}"]', *keys)
    assert decided(policy) == "allow"
    assert decided(policy, caller="remote") == "allow"
    for other in (SCRIPT.strip(), f"{SCRIPT} ", f" {SCRIPT}", SCRIPT.replace("\n", "\r\n"), "true", ""):
        if other:
            assert decided(policy, other) == "ask", other


def test_a_rule_by_hash_says_nothing_about_other_actions() -> None:
    rules = Policy.of(parse_policy(rule("deny", f'script = "{HASH}"')))
    subject = Subject.of(
        action_from({"type": "shell", "command": SCRIPT.strip()}), resolved=TouchedElement(), at_ms=0
    )
    assert rules.decide(subject).rule.startswith("built-in")


@each("text", ["ls", HASH[7:], HASH.upper(), f"{HASH}0", HASH[:-1], "sha256:*", ""])
def test_what_is_not_a_hash_is_told(text: str) -> None:
    with pytest.raises(InvalidAction, match="script"):
        parse_policy(rule("allow", f'script = "{text}"'))
    with pytest.raises(InvalidAction, match="script"):
        parse_policy(rule("allow", f'script = ["{HASH}", "{text}"]'))


def test_a_miss_tells_the_hash_to_write() -> None:
    subject = Subject.of(
        action_from({"type": "run_script", "script": SCRIPT}), resolved=TouchedElement(), at_ms=0
    )
    for keys in ((), ('action = "run_script"',), (f'script = "{"sha256:" + "0" * 64}"',)):
        [first] = parse_policy(rule("allow", *keys)).rules
        assert HASH in str(first.misses(subject)[0])


def test_an_allow_does_not_hide_the_limit_behind_it() -> None:
    rules = parse_policy(rule("allow") + rule("deny", 'action = "run_script"')).rules
    assert unreachable(rules) == {}
    assert unreachable(parse_policy(rule("allow", 'action = "run_script"')).rules).keys() == {0}
