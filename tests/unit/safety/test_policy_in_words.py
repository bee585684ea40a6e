"""Rules as sentences: what the Settings app shows of a policy file."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.safety.policy import KEYS, Policy
from handrail.safety.policy_file import read_policy, remember_sentence, sentence

RULES = """
[[rule]]
name = "payments"
pressed = true
label = ["Pay*", "/^confirm (the )?order/"]
verdict = "ask"
remember = "always"
why = "it costs money"

[[rule]]
name = "bank"
action = ["start_app", "open_url"]
app = "com.bank"
caller = "remote"
verdict = "deny"

[[rule]]
name = "night"
effect = "input"
door = ["agent", "mcp"]
time = "22:00-06:00"
days = ["sat", "sun"]
verdict = "ask"

[[rule]]
name = "rest"
pressed = false
password = false
verdict = "allow"
"""
SAID = [
    "Ask you before anything that would press what says “Pay*” or /^confirm (the )?order/: it costs money.",
    "Never allow start app or open url in com.bank from another machine.",
    "Ask you before anything that touches or types that comes by Handrail's own agent or an MCP client "
    "between 22:00 and 06:00 on Sat or Sun.",
    "Allow anything that presses nothing outside password fields.",
]


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    file = tmp_path / "policy.toml"
    file.write_text(RULES)
    file.chmod(0o600)
    return Policy.of(read_policy(file))


def test_a_rule_is_a_sentence_that_says_all_its_parts(policy: Policy) -> None:
    assert [sentence(rule) for rule in policy.rules] == SAID
    assert [remember_sentence(rule) for rule in policy.rules] == [
        "Your answer may count for always.", "", "Each time anew.", "",
    ]  # fmt: skip


def test_no_key_of_a_rule_is_left_out_of_its_sentence() -> None:
    """A part that is not said would make a rule look wider than it is."""
    assert all(key.clause([True]) and key.clause(["a", "b"]) for key in KEYS.values())
