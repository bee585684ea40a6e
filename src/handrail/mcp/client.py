"""The client behind one request: what it can show to its person, and how it is told and asked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from handrail.engine.approval import Approval
from handrail.mcp.elicit import can_show_forms, message_of, schema_of


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

    async def elicit(self, one: Approval) -> ElicitResult | None:
        """The person's answer to a form; None where the client could not ask after all."""
        try:
            return await self._ctx.session.elicit_form(message_of(one), schema_of(one), self._ctx.request_id)
        except (MCPError, ValidationError):
            return None

    def form_result(self, params: CallToolRequestParams, key: str) -> ElicitResult | None:
        """What a repeated request brings as the answer to one question."""
        given = (params.input_responses or {}).get(key)
        return given if isinstance(given, ElicitResult) else None
