"""The door on the official library: lists tools, answers calls, offers resources, over any transport.

A client goes by the name that it gives itself, which proves nothing; it is near or far by its address.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from handrail import __version__
from handrail.engine.events import PATIENCE_MS, Caller
from handrail.errors import HandrailError, InvalidAction
from handrail.mcp.answer import ToolAnswer, data_of
from handrail.mcp.approvals import Attendant
from handrail.mcp.calls import Call, act, call
from handrail.mcp.greeting import NAME, instructions
from handrail.mcp.state import DoorState, Progress
from handrail.mcp.tasks import add_tasks, created
from handrail.mcp.tools import Tool, tools
from handrail.mcp.waiting_calls import WaitingCall
from handrail.protocol.observe import GetUiTree

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
            return await call(state, params.name, params.arguments, caller=caller, progress=progress)

        device = state.of(caller).device or state.device
        reply = await attendant(ctx, params, owner_of(ctx), device, work)
        if isinstance(reply, WaitingCall):
            return created(reply)
        return dress(reply) if isinstance(reply, ToolAnswer) else reply

    async def list_resources(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_resource(one) for one in OFFERS])

    async def list_templates(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_template(ONE_ACTION)])

    async def read_resource(
        ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _read(state, ctx, str(params.uri))

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=instructions(state.profile),
        on_list_tools=list_tools,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    add_tasks(server, attendant.lot, owner_of, dress)
    server.middleware.clear()  # telemetry: nobody here listens to it, and every call would pay for it
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


def _resource(one: Offer) -> types.Resource:
    return types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type=one.kind)


def _template(one: Offer) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=one.uri, name=one.name, description=one.description, mime_type=one.kind
    )


async def _read(state: DoorState, ctx: Context, uri: str) -> types.ReadResourceResult:
    try:
        kind, text = await resource_text(state, caller_of(ctx), uri)
    except HandrailError as error:
        code = types.INVALID_PARAMS if error.family == "invalid" else types.INTERNAL_ERROR
        raise MCPError(code, f"{error.code}: {error.message} {error.hint}", error.to_dict()) from None
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])


SCREEN, JOURNAL, FLOWS = "handrail://screen", "handrail://journal", "handrail://flows"
ACTION = f"{JOURNAL}/{{action_id}}"
NEWEST = 50
"""Actions in the list of the journal."""
TEXT, JSON = "text/plain", "application/json"


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the list of resources."""

    uri: str
    name: str
    description: str
    kind: str


OFFERS = (
    Offer(SCREEN, "screen", "The screen now, as text with refs.", TEXT),
    Offer(JOURNAL, "journal", f"The newest {NEWEST} actions.", JSON),
    Offer(FLOWS, "flows", "Flows that run_flow can be given as `file`.", JSON),
)
ONE_ACTION = Offer(ACTION, "action", "One action's envelope.", JSON)


async def resource_text(state: DoorState, caller: Caller, uri: str) -> tuple[str, str]:
    """Its kind and its text; `InvalidAction` for what there is not."""
    if uri == SCREEN:
        return TEXT, await _screen(state, caller)
    if uri == JOURNAL:
        rows = await asyncio.to_thread(state.runtime.journal.actions, NEWEST)
        return JSON, _json([row.to_dict() for row in rows])
    if uri == FLOWS:
        from handrail.mcp.flows import flow_files  # noqa: PLC0415  (YAML and all of it, for one tool)

        return JSON, _json(flow_files(state.flows))
    if uri.startswith(f"{JOURNAL}/"):
        shown = await asyncio.to_thread(state.runtime.journal.show, uri.removeprefix(f"{JOURNAL}/"))
        return JSON, _json(shown.envelope or shown.events)
    known = ", ".join([*(one.uri for one in OFFERS), ACTION])
    raise InvalidAction(f"uri: there is no {uri[:100]!r}", path="uri", hint=f"There are {known}.")


async def _screen(state: DoorState, caller: Caller) -> str:
    """Read afresh; what the caller's tools have told it stays as it is."""
    seen = dict(state.of(caller).seen)
    answer = await act(Call(state, caller, SCREEN, {}), GetUiTree())
    state.of(caller).seen = seen
    return answer.text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
