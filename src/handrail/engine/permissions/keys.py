"""How remembered answers are called: `tool[:context]` for policy, `agent:<id>:<tool>[:context]` for agents.

The two can never meet: policy asks only for names of actions, none of which is `agent`, and an agent's key
always begins with `agent:`, whatever the agent calls itself, its tool or its context.
"""

from __future__ import annotations

from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS

AGENT = "agent:"
_LONGEST = 2_000


def policy_key(tool: str, context: str | None = None) -> str:
    """The key that policy reads. `tool` is an action's type: no other name is ever looked up."""
    if tool not in ACTIONS:
        raise _bad("tool", tool, "is no action; only answers about actions count for policy")
    return tool if context is None else f"{tool}:{_said('context', context)}"


def agent_key(agent_id: str, tool: str, context: str | None = None) -> str:
    """The key of an agent's own dialog. Colons inside the id and the tool are escaped, so none can lend
    itself another agent's name."""
    parts = [_escape(_said("agent_id", agent_id)), _escape(_said("tool", tool))]
    if context is not None:
        parts.append(_said("context", context))
    return AGENT + ":".join(parts)


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")


def _said(field: str, text: str) -> str:
    if not text.strip():
        raise _bad(field, text, "is empty")
    if len(text) > _LONGEST:
        raise _bad(field, f"{text[:40]}…", f"is longer than {_LONGEST} characters")
    return text


def _bad(field: str, value: str, why: str) -> InvalidAction:
    return InvalidAction(f"{field}: {value!r:.60} {why}", path=field, hint="Nothing was remembered.")
