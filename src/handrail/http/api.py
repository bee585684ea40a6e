"""Actions by HTTP: the vocabulary's schema, an action in and its envelope out, the desk's state, the devices.

An action whose client leaves before it is done is stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail import __version__
from handrail.android.discovery import Found
from handrail.config import canonical
from handrail.dialects.carry_out import CarriedOut
from handrail.engine.events import Caller
from handrail.engine.leases import Held
from handrail.engine.session import Session
from handrail.errors import FAMILIES, Cancelled, InvalidAction
from handrail.http.context import Context
from handrail.http.dialects import check_parameters, run_words, words_in
from handrail.http.responses import number, status_of
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import json_schema
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from, read_action, read_json
from handrail.waiting import first

MOST_AT_ONCE = 100
"""Actions of one batch."""
LONGEST_WAIT_MS = 60_000
DESK = "desk"
"""The one dialect that needs no phone."""

_schema = cache(json_schema)
T = TypeVar("T")


async def health(_: Request) -> JSONResponse:
    """That somebody answers."""
    return JSONResponse({"ok": True, "handrail": __version__})


async def vocabulary(_: Request) -> JSONResponse:
    """JSON Schema of every action."""
    return JSONResponse(_schema())


async def act(request: Request) -> JSONResponse:
    """One action → its envelope; a list of desk actions → one change; with `dialect`, the maker's answer."""
    body = await request.body()
    context: Context = request.app.state.context
    caller = request.state.visitor.caller()
    if "dialect" in request.query_params:
        done = await unless_left(request, _run_words(context, dict(request.query_params), body, caller))
        return JSONResponse(done.to_dict(), status_of(done.told.code))
    if body.lstrip()[:1] == b"[":
        envelopes = await unless_left(request, _run_all(context, body, caller))
        failed = next((one.failure_code for one in envelopes if not one.success), None)
        return JSONResponse([one.to_dict() for one in envelopes], status_of(failed))
    envelope = await unless_left(request, _run(context, body, caller))
    return JSONResponse(envelope.to_dict(), status_of(envelope.failure_code))


async def _run(context: Context, body: bytes, caller: Caller) -> Envelope:
    action = read_action(body)
    if isinstance(action, DeskAct):
        return await context.runtime.desk_session().run(action, caller=caller)
    return await (await _session(context, action.device)).run(action, caller=caller)


async def _run_words(context: Context, asked: dict[str, str], body: bytes, caller: Caller) -> CarriedOut:
    check_parameters(asked)
    needs_phone = asked["dialect"] != DESK
    session = await _session(context, asked.get("device")) if needs_phone else None
    talk = context.conversations.of(caller.id, session.serial if session else "", asked)
    return await run_words(context.runtime, session, words_in(body), talk, caller, asked["dialect"])


async def _session(context: Context, name: str | None) -> Session:
    """The named phone, the only one that is open, or the only one that there is."""
    if name is not None:
        return await context.phones.session(name)
    opened = list(context.runtime.sessions.values())
    return opened[0] if len(opened) == 1 else await context.runtime.session()


async def _run_all(context: Context, body: bytes, caller: Caller) -> list[Envelope]:
    given = read_json(body)
    if not 0 < len(given) <= MOST_AT_ONCE:
        raise InvalidAction(
            f"{len(given):,} actions are too many or too few; 1 to {MOST_AT_ONCE} make a batch",
            path="",
            hint="Send several batches.",
        )
    actions = [action_from(one) for one in given]
    return await context.runtime.desk_session().run_all(actions, caller=caller)


async def state(request: Request) -> JSONResponse:
    """The whole desk, as browsers are told it."""
    return JSONResponse(request.app.state.context.desk.snapshot())


async def inbox(request: Request) -> JSONResponse:
    """What people did for this caller since it last asked; `wait` is in milliseconds."""
    wait_ms = number(request, "wait", 0, LONGEST_WAIT_MS)
    name = request.state.visitor.caller().id
    desk = request.app.state.context.runtime.desk_session()
    return JSONResponse({"events": await unless_left(request, desk.heard(name, wait_ms))})


async def interrupt(request: Request) -> JSONResponse:
    """Stop everything that is being done."""
    stopped = await request.app.state.context.interrupt(request.state.visitor)
    return JSONResponse({"stopped": stopped})


async def devices(request: Request) -> JSONResponse:
    """Phones of the adb server, addresses that are known, and those that are open here."""
    told, notes = await listed_devices(request.app.state.context)
    return JSONResponse({"devices": told, "notes": notes})


async def listed_devices(context: Context) -> tuple[list[dict[str, Any]], list[str]]:
    """Each with its name and who has it, and notes on why there may be more."""
    runtime = context.runtime
    listing = await runtime.devices()
    held = {canonical(one.device): one for one in await runtime.leases.all()}
    opened = {canonical(serial): session for serial, session in runtime.sessions.items()}
    found = {canonical(one.serial): one for one in listing.devices}
    for name, session in opened.items():
        found.setdefault(name, Found(session.serial, via="direct"))
    told = [_device(one, opened.get(name), held.get(name)) for name, one in found.items()]
    for one in told:
        one["name"] = context.phones.name(one["serial"], one.get("model") or "")
    return told, list(listing.notes)


def _device(found: Found, session: Session | None, held: Held | None) -> dict[str, Any]:
    told = found.to_dict() | {"open": session is not None, "held": held.to_dict() if held else None}
    if session is not None:
        told |= {"model": session.facts.model, "android": session.facts.android_version}
    return told


async def unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What came of it. The body has to be read before: after it only the end of the line is heard."""
    leaving: asyncio.Event = request.app.state.context.leaving
    doing, left = await first(work, _left(request, leaving))
    if not doing.cancelled():
        return doing.result()
    if not left.cancelled() and left.result():
        raise Cancelled("the server was stopped", hint="Start it again, then ask again.", retryable=True)
    raise HTTPException(FAMILIES["cancelled"].http_status, "The client left before it was done.")


async def _left(request: Request, leaving: asyncio.Event) -> bool:
    """Returns when the client has gone, or when we go: True for the latter."""
    await first(_disconnected(request), _set(leaving))
    return leaving.is_set()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _set(event: asyncio.Event) -> None:
    await event.wait()


ROUTES = [
    Route("/healthz", health),
    Route("/api/actions", vocabulary),
    Route("/api/actions", act, methods=["POST"]),
    Route("/api/desk", state),
    Route("/api/inbox", inbox),
    Route("/api/interrupt", interrupt, methods=["POST"]),
    Route("/api/devices", devices),
]
