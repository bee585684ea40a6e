"""A question to a person as an MCP form, and the form's answer as a decision. Pure.

Codes and passwords never travel in a form: a client may show forms, and their answers, to its model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_types import ClientCapabilities, ElicitRequest, ElicitRequestFormParams, ElicitResult

from handrail.engine.approval import Approval
from handrail.engine.policy import Span
from handrail.tree.quote import clean, cut

YES, SESSION, ALWAYS, NO = "allow once", "allow for this session", "always allow", "do not allow"
_SPANS: dict[str, Span | None] = {YES: None, SESSION: "session", ALWAYS: "always"}
_LABEL = 80  # characters
_TEXT = 300


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said to a form."""

    approved: bool
    remember: Span | None = None
    data: str | None = None


def can_show_forms(capabilities: ClientCapabilities | None) -> bool:
    """An empty elicitation capability means forms: the only kind there was before 2025-11-25."""
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)


def request_of(one: Approval) -> ElicitRequest:
    """The question, for a client that can show forms."""
    return ElicitRequest(
        params=ElicitRequestFormParams(message=message_of(one), requested_schema=schema_of(one))
    )


def message_of(one: Approval) -> str:
    """What would be done, why it is asked, and how to answer elsewhere."""
    asked = one.request
    label = f' "{cut(clean(asked.label), _LABEL)}"' if asked.label else ""
    lines = [
        cut(clean(asked.instruction), _TEXT),
        f"{one.action_type}{label} on {clean(asked.device)}",
        f"Why asked: {cut(clean(asked.why), _TEXT)}" if asked.why else "",
        f"The agent says: {cut(clean(asked.reason), _TEXT)}" if asked.reason else "",
        _elsewhere(one),
    ]
    return "\n".join(filter(None, lines))


def _elsewhere(one: Approval) -> str:
    if one.request.kind == "human_auth" and one.request.is_secret:
        return f"Do it on the phone, then answer here. A code goes by `handrail approve {one.id} --data -`."
    return f"Also: `handrail approve {one.id}`"


def schema_of(one: Approval) -> dict[str, Any]:
    """One choice without a default: a form that is sent back untouched allows nothing."""
    choices = [YES, *_offered(one), NO]
    fields: dict[str, Any] = {"decision": {"type": "string", "title": "Your decision", "enum": choices}}
    if one.request.kind == "human_auth" and not one.request.is_secret:
        fields["data"] = {"type": "string", "title": "What was asked for, if anything"}
    return {"type": "object", "properties": fields, "required": ["decision"]}


def _offered(one: Approval) -> list[str]:
    longest = one.request.remember
    return {"never": [], "session": [SESSION], "always": [SESSION, ALWAYS]}[longest]


def decision_of(one: Approval, result: ElicitResult) -> Decision | None:
    """None where the person closed the form, or a client sent back something else than was asked."""
    if result.action == "decline":
        return Decision(approved=False)
    content = result.content or {}
    chosen = content.get("decision")
    if result.action != "accept" or chosen not in schema_of(one)["properties"]["decision"]["enum"]:
        return None
    if chosen == NO:
        return Decision(approved=False)
    data = content.get("data") if "data" in schema_of(one)["properties"] else None
    return Decision(True, _SPANS[str(chosen)], data if isinstance(data, str) and data else None)
