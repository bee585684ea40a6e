"""Phones over HTTP: all of them at once, one's state and screen, and a person who takes one over and uses it.

`Phones` belongs to one server. `ManualControl` acts through the engine's own lease. `handle` is what the
WebSocket does with `PHONE_INPUT`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.android.discovery import DiscoveredDevice as ListedDevice
from handrail.clock import iso_time
from handrail.config import canonical
from handrail.device_names import DeviceNames
from handrail.engine.events import Event
from handrail.engine.session import Session
from handrail.engine.snapshot import ScreenTracker
from handrail.errors import AdbConnectionError, DeviceBusy, InvalidAction
from handrail.journal.query import Filter
from handrail.protocol.actions import AnyAction
from handrail.protocol.message import PhoneInput
from handrail.protocol.observe import GetUiTree
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.safety.leases import HeldLease, Holder, Lease
from handrail.screen.select import visible_part
from handrail.waiting import Background
from handrail.web_server.journal import JournalSearch, read_journal, search
from handrail.web_server.phone_stream import (
    BeforeAfter,
    PhoneStream,
    PhoneVideos,
    PictureWatcher,
    SmallPicture,
    VideoWatcher,
    shrink,
)
from handrail.web_server.responses import json_object

REASON = "I look at the elements, at the desk"
PATIENCE_S = 3.0
"""For a look that waits for its turn."""
MOST_WAITING = 50
"""Touches of one person that may wait for their turn; more means that the phone hangs."""
BY_HAND = "by hand, at the desk"
"""The reason in the journal, where the person gives none."""
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A phone that a person has taken over: the lease, and the page that took it."""

    lease: Lease
    page: str


