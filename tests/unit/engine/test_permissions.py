"""Remembered answers: a file for people, safe between processes, and closed to agents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.policy import Policy
from handrail.engine.policy.permissions import Gate, Permissions, agent_key, policy_key
from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS
from tests.unit.engine.policy_subjects import button, policy, subject


@pytest.fixture
def kept(tmp_path: Path) -> Permissions:
    return Permissions(tmp_path / "config" / "permissions.json")


def test_nothing_is_remembered_before_the_first_answer(kept: Permissions) -> None:
    assert kept.lookup("open_url", "example.org") is None
    assert kept.all() == {}
    assert not kept.path.exists()


def test_an_answer_is_remembered_for_its_context_only(kept: Permissions) -> None:
    assert kept.remember("open_url", "example.org", allow=True) == "open_url:example.org"
    assert kept.lookup("open_url", "example.org") is True
    assert kept.lookup("open_url", "example.com") is None
    assert kept.lookup("shell", "example.org") is None


def test_the_context_comes_before_the_tool(kept: Permissions) -> None:
    kept.path.parent.mkdir(parents=True)
    kept.path.write_text('{"open_url": "allow", "open_url:evil.example": "deny"}')
    assert kept.lookup("open_url", "anything.example") is True
    assert kept.lookup("open_url", "evil.example") is False


def test_the_file_is_plain_json_for_its_owner_only(kept: Permissions) -> None:
    kept.remember("shell", "pm list packages", allow=True)
    kept.remember("open_url", "пример.example", allow=False)
    assert json.loads(kept.path.read_text()) == {
        "open_url:пример.example": "deny",
        "shell:pm list packages": "allow",
    }
    assert "пример" in kept.path.read_text()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    left = {one.name for one in kept.path.parent.iterdir()}
    assert left == {"permissions.json", "permissions.json.lock"}


def test_an_edit_by_hand_is_seen_at_once(kept: Permissions) -> None:
    kept.remember("open_url", "a.example", allow=True)
    kept.path.write_text('{\n  "open_url:a.example": "deny"\n}\n')
    assert kept.lookup("open_url", "a.example") is False


def test_a_link_to_the_file_stays_a_link(kept: Permissions, tmp_path: Path) -> None:
    kept.path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    kept.path.symlink_to(real)
    kept.remember("shell", "ls", allow=True)
    assert kept.path.is_symlink()
    assert json.loads(real.read_text()) == {"shell:ls": "allow"}


def test_an_answer_can_be_revoked(kept: Permissions) -> None:
    kept.remember("shell", "ls", allow=True)
    kept.forget("shell:ls")
    assert kept.lookup("shell", "ls") is None


def test_revoking_what_is_not_there_says_what_is(kept: Permissions) -> None:
    kept.remember("open_url", "example.org", allow=True)
    with pytest.raises(InvalidAction) as caught:
        kept.forget("open_url:example.com")
    assert "open_url:example.org" in caught.value.hint
    assert kept.lookup("open_url", "example.org") is True


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "shell:ls" "allow"\n}', 2),
        ('{\n  "shell:ls": "allow",\n  "shell:id": "maybe"\n}', 3),
        ('{\n  "shell:ls": "allow",\n  "shell:ls": "deny"\n}', 3),
        ('{\n  "shell:ls": {"a": 1}\n}', 2),
        ("[]", 1),
        ("3", 1),
        ('["shell"]', 1),
    ],
)
def test_a_damaged_file_is_an_error_with_its_line_and_is_left_alone(
    kept: Permissions, text: str, line: int
) -> None:
    kept.path.parent.mkdir(parents=True)
    kept.path.write_text(text)
    for attempt in (lambda: kept.lookup("shell", "ls"), lambda: kept.remember("shell", "ls", allow=True)):
        with pytest.raises(InvalidAction) as caught:
            attempt()
        assert f"permissions.json:{line}: " in caught.value.message
    assert kept.path.read_text() == text


def test_a_file_that_is_no_text_has_its_line_too(kept: Permissions) -> None:
    kept.path.parent.mkdir(parents=True)
    kept.path.write_bytes(b'{\n"shell:\xff": "allow"}')
    with pytest.raises(InvalidAction, match=r"permissions\.json:2: not UTF-8"):
        kept.all()


def test_a_file_that_everybody_can_write_is_not_believed(kept: Permissions) -> None:
    kept.remember("shell", "ls", allow=True)
    kept.path.chmod(0o666)
    with pytest.raises(InvalidAction, match="everybody"):
        Permissions(kept.path).lookup("shell", "ls")


WRITER = """
import sys
from pathlib import Path
from handrail.engine.policy.permissions import Permissions
kept = Permissions(Path(sys.argv[1]))
for number in range(20):
    kept.remember("shell", f"{sys.argv[2]} {number}", allow=True)
