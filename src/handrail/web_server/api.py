"""Actions by HTTP: the schema, actions in and envelopes out, other makers' dialects, the desk's state.

An action is cancelled when its client disconnects before it ends.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from handrail import __version__
from handrail.dialects.frame import Conversation, CoordinateFrame, size_from, unit_from
from handrail.dialects.registry import CarriedOut, carry_out, dialect
from handrail.engine.envelope_text import envelope_text
from handrail.engine.session import Session
from handrail.errors import FAMILIES, Cancelled, InvalidAction
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction, json_schema
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from, read_action, read_json
from handrail.safety.caller import Caller
from handrail.waiting import first
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, http_status_of, read_number

if TYPE_CHECKING:
    from handrail.web_server.server import DeskContext

ROUTES = RouteTable()
MOST_AT_ONCE = 100  # actions of one batch
LONGEST_WAIT_MS = 60_000
MOST_CONVERSATIONS = 200
DIALECT_PARAMETERS = ("dialect", "frame", "screen", "picture", "device")
DESK = "desk"  # the one dialect that needs no phone

_schema = cache(json_schema)
T = TypeVar("T")


@ROUTES("/healthz")
async def health(_: DeskRequest) -> JSON:
    """Whether the server answers, and its version."""
    return {"ok": True, "handrail": __version__}


@ROUTES("/api/actions")
async def action_schema(_: DeskRequest) -> JSON:
    """JSON Schema of every action."""
    return _schema()


@ROUTES("/api/actions", "POST")
async def act(request: DeskRequest) -> JSONResponse:
    """One action → its envelope; a list of desk actions → one change; with `dialect`, the maker's answer."""
    body = await request.body()
    context, caller = request.context, request.visitor.caller()
    if "dialect" in request.query_params:
        work = _perform_in_dialect(context, dict(request.query_params), body, caller)
        carried_out = await until_disconnect(request, work)
        return JSONResponse(carried_out.to_dict(), http_status_of(carried_out.outcome.code))
    if body.lstrip()[:1] == b"[":
        envelopes = await until_disconnect(request, _perform_desk_batch(context, body, caller))
        failure = next((envelope.failure_code for envelope in envelopes if not envelope.success), None)
        return JSONResponse([envelope.to_dict() for envelope in envelopes], http_status_of(failure))
    envelope = await until_disconnect(request, _perform_action(context, body, caller))
    return JSONResponse(envelope.to_dict(), http_status_of(envelope.failure_code))


async def _perform_action(context: DeskContext, body: bytes, caller: Caller) -> Envelope:
    action = read_action(body)
    if isinstance(action, DeskAct):
        return await context.runtime.desk_session().run(action, caller=caller)
    return await (await _session_for(context, action.device)).run(action, caller=caller)


async def _perform_desk_batch(context: DeskContext, body: bytes, caller: Caller) -> list[Envelope]:
    batch = read_json(body)
    if not 0 < len(batch) <= MOST_AT_ONCE:
        raise InvalidAction(
            f"A batch has 1 to {MOST_AT_ONCE} actions, this one has {len(batch):,}",
            path="",
            hint="Send several batches.",
        )
    actions = [action_from(fields) for fields in batch]
    return await context.runtime.desk_session().run_all(actions, caller=caller)


async def _session_for(context: DeskContext, name: str | None) -> Session:
    """The named phone, the only one that is open, or the only one that there is."""
    if name is not None:
        return await context.phones.session(name)
    opened = list(context.runtime.sessions.values())
    return opened[0] if len(opened) == 1 else await context.runtime.session()


class Conversations:
    """What a dialect remembers between requests, as the mouse position; by caller, device and dialect."""

    def __init__(self) -> None:
        self._conversations: dict[tuple[str, str, str], Conversation] = {}

    def of(self, caller: str, device: str, query: Mapping[str, str]) -> Conversation:
        """`frame`, `screen` and `picture` of the query hold for later requests too."""
        name = query["dialect"]
        key = (caller, device, name)
        talk = self._conversations.pop(key, None) or Conversation(CoordinateFrame(dialect(name).unit))
        self._conversations[key] = talk
        while len(self._conversations) > MOST_CONVERSATIONS:
            del self._conversations[next(iter(self._conversations))]
        screen = size_from(query.get("screen"), "screen") or talk.frame.screen
        picture = size_from(query.get("picture"), "picture") or talk.frame.picture
        talk.frame = CoordinateFrame(unit_from(query.get("frame"), talk.frame.unit), screen, picture)
        return talk


async def _perform_in_dialect(
    context: DeskContext, query: dict[str, str], body: bytes, caller: Caller
) -> CarriedOut:
    """The body is JSON or a model's text. Parameters are checked before a phone is opened."""
    name, runtime = query["dialect"], context.runtime
    dialect(name)
    for parameter in query:
        if parameter not in DIALECT_PARAMETERS:
            hint = f"Parameters: {', '.join(DIALECT_PARAMETERS)}."
            raise InvalidAction.at(parameter, "is not known here", hint=hint)
    session = await _session_for(context, query.get("device")) if name != DESK else None
    conversation = context.conversations.of(caller.id, session.serial if session else "", query)
    text = body.decode("utf-8-sig", "replace")
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = text

    async def perform(action: AnyAction) -> tuple[Mapping[str, Any], str]:
        if isinstance(action, DeskAct) or session is None:
            envelope = await runtime.desk_session().run(action, caller=caller)
            return envelope.to_dict(), envelope_text(action, envelope, refs=False)
        envelope = await session.run(action, caller=caller)
        screen = runtime.secrets.redact(session.screens.registry.text)
        return envelope.to_dict(), envelope_text(action, envelope, screen, refs=False)

    return await carry_out(dialect(name), words, conversation, perform)


@ROUTES("/api/desk")
async def state(request: DeskRequest) -> JSON:
    """The whole desk, as browsers are told it."""
    return request.context.desk.snapshot()


@ROUTES("/api/inbox")
async def read_inbox(request: DeskRequest) -> JSON:
    """What people did for this caller since it last asked; `wait` is in milliseconds."""
    wait_ms = read_number(request, "wait", 0, LONGEST_WAIT_MS)
    events = request.runtime.desk_session().heard(request.visitor.caller().id, wait_ms)
    return {"events": await until_disconnect(request, events)}


@ROUTES("/api/interrupt", "POST")
async def interrupt(request: DeskRequest) -> JSON:
    """Stop every action that is running."""
    return {"stopped": await request.context.interrupt(request.visitor)}


async def until_disconnect(request: DeskRequest, work: Coroutine[Any, Any, T]) -> T:
    """Cancels `work` when the client disconnects or the server stops.

    The body must be read before: afterwards `receive` yields only the disconnect.
    """
    leaving = request.context.leaving

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    done, _ = await first(work, first(disconnected(), leaving.wait()))
    if not done.cancelled():
        return done.result()
    if leaving.is_set():
        raise Cancelled("the server was stopped", hint="Start it again, then ask again.", retryable=True)
    raise HTTPException(FAMILIES["cancelled"].http_status, "The client left before it was done.")
