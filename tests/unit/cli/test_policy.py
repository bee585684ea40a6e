"""`handrail policy`: check a file, try an action, show defaults, revoke remembered answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.protocol.actions import ACTIONS
from handrail.safety.permissions import Permissions
from tests.unit.cli.command import Handrail

RULES = """
[[rule]]
name = "pay"
action = "tap"
label = "Pay*"
verdict = "ask"
why = "it costs money"

[[rule]]
name = "late"
action = "tap"
label = "Pay now"
verdict = "deny"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "p.toml"
    path.write_text(RULES)
    return str(path)


def test_rules_are_listed_and_dead_ones_are_marked(handrail: Handrail, file: str) -> None:
    done = handrail("policy", "check", file)
    first, second = done.out.splitlines()
    assert first.split("\t") == ["pay", "ask", "action=tap label=Pay*", "never", "it costs money"]
    assert "never decides: pay comes first" in second
    assert "1 of 2 rules never decide" in done.err


def test_the_same_as_json(handrail: Handrail, file: str) -> None:
    rules = json.loads(handrail("policy", "check", file, "--json").out)["rules"]
    assert rules[0] == {
        "name": "pay", "verdict": "ask", "remember": "never", "match": {"action": "tap", "label": "Pay*"},
        "why": "it costs money", "line": 2,
    }  # fmt: skip
    assert "unreachable" in rules[1]


