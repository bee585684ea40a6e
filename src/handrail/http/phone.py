"""The phone at the HTTP door: its state, the tree behind its picture, and a person who takes and uses it.

`Phones` belongs to one server. `ManualControl` acts by the engine's own hold. `handle` is what the WebSocket
does with `PHONE_INPUT`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.clock import iso_time
from handrail.config import canonical
from handrail.device_names import DeviceNames
from handrail.engine.events import Caller, Event
from handrail.engine.hold import Stops
from handrail.engine.leases import Held, Holder, Lease
from handrail.engine.look.looks import Looks
from handrail.engine.session import Session
from handrail.errors import AdbConnectionError, DeviceBusy
from handrail.http.phone_pictures import BeforeAfter, PhoneStream, PictureWatcher, SmallPicture, shrink
from handrail.http.phone_video import PhoneVideos, VideoWatcher
from handrail.protocol.actions import AnyAction
from handrail.protocol.message import PhoneInput
from handrail.protocol.observe import GetUiTree
from handrail.runtime import Runtime
from handrail.tree.reach import visible_part
from handrail.waiting import Background

REASON = "I look at the elements, at the desk"
PATIENCE_S = 3.0
"""For a look that waits for its turn."""
WAITING = 50
"""Touches of one person that may wait for their turn; more means that the phone hangs."""
BY_HAND = "by hand, at the desk"
"""The reason in the journal, where the person gives none."""
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.MULTILINE)


class Watcher(PictureWatcher, VideoWatcher, Protocol):
    """A browser."""


class Phones:
    """Everything that the desk shows and does of phones."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.hands = ManualControl(runtime)
        self.last: dict[str, Event] = {}
        """By serial: the end of the last action."""
        self.names = DeviceNames(runtime.config.home)
        self._names: dict[str, str] = {}
        self._streams: dict[str, PhoneStream] = {}
        self.videos = PhoneVideos(self.session, runtime.clock)
        self._before_after = BeforeAfter(runtime, self._live)

    def name(self, serial: str, model: str = "") -> str:
        """What people call a phone: the name that they gave it, or its model, with a number where several are
        alike. It keeps its name.
        """
        key = canonical(serial)
        if given := self.names.get(serial):
            return given
        known = next((one for one in self.runtime.sessions.values() if canonical(one.serial) == key), None)
        what = model or (known.facts.model if known is not None else "")
        if key not in self._names and what:
            alike = sum(name == what or name.startswith(f"{what} (") for name in self._names.values())
            self._names[key] = f"{what} ({alike + 1})" if alike else what
        return self._names.get(key, serial)

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

    def watch(self, device: str, watcher: PictureWatcher) -> None:
        name = canonical(device)
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = PhoneStream(
                device, lambda: self.session(device), self.runtime.clock
            )
        stream.watch(watcher)

    def unwatch(self, device: str, watcher: PictureWatcher) -> None:
        if stream := self._streams.get(canonical(device)):
            stream.unwatch(watcher)

    def leave(self, watcher: Watcher) -> None:
        """A browser has gone."""
        for stream in self._streams.values():
            stream.unwatch(watcher)
        self.videos.leave(watcher)

    def watchers(self, device: str) -> int:
        stream = self._streams.get(canonical(device))
        return (stream.watchers if stream else 0) + self.videos.watchers(device)

    def heard(self, session: Session, event: Event) -> None:
        """One step in the life of an action, by whomever."""
        if event.terminal and event.envelope is not None and event.envelope.semantic != "observation":
            self.last[canonical(session.serial)] = event
        if stream := self._streams.get(canonical(session.serial)):
            stream.hurry(busy=not event.terminal)
        self._before_after.heard(session, event)

    def _live(self, serial: str) -> SmallPicture | None:
        stream = self._streams.get(canonical(serial))
        return stream.newest if stream else None

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.close()
        await self.videos.close()
        await self.hands.close()
        await self._before_after.close()


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
        case "watch_video":
            phones.videos.watch(frame.device, client)
        case "unwatch_video":
            phones.videos.unwatch(frame.device, client)
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
    front, display, held, line = await asyncio.gather(
        session.looks.eyes.foreground(),
        session.looks.eyes.display(),
        phones.hands.holder(session.serial),
        phones.runtime.hold_queue.line(session.serial),
    )
    last = phones.last.get(canonical(session.serial))
    return {
        "device": session.serial,
        "name": phones.name(session.serial),
        "model": session.facts.model,
        "android": session.facts.android_version,
        "platform": session.facts.platform,
        "app": front.package,
        "activity": front.activity,
        "width": display.width,
        "height": display.height,
        "holder": held.to_dict() if held else None,
        "yours": owns(caller, held),
        "here": owns(caller, held) and phones.hands.hand(session.serial, caller) is not None,
        "line": [one.to_dict() for one in line],
        "now": iso_time(phones.runtime.clock.now_ms()),
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
    if request.query_params.get("fresh") == "1" or session.looks.last is None:
        with suppress(TimeoutError):  # somebody's action is under way: what was seen last has to do
            async with asyncio.timeout(PATIENCE_S):
                await session.run(GetUiTree(), reason=REASON, caller=caller)
    return JSONResponse(tree_of(session.looks, phones.runtime.secrets.redact))


async def picture(request: Request) -> Response:
    """The screen now."""
    phones, device, _ = _asked(request)
    png = await (await phones.session(device)).looks.eyes.screenshot()
    small = await asyncio.to_thread(shrink, png)
    return Response(small.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A phone in a person's hand: the lease, and the page that took it; who has no page has no hand."""

    lease: Lease
    page: str


class ManualControl:
    """People's hands on the phones of one runtime. Browsers of one person share a hold, one has the hand."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._taken: dict[str, TakenOver] = {}
        self._touches: dict[str, Background] = {}

    async def holder(self, device: str) -> Held | None:
        return await self._runtime.leases.holder(device)

    async def take(self, device: str, person: Caller) -> None:
        """Agents wait from now on. Ends with this process, should nobody hand it back.

        Another page of the same person takes the hand over, not the hold.
        """
        name = canonical(device)
        if owns(person, await self.holder(device)):
            if known := self._taken.get(name):
                self._taken[name] = replace(known, page=person.page)
            return
        holder = Holder(person.holder_id, "person", label=person.id, door="desk", pid=os.getpid())
        self._taken[name] = TakenOver(await self._runtime.leases.take_over(device, holder), person.page)
        await self._write("taken_over", device, person)
        for session in self._sessions(device):  # who waits for a screen would keep the person waiting too
            await session.make_way(f"{person.id} took the phone over")

    async def hand_back(self, device: str, person: Caller) -> None:
        """Whoever worked on it goes on. Nothing to do where no person has it."""
        held = await self.holder(device)
        if held is not None and held.holder.kind == "person":
            await self._runtime.leases.hand_back(device)
            self._taken.pop(canonical(device), None)
            await self._write("handed_back", device, person)

    def hand(self, device: str, person: Caller) -> Lease | None:
        """What proves that this person's own hand is on the phone: they sit before the page that took it.

        A program's token, MCP and the command socket have no page, so nothing of theirs is ever a hand.
        """
        taken = self._taken.get(canonical(device))
        return taken.lease if taken is not None and person.page and person.page == taken.page else None

    async def touch(self, session: Session, action: AnyAction, person: Caller) -> None:
        """Begins at once and in order; how it ends is told like the end of every action."""
        held = await self.holder(session.serial)
        if not owns(person, held):
            raise _not_yours(session.serial, held)
        waiting = self._touches.setdefault(session.serial, Background())
        if len(waiting) >= WAITING:
            raise DeviceBusy(
                f"{session.serial} has not answered {len(waiting)} touches yet",
                hint="Wait for the phone, or stop what is being done on it.",
                device=session.serial,
            )
        reason = action.reason or BY_HAND
        hand = self.hand(session.serial, person)
        running = session.run(action, reason=reason, caller=person, settle="light", hand=hand)
        waiting.start(running, f"{action.type} by hand")

    async def stop(self, device: str, person: Caller) -> int:
        """End what is being done on this phone, by whatever process; how much was ended in this one."""
        ended = sum([await session.stop() for session in self._sessions(device)])
        runtime = self._runtime
        await Stops(runtime.store).ask(canonical(device), person.id, runtime.clock.now_ms())
        await self._write("stop", device, person)
        return ended

    async def close(self) -> None:
        for waiting in self._touches.values():
            await waiting.close()

    def _sessions(self, device: str) -> list[Session]:
        name = canonical(device)
        return [one for one in self._runtime.sessions.values() if canonical(one.serial) == name]

    async def _write(self, kind: str, device: str, by: Caller) -> None:
        actor = {"kind": by.actor, "id": by.id}
        event = {"kind": kind, "device": canonical(device), "actor": actor, "door": by.door}
        await self._runtime.journal.seal(event)


def owns(person: Caller, held: Held | None) -> bool:
    """Whether a hold is this person's own."""
    return held is not None and held.holder.kind == "person" and held.holder.id == person.holder_id


def _not_yours(serial: str, held: Held | None) -> DeviceBusy:
    who = f"is held by {held.holder}" if held is not None else "was not taken over"
    return DeviceBusy(
        f"{serial} {who}: a touch by hand needs the phone first",
        hint="Take it over, then touch it.",
        **(held.to_dict() if held is not None else {"device": serial}),
    )


def tree_of(looks: Looks, redact: Callable[[str], str]) -> dict[str, Any]:
    """What agents are told of the screen, and where it is; boxes are left, top, right, bottom in pixels."""
    seen, registry = looks.last, looks.registry
    if seen is None:
        return {"revision": None, "text": "", "width": 0, "height": 0, "refs": []}
    screen = seen.screen
    boxes = []
    for ref in dict.fromkeys(_REF.findall(registry.text)):
        node = registry.refs.get(ref)
        if node is not None:
            boxes.append(
                {
                    "ref": ref,
                    "label": redact(registry.label_of(node)),
                    "role": node.role,
                    "bounds": list(node.bounds),
                    "visible": list(visible_part(screen, node)),
                }
            )
    return {
        "revision": looks.revision_name,
        "text": redact(registry.text),
        "width": screen.width,
        "height": screen.height,
        "package": screen.package,
        "refs": boxes,
    }


ROUTES = [
    Route("/api/phone/{device}/state", state),
    Route("/api/phone/{device}/take", take, methods=["POST"]),
    Route("/api/phone/{device}/hand-back", hand_back, methods=["POST"]),
    Route("/api/phone/{device}/stop", stop, methods=["POST"]),
    Route("/api/phone/{device}/tree", tree),
    Route("/api/phone/{device}/frame.jpg", picture),
]
