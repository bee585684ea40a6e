"""The tasks extension (SEP-2663): a call that has not ended is asked after, answered and stopped by its id.

Which calls become tasks, and what they ask, is decided elsewhere; this is how it looks on the wire. A task
belongs to the caller that made it: to everybody else it is one that there is not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from handrail.mcp.answer import ToolAnswer
from handrail.mcp.client import TASKS, Client
from handrail.mcp.waiting_calls import TASK_TTL_MS, Lot, Question, WaitingCall

POLL_MS = 1_000
"""How often a client should ask."""
Context = ServerRequestContext[Any, Any]
Wire = dict[str, Any]


class TaskParams(types.RequestParams):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateParams(TaskParams):
    """`tasks/update`: answers under the ids of their questions."""

    input_responses: dict[str, Any]


def add_tasks(
    server: Server[Any], lot: Lot, owner_of: Callable[[Context], str], dress: Callable[[ToolAnswer], Wire]
) -> None:
    """`owner_of` says who asks; `dress` writes an answer as the tool's own request would have."""
    server.add_request_handler("server/discover", types.RequestParams, _discover(server))

    def mine(ctx: Context, params: TaskParams) -> WaitingCall:
        check_client(ctx)
        _check_header(ctx, params.task_id)
        found = lot.by_task(params.task_id, owner_of(ctx))
        if found is None:
            said = "There is no such task: it is too old, or the server was started again."
            raise MCPError(types.INVALID_PARAMS, f"{said} Look at the screen before you call the tool again.")
        return found

    async def get(ctx: Context, params: TaskParams) -> Wire:
        call = mine(ctx, params)
        shown = await _shown(call, Client(ctx), dress)
        return {**shown, "resultType": "complete"}

    async def update(ctx: Context, params: UpdateParams) -> Wire:
        call = mine(ctx, params)
        for one in await call.pending():
            if one.id in params.input_responses:
                given = types.ElicitResult.model_validate(params.input_responses[one.id])
                await one.hear(given, Client(ctx).name)
        return {"resultType": "complete"}

    async def cancel(ctx: Context, params: TaskParams) -> Wire:
        mine(ctx, params).task.cancel()
        return {"resultType": "complete"}

    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)


def created(call: WaitingCall) -> Wire:
    """The answer to a tool's request that its call goes on without."""
    return {**_basics(call), "status": "working", "resultType": "task"}


def check_client(ctx: Context) -> None:
    """Only a client that says it knows tasks is told of them."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
    if not Client(ctx).takes_tasks:
        needed: Wire = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"This needs the extension {TASKS}.", needed)


def _check_header(ctx: Context, task_id: str) -> None:
    """Over HTTP the id stands in a header too, for those in between; the library knows no such methods."""
    if ctx.request is None:
        return
    if decode_header_value(ctx.request.headers.get(MCP_NAME_HEADER)) != task_id:
        said = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
        raise MCPError(types.HEADER_MISMATCH, said)


def _discover(server: Server[Any]) -> Any:
    """The extension is announced only where there is no handshake: older protocols have no such results."""

    async def discover(ctx: Context, _: types.RequestParams) -> types.DiscoverResult:
        can = server.get_capabilities(extensions={TASKS: {}}, protocol_version=ctx.protocol_version)
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=can,
            instructions=server.instructions,
        )

    return discover


def _basics(call: WaitingCall) -> Wire:
    return {
        "taskId": call.task_id,
        "createdAt": _when(call.began_ms),
        "lastUpdatedAt": _when(max(call.began_ms, call.changed_ms)),
        "ttlMs": TASK_TTL_MS,
        "pollIntervalMs": POLL_MS,
    }


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


async def _shown(call: WaitingCall, client: Client, dress: Callable[[ToolAnswer], Wire]) -> Wire:
    task, basics = call.task, _basics(call)
    if not task.done():
        return {**basics, **await _running(call, client)}
    call.is_told = True
    if task.cancelled():
        return {**basics, "status": "cancelled"}
    error = task.exception()
    if error is None:
        return {**basics, "status": "completed", "result": dress(task.result())}
    known = error.error if isinstance(error, MCPError) else None
    code, said = (known.code, known.message) if known else (types.INTERNAL_ERROR, "The call failed.")
    return {**basics, "status": "failed", "error": {"code": code, "message": said}}


async def _running(call: WaitingCall, client: Client) -> Wire:
    asked = await call.pending()
    if asked and client.takes_input_requests:
        forms = {one.id: _form(one) for one in asked}
        return {"status": "input_required", "inputRequests": forms}
    said = f"A person has to allow it. {asked[0].elsewhere}" if asked else call.ticker and call.ticker.said
    return {"status": "working", **({"statusMessage": said} if said else {})}


def _form(one: Question) -> Wire:
    return types.ElicitRequest(params=one.form).model_dump(by_alias=True, mode="json", exclude_none=True)
