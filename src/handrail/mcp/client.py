"""The client behind one request: what it can show to its person, and how it is told and asked.

A question is an MCP form; codes and passwords never travel in one, because a client may show forms to its
model. Progress is told once a second, as the seconds that passed: it always grows, as the protocol wants.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitRequestFormParams,
    ElicitResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from handrail.clock import Clock
from handrail.engine.approval import AskedApproval
from handrail.engine.events import Listener
from handrail.engine.policy import Span
from handrail.engine.session import Session
from handrail.tree.quote import clean, cut
from handrail.waiting import beside

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which a client asks after calls that have not ended."""


class Client:
    """For the length of one request."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx

    @property
    def name(self) -> str:
        params = self._ctx.session.client_params
        return params.client_info.name[:60] if params else "an MCP client"

    @property
    def wants_progress(self) -> bool:
        return bool(self._ctx.meta) and (self._ctx.meta or {}).get("progress_token") is not None

    @property
    def takes_input_requests(self) -> bool:
        """Since 2026-07-28 a server can't ask; it answers that it needs an answer."""
        return self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and self._shows_forms

    @property
    def takes_elicitation(self) -> bool:
        return self._ctx.session.can_send_request and self._shows_forms

    @property
    def _shows_forms(self) -> bool:
        return can_show_forms(self._ctx.session.client_capabilities)

    async def report(self, progress: float, total: float | None, message: str) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody listens any more
            await self._ctx.session.report_progress(progress, total, message)

    @property
    def takes_tasks(self) -> bool:
        """Said with each request; older protocols have no such results."""
        can = self._ctx.session.client_capabilities
        is_modern = self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        return is_modern and can is not None and TASKS in (can.extensions or {})

    async def elicit(self, form: ElicitRequestFormParams) -> ElicitResult | None:
        """The person's answer to a form; None where the client could not ask after all."""
        try:
            return await self._ctx.session.elicit_form(
                form.message, form.requested_schema, self._ctx.request_id
            )
        except (MCPError, ValidationError):
            return None

    def form_result(self, params: CallToolRequestParams, key: str) -> ElicitResult | None:
        """What a repeated request brings as the answer to one question."""
        given = (params.input_responses or {}).get(key)
        return given if isinstance(given, ElicitResult) else None


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


def form_of(one: AskedApproval) -> ElicitRequestFormParams:
    """The question, for a client that can show forms."""
    return ElicitRequestFormParams(message=message_of(one), requested_schema=schema_of(one))


def message_of(one: AskedApproval) -> str:
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


def _elsewhere(one: AskedApproval) -> str:
    if one.request.kind == "human_auth" and one.request.is_secret:
        return f"Do it on the phone, then answer here. A code goes by `handrail approve {one.id} --data -`."
    return f"Also: `handrail approve {one.id}`"


def schema_of(one: AskedApproval) -> dict[str, Any]:
    """One choice without a default: a form that is sent back untouched allows nothing."""
    choices = [YES, *_offered(one), NO]
    fields: dict[str, Any] = {"decision": {"type": "string", "title": "Your decision", "enum": choices}}
    if one.request.wants_data and not one.request.is_secret:
        fields["data"] = {
            "type": "string",
            "title": "What was asked for, if anything; the agent will read it",
        }
    return {"type": "object", "properties": fields, "required": ["decision"]}


def _offered(one: AskedApproval) -> list[str]:
    longest = one.request.remember
    return {"never": [], "time": [], "session": [SESSION], "always": [SESSION, ALWAYS]}[longest]


def decision_of(one: AskedApproval, result: ElicitResult) -> Decision | None:
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


FIRST_MS = 1_000.0
"""What is done sooner needs no report."""
Send = Callable[[float, float | None, str], Awaitable[None]]
"""Seconds, a total where one is known, what is going on."""


class Ticker:
    """The progress of one call."""

    def __init__(self, tool: str, clock: Clock) -> None:
        self._tool = tool
        self._clock = clock
        self._step = ""
        self._state = ""

    def step(self, done: int, total: int, what: str) -> None:
        """Within a flow: what its next step does."""
        self._step = f"step {min(done + 1, total)} of {total}, {what}"

    @asynccontextmanager
    async def watching(self, session: Session) -> AsyncIterator[None]:
        """While an action runs, its state is in the message."""
        try:
            async with beside(self._listen(session.events()), f"progress of {self._tool}"):
                yield
        finally:
            self._state = ""

    async def _listen(self, events: Listener) -> None:
        mine: str | None = None
        async for event in events:
            mine = mine or event.action_id  # actions of others on the same device come later
            if event.action_id == mine:
                self._state = event.said or event.state.replace("_", " ")

    @property
    def said(self) -> str:
        """What is going on."""
        return f"{self._tool}: {', '.join(filter(None, [self._step, self._state])) or 'at work'}"

    async def run(self, send: Send) -> None:
        """Until it is cancelled, at the end of a request that waits for the call."""
        began = self._clock.monotonic_ms()
        while True:
            await self._clock.sleep_ms(FIRST_MS)
            elapsed = (self._clock.monotonic_ms() - began) / 1000
            await send(round(elapsed, 3), None, self.said)
