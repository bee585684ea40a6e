"""Remembered answers: what they are about, who may give them, how long they count; closed to agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS
from handrail.safety.permissions import (
    AnsweredPolicy,
    Permissions,
    agent_key,
    is_agent_dialog_key,
    policy_key,
)
from handrail.safety.policy import Policy
from tests.unit.safety.policy_subjects import button, policy, subject


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
    assert AnsweredPolicy(rules, kept).decide(asked).kind == "ask"
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
    gate = AnsweredPolicy(policy(ASK_ALWAYS), kept)
    assert gate.remember(asked, gate.decide(asked), "always", allow=True) == "always"
    other = subject({"type": "open_url", "url": "https://example.org/another"})
    assert AnsweredPolicy(policy(ASK_ALWAYS), kept).decide(other).kind == "allow"


def test_an_answer_for_the_session_ends_with_it(kept: Permissions) -> None:
    asked = subject("tap", button("Send"))
    gate = AnsweredPolicy(policy(ASK_ALWAYS), kept)
    assert gate.remember(asked, gate.decide(asked), "session", allow=False) == "session"
    assert gate.decide(asked).kind == "deny"
    assert AnsweredPolicy(policy(ASK_ALWAYS), kept).decide(asked).kind == "ask"
    assert kept.all() == {}


def test_a_rule_limits_how_long_an_answer_counts(kept: Permissions) -> None:
    asked = subject("tap", button("Send"))
    gate = AnsweredPolicy(policy(ASK_SESSION), kept)
    assert gate.remember(asked, gate.decide(asked), "always", allow=True) == "session"
    assert kept.all() == {}
    once = AnsweredPolicy(policy(ASK_NEVER), kept)
    assert once.remember(asked, once.decide(asked), "always", allow=True) == "never"
    assert once.decide(asked).kind == "ask"


def test_a_rule_that_never_remembers_ignores_what_is_in_the_file(kept: Permissions) -> None:
    asked = subject("tap", button("Pay now"))
    kept.remember("tap", asked.context, allow=True)
    assert AnsweredPolicy(Policy(), kept).decide(asked).kind == "ask"


def test_memory_never_overrules_a_denial(kept: Permissions) -> None:
    asked = subject({"type": "shell", "command": "ls"})
    kept.remember("shell", asked.context, allow=True)
    assert AnsweredPolicy(policy("[[rule]]\nverdict = 'deny'"), kept).decide(asked).kind == "deny"


def test_the_gate_refuses_early_and_never_asks_early(kept: Permissions) -> None:
    shell = subject({"type": "shell", "command": "ls"}, resolved=None)
    assert AnsweredPolicy(Policy(), kept).early(shell) is None
    denied = AnsweredPolicy(policy("[[rule]]\nverdict = 'deny'"), kept).early(shell)
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


def test_revoking_says_what_may_be_meant_or_where_answers_are_listed(kept: Permissions) -> None:
    kept.remember("open_url", "example.org", allow=True)
    with pytest.raises(InvalidAction) as near:
        kept.forget("open_url:example.or")
    assert near.value.hint == "Did you mean open_url:example.org?"
    with pytest.raises(InvalidAction) as far:
        kept.forget("zzz")
    assert far.value.hint == "`handrail policy permissions` lists them."
    assert (far.value.message, far.value.details["path"]) == ("'zzz' is not remembered", "key")


def test_an_agents_answers_are_its_own(kept: Permissions) -> None:
    assert kept.lookup_for_agent("a", "send", "mail") is None
    assert kept.remember_for_agent("a", "send", None, False) == "agent:a:send"
    assert kept.lookup_for_agent("a", "send") is False
    assert kept.lookup_for_agent("a", "send", "mail") is False
    assert kept.remember_for_agent("a", "send", "mail", True) == "agent:a:send:mail"
    assert kept.lookup_for_agent("a", "send", "mail") is True
    assert kept.lookup_for_agent("b", "send", "mail") is None
    assert [is_agent_dialog_key(key) for key in kept.all()] == [True, True]
    assert not is_agent_dialog_key("shell:agent:a")


def test_keys_are_as_long_as_anybody_needs() -> None:
    assert policy_key("shell", "x" * 2_000) == "shell:" + "x" * 2_000
    with pytest.raises(InvalidAction) as caught:
        policy_key("shell", "x" * 2_001)
    assert caught.value.message == f"context: '{'x' * 40}…' is longer than 2000 characters"
    assert (caught.value.details["path"], caught.value.hint) == ("context", "Nothing was remembered.")
    for field, words in (("agent_id", (" ", "t")), ("tool", ("a", ""))):
        with pytest.raises(InvalidAction) as empty:
            agent_key(*words)
        assert (empty.value.details["path"], "is empty" in empty.value.message) == (field, True)
    assert agent_key("a:b", "50%", "c:d") == "agent:a%3Ab:50%25:c:d"
    with pytest.raises(InvalidAction, match=r"^tool: 'Shell' is not an action"):
        policy_key("Shell")


def test_a_remembered_answer_says_that_it_was_given_before(kept: Permissions) -> None:
    asked = subject({"type": "shell", "command": "ls"})
    gate = AnsweredPolicy(policy(ASK_SESSION), kept)
    for allow, kind, word in ((True, "allow", "allowed"), (False, "deny", "denied")):
        gate.remember(asked, gate.policy.decide(asked), "session", allow=allow)
        verdict = gate.decide(asked)
        assert (verdict.kind, verdict.why, verdict.rule) == (kind, f"{word} before: ls", "rule 1")


def test_an_answer_of_the_session_comes_before_the_file(kept: Permissions) -> None:
    asked = subject({"type": "shell", "command": "ls"})
    gate = AnsweredPolicy(policy(ASK_ALWAYS), kept)
    kept.remember("shell", "ls", allow=True)
    gate.remember(asked, gate.policy.decide(asked), "session", allow=False)
    assert gate.decide(asked).kind == "deny"


def test_a_rule_for_the_session_does_not_read_the_file(kept: Permissions) -> None:
    asked = subject({"type": "shell", "command": "ls"})
    kept.remember("shell", "ls", allow=True)
    assert AnsweredPolicy(policy(ASK_SESSION), kept).decide(asked).kind == "ask"
    assert AnsweredPolicy(policy(ASK_ALWAYS), kept).decide(asked).kind == "allow"


def test_without_a_file_an_answer_for_always_lasts_for_the_session() -> None:
    asked, other = (subject({"type": "shell", "command": command}) for command in ("ls", "id"))
    gate = AnsweredPolicy(policy(ASK_ALWAYS))
    assert gate.decide(asked).kind == "ask"
    assert gate.remember(asked, gate.decide(asked), "always", allow=True) == "always"
    assert [gate.decide(one).kind for one in (asked, other)] == ["allow", "ask"]


def test_what_is_free_is_free_early(kept: Permissions) -> None:
    free = AnsweredPolicy(Policy(), kept).early(subject("get_state", resolved=None))
    assert free is not None
    assert free.kind == "allow"
