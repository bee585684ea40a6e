"""What a client can read without a tool: screens, pictures, journal, flows, words about actions and errors.

A reading is an action like any other: permitted, journalled. What the device says stands behind the same line
as in tools' answers, and no known secret leaves by any of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from handrail.errors import ERRORS, HandrailError, InvalidAction
from handrail.mcp.answer import FRAME
from handrail.mcp.calls import Call, act
from handrail.protocol.observe import GetUiTree, Screenshot

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.mcp.state import DoorState

NEWEST = 50
"""Actions in the list of the journal."""
TEXT, JSON, PNG = "text/plain", "application/json", "image/png"
YAML, MARKDOWN = "application/yaml", "text/markdown"
ROOT = "handrail://"
Read = Callable[["DoorState", "Caller", str], Awaitable[str]]
"""The text of one resource; for a template, of the one that this word names."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the list of resources, or of their templates."""

    name: str
    description: str
    kind: str
    read: Read
    word: str = ""
    """Of a template: what stands behind the name."""

    @property
    def uri(self) -> str:
        return f"{ROOT}{self.name}" + (f"/{{{self.word}}}" if self.word else "")


async def _screen(state: DoorState, caller: Caller, device: str) -> str:
    """Read afresh; what the caller's tools have told it stays as it is."""
    seen = dict(state.of(caller).seen)
    answer = await act(Call(state, caller, "screen", {}), GetUiTree(device=device or None))
    state.of(caller).seen = seen
    return answer.text


async def _picture(state: DoorState, caller: Caller, device: str) -> str:
    seen = dict(state.of(caller).seen)
    answer = await act(Call(state, caller, "picture", {}), Screenshot(device=device or None))
    state.of(caller).seen = seen
    if not answer.images:
        raise HandrailError(answer.text, hint="")
    return answer.images[0]


async def _journal(state: DoorState, _: Caller, __: str) -> str:
    rows = await asyncio.to_thread(state.runtime.journal.actions, NEWEST)
    return _json(state, [row.to_dict() for row in rows])


async def _action(state: DoorState, _: Caller, action_id: str) -> str:
    shown = await asyncio.to_thread(state.runtime.journal.show, action_id)
    told = shown.envelope or {"events": shown.events}
    return _json(state, {"note": FRAME, **told})


async def _flows(state: DoorState, _: Caller, __: str) -> str:
    from handrail.mcp.flows import flow_files  # noqa: PLC0415  (YAML and all of it, for one tool)

    return _json(state, flow_files(state.flows))


async def session_flow(state: DoorState, caller: Caller, device: str) -> str:
    """What was done on this caller's phone since its session began, as a flow's file."""
    from handrail.flow.recording import flow_text  # noqa: PLC0415

    session = await state.session(caller, device or None)

    def told() -> str:
        return flow_text(
            state.runtime.journal, device=session.serial, session=session.record.session, name="recorded"
        )

    text = await asyncio.to_thread(told)
    return f"# {FRAME}\n{state.runtime.secrets.redact(text)}"


async def _run(state: DoorState, caller: Caller, _: str) -> str:
    ran = state.of(caller).last_run
    if ran is None:
        raise InvalidAction("No flow was run yet", hint="run_flow runs one.", path="uri")
    return _json(state, {"note": FRAME, **ran})


async def _docs(_: DoorState, __: Caller, page: str) -> str:
    if page == "errors":
        rows = [
            f"- `{code}`: {(cls.__doc__ or '').splitlines()[0]} {cls.hint}" for code, cls in ERRORS.items()
        ]
        return "\n".join(["# Error codes", "", *rows, ""])
    if page == "actions":
        from handrail.agent.tools import told_as_text  # noqa: PLC0415
        from handrail.protocol.actions import ACTIONS  # noqa: PLC0415

        return f"# Actions\n\nFields that may be left out have a `?`.\n\n{told_as_text(ACTIONS)}\n"
    raise InvalidAction(f"there is no page {page[:60]!r}", path="uri", hint="There are actions and errors.")


OFFERS = (
    Offer("screen", "The screen now, as text with refs.", TEXT, _screen),
    Offer("picture", "The screen now, as a picture.", PNG, _picture),
    Offer("journal", f"The newest {NEWEST} actions.", JSON, _journal),
    Offer("flows", "Flows that run_flow can be given as `file`.", JSON, _flows),
    Offer("flow", "What was done on the phone in this session, as a flow.", YAML, session_flow),
    Offer("run", "The steps of the last flow that you ran.", JSON, _run),
)
TEMPLATES = (
    Offer("screen", "The screen of one device.", TEXT, _screen, "device"),
    Offer("picture", "A picture of one device.", PNG, _picture, "device"),
    Offer("journal", "One action's envelope.", JSON, _action, "action_id"),
    Offer("docs", "Words about `actions` or `errors`.", MARKDOWN, _docs, "page"),
)


def _json(state: DoorState, value: Any) -> str:
    return json.dumps(state.runtime.secrets.redact_data(value), ensure_ascii=False)


def found(uri: str) -> tuple[Offer, str]:
    """The offer and the word behind its name; `InvalidAction` for what there is not."""
    name, has_word, word = uri.removeprefix(ROOT).partition("/")
    offers = TEMPLATES if has_word and word else OFFERS
    for one in offers:
        if uri.startswith(ROOT) and one.name == name:
            return one, unquote(word)
    known = ", ".join(one.uri for one in (*OFFERS, *TEMPLATES))
    raise InvalidAction(f"uri: there is no {uri[:100]!r}", path="uri", hint=f"There are {known}.")


def add_resources(
    server: Server[Any], state: DoorState, caller_of: Callable[[ServerRequestContext[Any, Any]], Caller]
) -> None:
    """Lists, templates and readings."""

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_resource(one) for one in OFFERS])

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_template(one) for one in TEMPLATES])

    async def read(
        ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            one, word = found(uri)
            text = await one.read(state, caller_of(ctx), word)
        except HandrailError as error:
            code = types.INVALID_PARAMS if error.family == "invalid" else types.INTERNAL_ERROR
            raise MCPError(code, f"{error.code}: {error.message} {error.hint}", error.to_dict()) from None
        return types.ReadResourceResult(contents=[_contents(uri, one.kind, text)])

    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)


def _resource(one: Offer) -> types.Resource:
    return types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type=one.kind)


def _template(one: Offer) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=one.uri, name=f"one {one.name}", description=one.description, mime_type=one.kind
    )


def _contents(uri: str, kind: str, text: str) -> types.TextResourceContents | types.BlobResourceContents:
    if kind == PNG:
        return types.BlobResourceContents(uri=uri, mime_type=kind, blob=text)
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