def test_a_rule_that_would_allow_scripts_in_general_never_decides(handrail: Handrail, tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text('[[rule]]\nname = "any"\naction = "run_script"\nverdict = "allow"\n')
    document = json.loads(handrail("policy", "check", str(file), "--json").out)
    assert "by its hash" in document["rules"][0]["unreachable"]


@pytest.mark.parametrize(
    ("label", "verdict", "rule"), [("Pay 12.50", "ask", "pay"), ("Save", "allow", "built-in: tap")]
)
def test_an_action_can_be_tried(handrail: Handrail, file: str, label: str, verdict: str, rule: str) -> None:
    tap = '{"type": "tap", "target": "540,750"}'
    done = handrail("policy", "check", file, "--json", "--action", tap, "--label", label)
    decided = json.loads(done.out)["decides"]
    assert (decided["verdict"], decided["rule"]) == (verdict, rule)


def test_a_trial_says_of_every_rule_which_part_did_not_match_and_what_it_saw(
    handrail: Handrail, file: str
) -> None:
    words = ["policy", "check", file, "--action", '{"type": "tap", "target": "540,750"}', "--label", "Save"]
    assert handrail(*words).out.splitlines()[2:] == [
        """rule 1 "pay" (line 2): label: 'Save' does not match 'Pay*'""",
        """rule 2 "late" (line 9): label: 'Save' does not match 'Pay now'""",
        "allow: built-in: tap; remember: never",
    ]
    tried = json.loads(handrail(*words, "--json").out)["rules"]
    assert tried[0]["missed"] == [{"part": "label", "saw": ["Save"], "why": "'Save' does not match 'Pay*'"}]


def test_a_trial_says_which_rules_match_and_which_of_them_comes_first(handrail: Handrail, file: str) -> None:
    words = [
        "policy", "check", file, "--action", '{"type": "tap", "target": "540,750"}', "--label", "Pay now",
    ]  # fmt: skip
    assert handrail(*words).out.splitlines()[2:] == [
        'rule 1 "pay" (line 2): matches',
        'rule 2 "late" (line 9): matches too, but rule 1 comes first',
        "ask: pay (it costs money); remember: never",
    ]
    assert [rule["missed"] for rule in json.loads(handrail(*words, "--json").out)["rules"]] == [[], []]


def test_a_rule_without_name_and_line_is_told_by_its_number(handrail: Handrail, tmp_path: Path) -> None:
    path = tmp_path / "inline.toml"
    path.write_text("rule = [{verdict = 'ask', door = 'mcp'}]")
    done = handrail("policy", "check", str(path), "--action", '{"type": "get_state"}')
    assert "rule 1: door: cli is not mcp\n" in done.out


def test_a_trial_sees_who_asks_and_when(handrail: Handrail, tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text("[[rule]]\nname = 'night'\ntime = '22:00-06:00'\ndoor = 'agent'\nverdict = 'deny'")
    words = ["policy", "check", str(path), "--action", '{"type": "get_state"}', "--door", "agent"]
    assert "deny: night" in handrail(*words, "--at", "2026-04-23T23:00").out
    assert "allow: built-in" in handrail(*words, "--at", "2026-04-23T12:00").out
    assert handrail(*words, "--at", "tonight").code == 2


def test_a_bad_file_ends_with_code_2_and_its_line(handrail: Handrail, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("[[rule]]\nverdict = 'ask'\nlable = 'Pay'\n")
    done = handrail("policy", "check", str(path))
    assert done.code == 2
    assert "bad.toml:3: rule[0].lable" in done.err
    assert "label" in done.err


def test_a_bad_action_ends_with_code_2(handrail: Handrail, file: str) -> None:
    assert handrail("policy", "check", file, "--action", '{"type": "tapp"}').code == 2


def test_without_a_file_the_one_in_use_is_checked(handrail: Handrail, home: Path) -> None:
    assert "No rules" in handrail("policy", "check").out
    (home / "config").mkdir()
    (home / "config" / "policy.toml").write_text(RULES)
    assert handrail("policy", "check").out.startswith("pay\t")


def test_the_example_is_in_order(handrail: Handrail) -> None:
    example = Path(__file__).parents[3] / "examples" / "policy.toml"
    done = handrail("policy", "check", str(example))
    assert done.code == 0
    assert "all of them reachable" in done.err


def test_the_defaults_have_a_line_for_every_action(handrail: Handrail) -> None:
    listed = json.loads(handrail("policy", "defaults", "--json").out)
    assert {row["action"].split()[0] for row in listed} == ACTIONS.keys()
    assert handrail("policy", "defaults", "--markdown").out.startswith("| action | this machine |")


def test_remembered_answers_are_listed_and_revoked(handrail: Handrail, home: Path) -> None:
    assert handrail("policy", "permissions").out == "Nothing is remembered.\n"
    kept = Permissions(home / "config" / "permissions.json")
    kept.remember("open_url", "example.org", allow=True)
    kept.remember_for_agent("a1", "shell", "ls", False)
    assert handrail("policy", "permissions").out.splitlines() == [
        "deny\tagent\tagent:a1:shell:ls",
        "allow\tpolicy\topen_url:example.org",
    ]
    assert handrail("policy", "forget", "open_url:example.org").code == 0
    assert json.loads(handrail("policy", "permissions", "--json").out) == {"agent:a1:shell:ls": "deny"}


def test_forgetting_what_is_not_there_ends_with_code_2(handrail: Handrail) -> None:
    assert handrail("policy", "forget", "open_url:example.org").code == 2


def test_a_damaged_file_of_answers_is_said_with_its_line(handrail: Handrail, home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "permissions.json").write_text('{\n"shell:ls": "perhaps"\n}')
    done = handrail("policy", "permissions")
    assert done.code == 4
    assert "permissions.json:2: " in done.err


@pytest.mark.parametrize(
    ("parts", "is_warned"),
    [
        ("action = 'tap'\nlabel = 'Pay*'", True),
        ("action = ['tap', 'long_press', 'press_key']\nid = 'pay'", True),
        ("semantic = 'selection'\nlabel = 'Pay*'", True),
        ("label = 'Pay*'", False),
        ("pressed = true\nlabel = 'Pay*'", False),
        ("action = 'shell'", False),
        ("action = '*'\nlabel = 'Pay*'", False),
    ],
)
def test_a_limit_on_a_label_that_names_single_actions_is_warned_of(
    handrail: Handrail, tmp_path: Path, parts: str, is_warned: bool
) -> None:
    """A key on the focused button would pass it."""
    file = tmp_path / "policy.toml"
    for verdict in ("ask", "deny", "allow"):
        file.write_text(f"[[rule]]\nname = 'r'\n{parts}\nverdict = '{verdict}'\n")
        done = handrail("policy", "check", str(file))
        assert done.code == 0
        assert ("names single actions" in done.err) is (is_warned and verdict != "allow")
        told = json.loads(handrail("policy", "check", str(file), "--json").out)
        assert bool(told.get("warnings")) is (is_warned and verdict != "allow")