"""


def test_processes_that_write_at_once_lose_nothing(kept: Permissions) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(kept.path), name])
        for name in ("one", "two", "three")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(kept.all()) == 60


nasty = st.text(min_size=1).filter(lambda text: text.strip())


@settings(max_examples=300)
@given(nasty, nasty, st.none() | nasty, st.sampled_from(list(ACTIONS)), st.none() | nasty)
def test_no_agents_key_is_ever_one_that_policy_reads(
    agent: str, tool: str, context: str | None, action: str, about: str | None
) -> None:
    assert agent_key(agent, tool, context) != policy_key(action, about)


@settings(max_examples=300)
@given(nasty, nasty, nasty, nasty)
def test_no_agent_can_take_another_ones_name(one: str, tool: str, other: str, other_tool: str) -> None:
    if (one, tool) != (other, other_tool):
        assert agent_key(one, tool) != agent_key(other, other_tool)
        assert not agent_key(one, tool, "x").startswith(agent_key(other, other_tool) + ":")


@pytest.mark.parametrize(
    ("agent", "tool", "context"),
    [
        ("a", "shell", "ls"),
        ("a:shell", "ls", None),
        ("..", "../shell", "ls"),
        ("a\nshell", "shell", "ls"),
        ("а", "shеll", "ls"),  # Cyrillic look-alikes
        ("agent", "agent:a:shell", "ls"),
        ("%3A", "shell%3Als", "ls"),
        ("a", '", "shell:ls": "allow', "ls"),
        ("a", "shell", "\ud800"),
        ("a", "\u202eshell", "\x00"),
    ],
)
def test_no_agent_can_mint_a_standing_permission(
    kept: Permissions, agent: str, tool: str, context: str | None
) -> None:
    written = kept.remember_for_agent(agent, tool, context, True)
    asked = subject({"type": "shell", "command": "ls"})
    rules = policy("[[rule]]\naction = 'shell'\nverdict = 'ask'\nremember = 'always'")
    assert Gate(rules, kept).decide(asked).kind == "ask"
    assert list(kept.all()) == [written]
    assert written.startswith("agent:")
    assert kept.lookup_for_agent(agent, tool, context) is True


@pytest.mark.parametrize(
    ("agent", "tool"), [("", "shell"), ("a", ""), (" ", "shell"), ("a", "\t"), ("a", "x" * 3000)]
)
def test_a_nameless_agent_or_tool_is_refused(kept: Permissions, agent: str, tool: str) -> None:
    with pytest.raises(InvalidAction):
        kept.remember_for_agent(agent, tool, None, True)
    assert kept.all() == {}


@pytest.mark.parametrize("tool", ["agent", "agent:a:shell", "", "Shell", "shell:ls", "ѕhell"])
def test_policy_looks_up_actions_and_nothing_else(kept: Permissions, tool: str) -> None:
    with pytest.raises(InvalidAction):
        kept.lookup(tool, "ls")
    with pytest.raises(InvalidAction):
        kept.remember(tool, "ls", allow=True)


ASK_ALWAYS = "[[rule]]\nverdict = 'ask'\nremember = 'always'"
ASK_SESSION = "[[rule]]\nverdict = 'ask'\nremember = 'session'"
ASK_NEVER = "[[rule]]\nverdict = 'ask'"


def test_an_answer_for_always_counts_in_the_next_session(kept: Permissions) -> None:
    asked = subject({"type": "open_url", "url": "https://example.org/a"})
    gate = Gate(policy(ASK_ALWAYS), kept)
    assert gate.remember(asked, gate.decide(asked), "always", allow=True) == "always"
    other = subject({"type": "open_url", "url": "https://example.org/another"})
    assert Gate(policy(ASK_ALWAYS), kept).decide(other).kind == "allow"


def test_an_answer_for_the_session_ends_with_it(kept: Permissions) -> None:
    asked = subject("tap", button("Send"))
    gate = Gate(policy(ASK_ALWAYS), kept)
    assert gate.remember(asked, gate.decide(asked), "session", allow=False) == "session"
    assert gate.decide(asked).kind == "deny"
    assert Gate(policy(ASK_ALWAYS), kept).decide(asked).kind == "ask"
    assert kept.all() == {}


def test_a_rule_limits_how_long_an_answer_counts(kept: Permissions) -> None:
    asked = subject("tap", button("Send"))
    gate = Gate(policy(ASK_SESSION), kept)
    assert gate.remember(asked, gate.decide(asked), "always", allow=True) == "session"
    assert kept.all() == {}
    once = Gate(policy(ASK_NEVER), kept)
    assert once.remember(asked, once.decide(asked), "always", allow=True) == "never"
    assert once.decide(asked).kind == "ask"


def test_a_rule_that_never_remembers_ignores_what_is_in_the_file(kept: Permissions) -> None:
    asked = subject("tap", button("Pay now"))
    kept.remember("tap", asked.context, allow=True)
    assert Gate(Policy(), kept).decide(asked).kind == "ask"


def test_memory_never_overrules_a_denial(kept: Permissions) -> None:
    asked = subject({"type": "shell", "command": "ls"})
    kept.remember("shell", asked.context, allow=True)
    assert Gate(policy("[[rule]]\nverdict = 'deny'"), kept).decide(asked).kind == "deny"


def test_the_gate_refuses_early_and_never_asks_early(kept: Permissions) -> None:
    shell = subject({"type": "shell", "command": "ls"}, resolved=None)
    assert Gate(Policy(), kept).early(shell) is None
    denied = Gate(policy("[[rule]]\nverdict = 'deny'"), kept).early(shell)
    assert denied is not None
    assert denied.kind == "deny"


def test_what_is_remembered_is_about_exactly_one_thing() -> None:
    def context(action: dict[str, object], *elements: object) -> str:
        return subject(action, *elements).context  # type: ignore[arg-type]

    assert context({"type": "shell", "command": ["rm", "a b"]}) == context(
        {"type": "shell", "command": "rm 'a b'"}
    )
    assert context({"type": "shell", "command": ["rm", "a", "b"]}) != context(
        {"type": "shell", "command": "rm 'a b'"}
    )
    assert context({"type": "run_script", "script": "ls"}) != context({"type": "run_script", "script": "ls "})
    assert context({"type": "tap"}, button("A")) != context({"type": "tap"}, button("B"))
    assert context({"type": "tap"}, button("A")) != context({"type": "tap"}, button("A", package="com.other"))
    long = [context({"type": "shell", "command": "echo " + "x" * 500 + end}) for end in "ab"]
    assert long[0] != long[1]
    assert max(map(len, long)) < 300


def test_a_typed_text_is_not_part_of_what_is_remembered() -> None:
    typed = subject({"type": "type_text", "text": "hunter2"})
    assert "hunter2" not in typed.context
