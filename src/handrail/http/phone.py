"""The phone at the HTTP door: live pictures, the tree behind them, and a person's hands.

`Phones` belongs to one server; `handle` is what the WebSocket does with `PHONE_INPUT`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.android.serial import canonical
from handrail.engine.events import Caller, Event
from handrail.engine.session import Session
from handrail.errors import AdbConnectionError
from handrail.http.album import Album
from handrail.http.phone_frame import Small, shrink
from handrail.http.phone_hold import Hands, owns
from handrail.http.phone_stream import Stream, Watcher
from handrail.http.phone_tree import tree_of
from handrail.protocol.message import PhoneInput
from handrail.protocol.observe import GetUiTree
from handrail.runtime import Runtime

REASON = "I look at the elements, at the desk"
PATIENCE_S = 3.0
"""For a look that waits for its turn."""


class Phones:
    """Everything that the desk shows and does of phones."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.hands = Hands(runtime)
        self.last: dict[str, Event] = {}
        """By serial: the end of the last action."""
        self._streams: dict[str, Stream] = {}
        self._album = Album(runtime, self._live)

    async def session(self, device: str) -> Session:
        """Of a phone that is open or listed; a name from a browser never makes us call a stranger."""
        name = canonical(device)
        for session in self.runtime.sessions.values():
            if canonical(session.serial) == name:
                return session
        listed = (await self.runtime.devices()).devices
        found = next((one for one in listed if canonical(one.serial) == name), None)
        if found is None:
            raise AdbConnectionError(
                f"{device} is none of the {len(listed)} phones that are known here",
                hint="Connect it, or name its address in HANDRAIL_DEVICES, and look again.",
            )
        return await self.runtime.session(found.serial)

    def watch(self, device: str, watcher: Watcher) -> None:
        name = canonical(device)
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = Stream(device, lambda: self.session(device), self.runtime.clock)
        stream.watch(watcher)

    def unwatch(self, device: str, watcher: Watcher) -> None:
        if stream := self._streams.get(canonical(device)):
            stream.unwatch(watcher)

    def leave(self, watcher: Watcher) -> None:
        """A browser has gone."""
        for stream in self._streams.values():
            stream.unwatch(watcher)

    def watchers(self, device: str) -> int:
        stream = self._streams.get(canonical(device))
        return stream.watchers if stream else 0

    def heard(self, session: Session, event: Event) -> None:
        """One step in the life of an action, by whomever."""
        if event.terminal and event.envelope is not None and event.envelope.semantic != "observation":
            self.last[canonical(session.serial)] = event
        if stream := self._streams.get(canonical(session.serial)):
            stream.hurry()
        self._album.heard(session, event)

    def _live(self, serial: str) -> Small | None:
        stream = self._streams.get(canonical(serial))
        return stream.newest if stream else None

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.close()
        await self.hands.close()
        await self._album.close()


class HasPhones(Protocol):
    """What `handle` needs of the server."""

    @property
    def phones(self) -> Phones: ...


async def handle(context: HasPhones, client: Watcher, frame: PhoneInput, person: Caller) -> None:
    """What a person's browser asks for; raises `HandrailError` for what can't be done."""
    phones = context.phones
    match frame.control:
        case "watch":
            phones.watch(frame.device, client)
        case "unwatch":
            phones.unwatch(frame.device, client)
        case "take":
            await phones.hands.take((await phones.session(frame.device)).serial, person)
        case "hand_back":
            await phones.hands.hand_back(frame.device, person)
    if frame.action is not None:
        await phones.hands.touch(await phones.session(frame.device), frame.action, person)


# routes


def _asked(request: Request) -> tuple[Phones, str, Caller]:
    context, visitor = request.app.state.context, request.state.visitor
    return context.phones, request.path_params["device"], visitor.caller()


async def state(request: Request) -> JSONResponse:
    """Who has the phone, what is in front, what was done last."""
    phones, device, caller = _asked(request)
    return JSONResponse(await _state(phones, device, caller))


async def _state(phones: Phones, device: str, caller: Caller) -> dict[str, Any]:
    session = await phones.session(device)
    front, display, held = await asyncio.gather(
        session.driver.foreground(), session.driver.display(), phones.hands.holder(session.serial)
    )
    last = phones.last.get(canonical(session.serial))
    return {
        "device": session.serial,
        "model": session.facts.model,
        "android": session.facts.android_version,
        "app": front.package,
        "activity": front.activity,
        "width": display.width,
        "height": display.height,
        "holder": held.to_dict() if held else None,
        "yours": owns(caller, held),
        "watchers": phones.watchers(device),
        "last": last.to_dict() if last else None,
    }


async def take(request: Request) -> JSONResponse:
    """The phone for the person who asks."""
    phones, device, caller = _asked(request)
    request.state.visitor.must_be_person("Taking a phone over")
    await phones.hands.take((await phones.session(device)).serial, caller)
    return JSONResponse(await _state(phones, device, caller))


async def hand_back(request: Request) -> JSONResponse:
    """The phone for whoever worked on it."""
    phones, device, caller = _asked(request)
    request.state.visitor.must_be_person("Handing a phone back")
    await phones.hands.hand_back(device, caller)
    return JSONResponse(await _state(phones, device, caller))


async def stop(request: Request) -> JSONResponse:
    """End everything that is being done on this phone."""
    phones, device, caller = _asked(request)
    return JSONResponse({"stopped": await phones.hands.stop(device, caller)})


async def tree(request: Request) -> JSONResponse:
    """The compact text and the box of every ref in it; `fresh=1` looks again."""
    phones, device, caller = _asked(request)
    session = await phones.session(device)
    if request.query_params.get("fresh") == "1" or session.sight.last is None:
        with suppress(TimeoutError):  # somebody's action is under way: what was seen last has to do
            async with asyncio.timeout(PATIENCE_S):
                await session.run(GetUiTree(), reason=REASON, caller=caller)
    return JSONResponse(tree_of(session.sight, phones.runtime.secrets.redact))


async def picture(request: Request) -> Response:
    """The screen now."""
    phones, device, _ = _asked(request)
    png = await (await phones.session(device)).driver.screenshot()
    small = await asyncio.to_thread(shrink, png)
    return Response(small.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


ROUTES = [
    Route("/api/phone/{device}/state", state),
    Route("/api/phone/{device}/take", take, methods=["POST"]),
    Route("/api/phone/{device}/hand-back", hand_back, methods=["POST"]),
    Route("/api/phone/{device}/stop", stop, methods=["POST"]),
    Route("/api/phone/{device}/tree", tree),
    Route("/api/phone/{device}/frame.jpg", picture),
]