class ManualControl:
    """People's leases of phones. A person's browsers share a lease; only the page that took it may touch."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._taken: dict[str, TakenOver] = {}
        self._touches: dict[str, Background] = {}

    async def holder(self, device: str) -> HeldLease | None:
        return await self._runtime.leases.holder(device)

    async def take(self, device: str, person: Caller) -> None:
        """Agents wait from now on, until it is handed back or this process ends.

        Another page of the same person takes the touches over, not the lease.
        """
        name = canonical(device)
        if owns(person, await self.holder(device)):
            if taken := self._taken.get(name):
                self._taken[name] = replace(taken, page=person.page)
            return
        holder = Holder(person.holder_id, "person", label=person.id, door="desk", pid=os.getpid())
        self._taken[name] = TakenOver(await self._runtime.leases.take_over(device, holder), person.page)
        actor = {"kind": person.actor, "id": person.id}
        event = {"kind": "taken_over", "device": name, "actor": actor, "door": person.door}
        await self._runtime.journal.seal(event)
        for session in self._runtime.sessions.values():
            if canonical(session.serial) == name:  # an action that waits for a screen would block the person
                await session.stop_active_actions(f"{person.id} took the phone over")

    async def hand_back(self, device: str, person: Caller) -> None:
        """Agents go on. Does nothing where no person has taken or stopped the phone."""
        held = await self.holder(device)
        if held is not None and (held.holder.kind == "person" or held.is_stopped):
            await self._runtime.hand_back(device, by=person)
            self._taken.pop(canonical(device), None)

    def hand(self, device: str, person: Caller) -> Lease | None:
        """The lease that proves that this person touches the phone: they are at the page that took it.

        A program's token, MCP and the command socket have no page, so none of them ever has the lease.
        """
        taken = self._taken.get(canonical(device))
        return taken.lease if taken is not None and person.page and person.page == taken.page else None

    async def touch(self, session: Session, action: AnyAction, person: Caller) -> None:
        """Begins at once and in order; its end is published like that of every action."""
        serial = session.serial
        held = await self.holder(serial)
        if not owns(person, held):
            who = f"is held by {held.holder}" if held is not None else "was not taken over"
            raise DeviceBusy(
                f"{serial} {who}: a touch by hand needs the phone first",
                hint="Take it over, then touch it.",
                **(held.to_dict() if held is not None else {"device": serial}),
            )
        waiting = self._touches.setdefault(serial, Background())
        if len(waiting) >= MOST_WAITING:
            raise DeviceBusy(
                f"{serial} has not answered {len(waiting)} touches yet",
                hint="Wait for the phone, or stop what is being done on it.",
                device=serial,
            )
        reason, hand = action.reason or BY_HAND, self.hand(serial, person)
        running = session.run(action, reason=reason, caller=person, settle="light", hand=hand)
        waiting.start(running, f"{action.type} by hand")

    async def stop(self, device: str, person: Caller) -> int:
        """Ends actions on this phone, of whatever process, and holds it; returns how many there were."""
        return await self._runtime.stop(device, by=person)

    async def close(self) -> None:
        for waiting in self._touches.values():
            await waiting.close()


def owns(person: Caller, held: HeldLease | None) -> bool:
    return held is not None and held.is_of(person)


class Watcher(PictureWatcher, VideoWatcher, Protocol):
    """A browser."""


class RemotePhones(Protocol):
    """Phones of other hosts, which a program above this server reaches. They are named SERIAL@HOST."""

    def has(self, device: str) -> bool: ...

    async def tiles(self) -> list[dict[str, Any]]:
        """As `/api/wall` lists them."""

    async def picture(self, device: str) -> bytes: ...

    async def ask(
        self, device: str, what: str, person: Caller, action: AnyAction | None = None
    ) -> dict[str, Any]:
        """`state`, `take`, `hand_back`, `stop`, `tree` or `touch`; what the host answered."""


@dataclass(frozen=True, slots=True)
class _RemoteScreen:
    """Stands for the session of a remote phone: a stream only needs `screens.reader.screenshot()`."""

    remote: RemotePhones
    device: str

    @property
    def screens(self) -> _RemoteScreen:
        return self

    @property
    def reader(self) -> _RemoteScreen:
        return self

    async def screenshot(self) -> bytes:
        return await self.remote.picture(self.device)


class Phones:
    """The phones of one server: names, sessions, live streams, manual control."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.control = ManualControl(runtime)
        self.remote: RemotePhones | None = None
        self.last: dict[str, Event] = {}
        """By serial: the end of the last action."""
        self.names = DeviceNames(runtime.config.home)
        self._model_names: dict[str, str] = {}
        self._streams: dict[str, PhoneStream] = {}
        self.videos = PhoneVideos(self.session, runtime.clock)
        self._before_after = BeforeAfter(runtime, self._live_picture)

    def name(self, serial: str, model: str = "") -> str:
        """The name that people gave it, or its model, with a number where several are alike. It never changes
        by itself."""
        if own_name := self.names.get(serial):
            return own_name
        key = canonical(serial)
        if not model and (session := self._open_session(serial)) is not None:
            model = session.facts.model
        names = self._model_names
        if key not in names and model:
            alike = sum(name == model or name.startswith(f"{model} (") for name in names.values())
            names[key] = f"{model} ({alike + 1})" if alike else model
        return names.get(key, serial)

    def _open_session(self, device: str) -> Session | None:
        name = canonical(device)
        sessions = self.runtime.sessions.values()
        return next((session for session in sessions if canonical(session.serial) == name), None)

    async def session(self, device: str) -> Session:
        """Of a phone that is open or listed; a name from a browser never makes us call a stranger."""
        if session := self._open_session(device):
            return session
        listed = (await self.runtime.devices()).devices
        for candidate in listed:
            if canonical(candidate.serial) == canonical(device):
                return await self.runtime.session(candidate.serial)
        raise AdbConnectionError(
            f"{device} is none of the {len(listed)} phones that are known here",
            hint="Connect it, or name its address in HANDRAIL_DEVICES, and look again.",
        )

    async def listing(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Every phone with its name and its holder, and notes on why there may be more."""
        runtime = self.runtime
        listing = await runtime.devices()
        sessions = {canonical(serial): session for serial, session in runtime.sessions.items()}
        devices = {canonical(device.serial): device for device in listing.devices}
        for key, session in sessions.items():
            devices.setdefault(key, ListedDevice(session.serial, via="direct"))
        leases = {held.device: held for held in await runtime.leases.all(devices)}
        rows = []
        for key, device in devices.items():
            opened, held = sessions.get(key), leases.get(key)
            row = device.to_dict() | {"open": opened is not None, "held": held.to_dict() if held else None}
            if opened is not None:
                row |= {"model": opened.facts.model, "android": opened.facts.android_version}
            rows.append(row | {"name": self.name(row["serial"], row.get("model") or "")})
        return rows, list(listing.notes)

    def watch(self, device: str, watcher: PictureWatcher) -> None:
        async def screen() -> Session | _RemoteScreen:
            remote = self.remote_of(device)
            return _RemoteScreen(remote, device) if remote is not None else await self.session(device)

        key = canonical(device)
        if key not in self._streams:
            self._streams[key] = PhoneStream(device, screen, self.runtime.clock)
        self._streams[key].watch(watcher)

    def remote_of(self, device: str) -> RemotePhones | None:
        """None for a phone of this host."""
        return self.remote if self.remote is not None and self.remote.has(device) else None

    def unwatch(self, device: str, watcher: PictureWatcher) -> None:
        if stream := self._streams.get(canonical(device)):
            stream.unwatch(watcher)

    def leave(self, watcher: Watcher) -> None:
        """A browser has disconnected."""
        for stream in self._streams.values():
            stream.unwatch(watcher)
        self.videos.leave(watcher)

    def watchers(self, device: str) -> int:
        stream = self._streams.get(canonical(device))
        return (stream.watchers if stream else 0) + self.videos.watchers(device)

    def on_event(self, session: Session, event: Event) -> None:
        """Called for each step in the life of an action, of any caller."""
        if event.terminal and event.envelope is not None and event.envelope.semantic != "observation":
            self.last[canonical(session.serial)] = event
        if stream := self._streams.get(canonical(session.serial)):
            stream.hurry(busy=not event.terminal)
        self._before_after.on_event(session, event)

    def _live_picture(self, serial: str) -> SmallPicture | None:
        stream = self._streams.get(canonical(serial))
        return stream.newest if stream else None

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.close()
        await self.videos.close()
        await self.control.close()
        await self._before_after.close()


class HasPhones(Protocol):
    """What `handle` needs of the server."""

    @property
    def phones(self) -> Phones: ...


async def handle(context: HasPhones, client: Watcher, frame: PhoneInput, person: Caller) -> None:
    """Does what a person's browser asks for. Raises `HandrailError`."""
    phones = context.phones
    remote = phones.remote_of(frame.device)
    if remote is not None and (frame.control in ("take", "hand_back") or frame.action is not None):
        await remote.ask(frame.device, frame.control or "touch", person, frame.action)
        return
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
            await phones.control.take((await phones.session(frame.device)).serial, person)
        case "hand_back":
            await phones.control.hand_back(frame.device, person)
    if frame.action is not None:
        await phones.control.touch(await phones.session(frame.device), frame.action, person)


def _request_parts(request: Request) -> tuple[Phones, str, Caller]:
    context, visitor = request.app.state.context, request.state.visitor
    return context.phones, request.path_params["device"], visitor.caller()


async def state(request: Request) -> JSONResponse:
    """Who has the phone, which app is in front, what was done last."""
    phones, device, caller = _request_parts(request)
    if remote := phones.remote_of(device):
        return JSONResponse(await remote.ask(device, "state", caller))
    return JSONResponse(await phone_state(phones, device, caller))


async def phone_state(phones: Phones, device: str, caller: Caller) -> dict[str, Any]:
    session = await phones.session(device)
    front, display, held, line = await asyncio.gather(
        session.screens.reader.foreground(),
        session.screens.reader.display(),
        phones.control.holder(session.serial),
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
        "here": owns(caller, held) and phones.control.hand(session.serial, caller) is not None,
        "line": [waiting.to_dict() for waiting in line],
        "now": iso_time(phones.runtime.clock.now_ms()),
        "watchers": phones.watchers(device),
        "last": last.to_dict() if last else None,
    }


async def take(request: Request) -> JSONResponse:
    """Take the phone over for the person who asks."""
    phones, device, caller = _request_parts(request)
    request.state.visitor.must_be_person("Taking a phone over")
    if remote := phones.remote_of(device):
        return JSONResponse(await remote.ask(device, "take", caller))
    await phones.control.take((await phones.session(device)).serial, caller)
    return JSONResponse(await phone_state(phones, device, caller))


async def hand_back(request: Request) -> JSONResponse:
    """Give the phone back to whoever worked on it."""
    phones, device, caller = _request_parts(request)
    request.state.visitor.must_be_person("Handing a phone back")
    if remote := phones.remote_of(device):
        return JSONResponse(await remote.ask(device, "hand_back", caller))
    await phones.control.hand_back(device, caller)
    return JSONResponse(await phone_state(phones, device, caller))


async def stop(request: Request) -> JSONResponse:
    """Stop every action that runs on this phone."""
    phones, device, caller = _request_parts(request)
    if remote := phones.remote_of(device):
        return JSONResponse(await remote.ask(device, "stop", caller))
    return JSONResponse({"stopped": await phones.control.stop(device, caller)})


async def tree(request: Request) -> JSONResponse:
    """The compact text and the box of every ref in it; `fresh=1` looks again."""
    phones, device, caller = _request_parts(request)
    if remote := phones.remote_of(device):
        return JSONResponse(await remote.ask(device, "tree", caller))
    session = await phones.session(device)
    is_fresh = request.query_params.get("fresh") == "1" or session.screens.last is None
    return JSONResponse(await phone_tree(phones, session, caller, is_fresh=is_fresh))


async def phone_tree(phones: Phones, session: Session, caller: Caller, *, is_fresh: bool) -> dict[str, Any]:
    """The screen of a phone of this host. While an action runs, the last screen has to do."""
    if is_fresh:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await session.run(GetUiTree(), reason=REASON, caller=caller)
    return tree_of(session.screens, phones.runtime.secrets.redact)


async def picture(request: Request) -> Response:
    """The screen now."""
    phones, device, _ = _request_parts(request)
    remote = phones.remote_of(device)
    png = await (
        remote.picture(device) if remote else (await phones.session(device)).screens.reader.screenshot()
    )
    small = await asyncio.to_thread(shrink, png)
    return Response(small.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


def tree_of(screens: ScreenTracker, redact: Callable[[str], str]) -> dict[str, Any]:
    """The text that agents read, and where each ref is: left, top, right, bottom in pixels."""
    last, registry = screens.last, screens.registry
    if last is None:
        return {"revision": None, "text": "", "width": 0, "height": 0, "refs": []}
    screen = last.screen
    refs = dict.fromkeys(_REF.findall(registry.text))
    nodes = {ref: node for ref in refs if (node := registry.refs.get(ref)) is not None}
    boxes = [
        {
            "ref": ref,
            "label": redact(registry.label_of(node)),
            "role": node.role,
            "bounds": list(node.bounds),
            "visible": list(visible_part(screen, node)),
        }
        for ref, node in nodes.items()
    ]
    return {
        "revision": screens.revision_name,
        "text": redact(registry.text),
        "width": screen.width,
        "height": screen.height,
        "package": screen.package,
        "refs": boxes,
    }


async def devices(request: Request) -> JSONResponse:
    """Phones of the adb server, addresses that are known, and those that are open here."""
    rows, notes = await request.app.state.context.phones.listing()
    return JSONResponse({"devices": rows, "notes": notes})


async def all_phones(request: Request) -> JSONResponse:
    """Every phone that can be used, with its name, its holder, and the last thing that was done on it."""
    phones: Phones = request.app.state.context.phones
    rows, _ = await phones.listing()
    usable = [
        row for row in rows if row.get("usable") is not False and row.get("state", "device") == "device"
    ]
    opened = {canonical(serial): serial for serial in phones.runtime.sessions}
    # The journal has the serial of the session.
    serials = [opened.get(canonical(row["serial"]), str(row["serial"])) for row in usable]
    last = await read_journal(phones.runtime, lambda db: [_last_action(db, serial) for serial in serials])
    tiles = [
        row | {"device": serial, "given": phones.names.get(serial), "last": action}
        for row, serial, action in zip(usable, serials, last, strict=True)
    ]
    if phones.remote is not None:
        tiles += await phones.remote.tiles()
    return JSONResponse({"phones": sorted(tiles, key=lambda tile: str(tile["name"]).casefold())})


def _last_action(db: sqlite3.Connection, serial: str) -> dict[str, Any] | None:
    """The last action that touched the phone; reads do not count."""
    page = search(db, JournalSearch(limit=1, columns=Filter(device=serial), touches_only=True))
    return page.rows[0].to_dict() | {"about": page.rows[0].about} if page.rows else None


async def rename(request: Request) -> JSONResponse:
    """Give this phone a name for people; an empty name takes it away."""
    request.state.visitor.must_be_person("Naming a phone")
    name = (await json_object(request)).get("name")
    if not isinstance(name, str):
        raise InvalidAction("name: should be a text", path="name")
    phones, device, _ = _request_parts(request)
    session = await phones.session(device)
    phones.names.give(session.serial, name)
    return JSONResponse({"device": session.serial, "name": phones.name(session.serial)})


ROUTES = [
    Route("/api/devices", devices),
    Route("/api/wall", all_phones),
    Route("/api/phone/{device}/state", state),
    Route("/api/phone/{device}/take", take, methods=["POST"]),
    Route("/api/phone/{device}/hand-back", hand_back, methods=["POST"]),
    Route("/api/phone/{device}/stop", stop, methods=["POST"]),
    Route("/api/phone/{device}/tree", tree),
    Route("/api/phone/{device}/frame.jpg", picture),
    Route("/api/phone/{device}/name", rename, methods=["POST"]),
]
