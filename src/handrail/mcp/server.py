"""The door on the official library: lists tools and answers calls, over any transport.

A client goes by the name that it gives itself, which proves nothing; it is near or far by its address.
"""

from __future__ import annotations

import hashlib
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from handrail import __version__
from handrail.engine.events import PATIENCE_MS, Caller
from handrail.engine.work import inside, read_traceparent
from handrail.mcp.answer import ToolAnswer, data_of
from handrail.mcp.approvals import Attendant
from handrail.mcp.calls import call
from handrail.mcp.greeting import NAME, instructions
from handrail.mcp.prompts import add_prompts
from handrail.mcp.resources import add_resources
from handrail.mcp.state import DoorState, Progress
from handrail.mcp.tasks import add_tasks, created
from handrail.mcp.tools import Tool, tools
from handrail.mcp.waiting_calls import WaitingCall

if TYPE_CHECKING:
    from starlette.requests import Request

ENVELOPE, DATA = "handrail/envelope", "handrail/data"
"""Keys of `_meta`: the whole envelope, or the data of an answer that has none."""

Context = ServerRequestContext[Any, Any]
ToolReply = dict[str, Any] | types.InputRequiredResult


def build(state: DoorState, *, structured: bool = False, attend: Attendant | None = None) -> Server[Any]:
    """A server of this state's profile. `structured` also sends each answer's data where models see it."""
    attendant = attend or Attendant(state.runtime.approvals, state.runtime.clock)
    attendant.install()
    offered = [listed(tool) for tool in tools(state.profile)]
    dress = partial(result_of, structured=structured)

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=offered)

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> ToolReply:
        caller = caller_of(ctx)

        async def work(progress: Progress | None) -> ToolAnswer:
            with inside(read_traceparent(dict(params.meta or {}).get("traceparent"))):
                return await call(state, params.name, params.arguments, caller=caller, progress=progress)

        device = state.of(caller).device or state.device
        reply = await attendant(ctx, params, owner_of(ctx), device, work)
        if isinstance(reply, WaitingCall):
            return created(reply)
        return dress(reply) if isinstance(reply, ToolAnswer) else reply

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=instructions(state.profile),
        on_list_tools=list_tools,
    )
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    add_resources(server, state, caller_of)
    add_prompts(server, state, caller_of)
    add_tasks(server, attendant.lot, owner_of, dress)
    server.middleware.clear()  # the library's own tracing: ours is told by the engine, and has no names in it
    return server


def listed(tool: Tool) -> types.Tool:
    """As the library writes it."""
    return types.Tool.model_validate(tool.to_dict())


def result_of(answer: ToolAnswer, *, structured: bool = False) -> dict[str, Any]:
    """One text block and the pictures. Clients that see structured content hide both, so it goes alone.

    Plain data: the library checks and writes it once more by the client's version of the protocol anyway.
    """
    content = [{"type": "text", "text": text} for text in (answer.text, *answer.more) if text]
    content += [{"type": "image", "data": one, "mimeType": "image/png"} for one in answer.images]
    result: dict[str, Any] = {"content": content, "isError": answer.is_error, "resultType": "complete"}
    if answer.envelope is not None:
        told = answer.structured or {}
        result["_meta"] = {ENVELOPE: told if "action_id" in told else data_of(answer.envelope)}
    elif answer.structured is not None:
        result["_meta"] = {DATA: answer.structured}
    if structured and not answer.images and answer.structured is not None:
        result["structuredContent"] = answer.structured
    return result


SESSION_HEADER = "mcp-session-id"
LONGEST_NAME = 60
UNNAMED = "mcp client"


def caller_of(ctx: ServerRequestContext[Any, Any]) -> Caller:
    """The same one for all requests of a client: by its name, and its session where the protocol has one."""
    params = ctx.session.client_params
    name = params.client_info.name if params else UNNAMED
    shown = "".join(char for char in name if char.isprintable())[:LONGEST_NAME] or UNNAMED
    request: Request | None = ctx.request
    if request is None:
        return Caller(shown, "agent", "mcp", patience_ms=PATIENCE_MS)
    session = request.headers.get(SESSION_HEADER)
    return Caller(
        f"{shown} {session[:8]}" if session else shown,
        "agent",
        "mcp",
        is_remote=not _is_near(request),
        asker=_hash(session) if session else "",
        patience_ms=PATIENCE_MS,
    )


def owner_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """Whose calls and tasks they are: nobody else is told of them."""
    caller = caller_of(ctx)
    return f"{caller.id} {caller.asker}"


def _hash(session: str) -> str:
    """The server gave this id at random; it is not kept where others could read it."""
    return hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()


def _is_near(request: Request) -> bool:
    """From this machine; an address that is not known is far."""
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False
