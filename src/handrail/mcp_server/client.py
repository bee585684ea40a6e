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
    ElicitRequestFormParams,
    ElicitResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from handrail.clock import Clock
from handrail.engine.events import Listener
from handrail.engine.session import Session
from handrail.protocol.traits import Span
from handrail.safety.approval_store import AskedApproval
from handrail.screen.text import clean, cut
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
        # An empty elicitation capability means forms: the only kind there was before 2025-11-25.
        capabilities = self._ctx.session.client_capabilities
        offered = capabilities.elicitation if capabilities else None
        return offered is not None and (offered.form is not None or offered.url is None)

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
        response = (params.input_responses or {}).get(key)
        return response if isinstance(response, ElicitResult) else None


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
    readable: bool | None = None
    """False: the agent may not read `data`. None: it may, unless it looks like a secret."""


def form_of(approval: AskedApproval) -> ElicitRequestFormParams:
    request = approval.request
    label = f' "{cut(clean(request.label), _LABEL)}"' if request.label else ""
    lines = [
        request.shown(_TEXT),
        f"{approval.action_type}{label} on {clean(request.device)}",
        f"Why asked: {cut(clean(request.why), _TEXT)}" if request.why else "",
        f"The agent says: {cut(clean(request.reason), _TEXT)}" if request.reason else "",
        _elsewhere(approval),
    ]
    return ElicitRequestFormParams(
        message="\n".join(filter(None, lines)), requested_schema=schema_of(approval)
    )


def _elsewhere(approval: AskedApproval) -> str:
    if approval.request.kind == "human_auth" and approval.request.is_secret:
        return (
            f"Do it on the phone, then answer here. A code goes by `handrail approve {approval.id} --data -`."
        )
    return f"Also: `handrail approve {approval.id}`"


def schema_of(approval: AskedApproval) -> dict[str, Any]:
    """One choice without a default: a form that is sent back untouched allows nothing."""
    longest = approval.request.remember
    remembered = {"session": [SESSION], "always": [SESSION, ALWAYS]}.get(longest, [])
    choices = [YES, *remembered, NO]
    fields: dict[str, Any] = {"decision": {"type": "string", "title": "Your decision", "enum": choices}}
    if approval.request.wants_data and not approval.request.is_secret:
        fields["data"] = {"type": "string", "title": "What was asked for, if anything"}
        hint = "A code or a password is kept from it in any case."
        fields["readable"] = {
            "type": "boolean", "title": "The agent may read this", "description": hint, "default": True
        }  # fmt: skip
    return {"type": "object", "properties": fields, "required": ["decision"]}


def decision_of(approval: AskedApproval, result: ElicitResult) -> Decision | None:
    """None where the person closed the form, or a client sent back something else than was asked."""
    if result.action == "decline":
        return Decision(approved=False)
    content = result.content or {}
    chosen = content.get("decision")
    if result.action != "accept" or chosen not in schema_of(approval)["properties"]["decision"]["enum"]:
        return None
    if chosen == NO:
        return Decision(approved=False)
    data = content.get("data") if "data" in schema_of(approval)["properties"] else None
    readable = None if content.get("readable", True) is True else False
    return Decision(True, _SPANS[str(chosen)], data if isinstance(data, str) and data else None, readable)


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
        action_id: str | None = None
        async for event in events:
            action_id = action_id or event.action_id  # actions of others on the same device come later
            if event.action_id == action_id:
                self._state = event.waits_for or event.state.replace("_", " ")

    @property
    def message(self) -> str:
        return f"{self._tool}: {', '.join(filter(None, [self._step, self._state])) or 'at work'}"

    async def run(self, send: Send) -> None:
        """Until it is cancelled, at the end of a request that waits for the call."""
        began = self._clock.monotonic_ms()
        while True:
            await self._clock.sleep_ms(FIRST_MS)
            elapsed = (self._clock.monotonic_ms() - began) / 1000
            await send(round(elapsed, 3), None, self.message)
