"""Phones over HTTP: all of them at once, one's state and screen, a person who takes one over and uses it, and
new ones from the page: a simulated one, or a real one that is paired by a QR code.

`Phones` belongs to one server. `ManualControl` acts through the engine's own lease. The WebSocket calls
`handle_phone_input` for `PHONE_INPUT`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, Protocol

from starlette.responses import Response

from handrail.android.discovery import server_of
from handrail.android.usb import switch_on, usb_phones
from handrail.android.wireless import Invitation, RememberedPhones, pair_phone, wait_for_invited
from handrail.clock import iso_time
from handrail.config import canonical
from handrail.desk.hub import DeskClient
from handrail.device_names import DeviceNames
from handrail.engine.events import Event
from handrail.engine.session import Session
from handrail.engine.snapshot import ScreenTracker
from handrail.errors import AdbConnectionError, DeviceBusy, HandrailError, InvalidAction
from handrail.journal.query import Filter
from handrail.protocol.actions import AnyAction
from handrail.protocol.message import PhoneInput
from handrail.protocol.observe import GetUiTree
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.safety.leases import HeldLease, Holder, Lease
from handrail.screen.reach import visible_part
from handrail.simulator import simulated_phones
from handrail.surface.listing import DiscoveredDevice as ListedDevice
from handrail.waiting import Background
from handrail.web_server.journal import JournalSearch, read_journal, search_journal
from handrail.web_server.pages import qr_picture
from handrail.web_server.phone_stream import (
    ActionPictures,
    PhoneStreams,
    PictureStream,
    VideoStream,
    shrink_to_jpeg,
)
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_object

ROUTES = RouteTable()
ADDING = "Bringing a phone in"
MOST_SIMULATED = 4  # phones that pages may start; each holds some 60 MB
PAIRING_MS = 180_000.0  # for somebody to find the phone's dialog and to hold the phone to the screen
REASON = "I look at the elements, at the desk"
PATIENCE_S = 3.0  # for a look that waits for its turn
MOST_WAITING = 50  # touches of one person that may wait for their turn; more means that the phone hangs
BY_HAND = "by hand, at the desk"  # the reason in the journal, where the person gives none
NO_PHONE = "*"  # the serial of none: only a stop of every phone holds it
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A phone that a person has taken over: the lease, and the page that took it."""

    lease: Lease
    page: str


class ManualControl:
    """The phones that people have taken over. A person's pages share a lease; only the page that took it may
    touch."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._taken: dict[str, TakenOver] = {}
        self._touches: dict[str, Background] = {}

    async def holder(self, device: str) -> HeldLease | None:
        return await self._runtime.leases.holder(device)

    async def take(self, device: str, person: Caller) -> None:
        """Agents wait until it is handed back or this process ends. If the person has the phone already,
        only the right to touch it moves to their new page.
        """
        name = canonical(device)
        if is_held_by(person, await self.holder(device)):
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
        """Lets agents continue. Does nothing if no person has taken or stopped the phone."""
        held = await self.holder(device)
        if held is not None and (held.holder.kind == "person" or held.is_stopped):
            await self._runtime.hand_back(device, by=person)
            self._taken.pop(canonical(device), None)

    def touch_lease(self, device: str, person: Caller) -> Lease | None:
        """The lease that proves that this person touches the phone: they are at the page that took it.

        A program's token, MCP and the command socket have no page, so none of them ever has the lease.
        """
        taken = self._taken.get(canonical(device))
        return taken.lease if taken is not None and person.page and person.page == taken.page else None

    async def touch(self, session: Session, action: AnyAction, person: Caller) -> None:
        """Starts one touch by a person and does not wait for its end. Touches of a phone run in order."""
        serial = session.serial
        held = await self.holder(serial)
        if not is_held_by(person, held):
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
        reason, hand = action.reason or BY_HAND, self.touch_lease(serial, person)
        running = session.run(action, reason=reason, caller=person, settle="light", hand=hand)
        waiting.start(running, f"{action.type} by hand")

    async def close(self) -> None:
        for waiting in self._touches.values():
            await waiting.close()


def is_held_by(person: Caller, held: HeldLease | None) -> bool:
    return held is not None and held.is_of(person)


class RemotePhones(Protocol):
    """Phones of other hosts, which a program above this server reaches. They are named SERIAL@HOST."""

    def has(self, device: str) -> bool: ...

    async def tiles(self) -> list[dict[str, Any]]:
        """Returns what `/api/wall` lists."""

    async def picture(self, device: str) -> bytes: ...

    async def ask(
        self, device: str, what: str, person: Caller, action: AnyAction | None = None
    ) -> dict[str, Any]:
        """`state`, `take`, `hand_back`, `stop`, `tree` or `touch`; what the host answered."""


class Phones:
    """The phones of one server: names, sessions, live streams, manual control."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.control = ManualControl(runtime)
        self.remote: RemotePhones | None = None
        self.last: dict[str, Event] = {}
        """Serial → the event that ended its last action."""
        self.names = DeviceNames(runtime.config.home)
        self._model_names: dict[str, str] = {}
        self.pictures = PhoneStreams(
            lambda device: PictureStream(device, partial(self.screenshot, device), runtime.clock)
        )
        self.videos = PhoneStreams(
            lambda device: VideoStream(device, partial(self.session, device), runtime.clock)
        )
        self._before_after = ActionPictures(runtime)

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
        """The session of a phone that is open or listed. No other address is ever called."""
        if session := self._open_session(device):
            return session
        listed = (await self.runtime.devices()).devices
        for candidate in listed:
            if canonical(candidate.serial) == canonical(device):
                return await self.runtime.session(candidate.serial)
        raise AdbConnectionError(
            f"{device} is not one of the {len(listed)} phones that are known here",
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
                row |= {"model": opened.facts.model, "android": opened.facts.android}
            rows.append(row | {"name": self.name(row["serial"], row.get("model") or "")})
        return rows, list(listing.notes)

    def remote_of(self, device: str) -> RemotePhones | None:
        """Returns None for a phone of this host."""
        return self.remote if self.remote is not None and self.remote.has(device) else None

    async def screenshot(self, device: str) -> bytes:
        if remote := self.remote_of(device):
            return await remote.picture(device)
        return await (await self.session(device)).screens.reader.screenshot()

    def leave(self, watcher: DeskClient) -> None:
        """A browser has disconnected."""
        self.pictures.leave(watcher)
        self.videos.leave(watcher)

    def watcher_count(self, device: str) -> int:
        return self.pictures.watcher_count(device) + self.videos.watcher_count(device)

    def on_event(self, session: Session, event: Event) -> None:
        """Called for each step in the life of an action, of any caller."""
        if event.terminal and event.envelope is not None and event.envelope.semantic != "observation":
            self.last[canonical(session.serial)] = event
        stream = self.pictures.get(session.serial)
        if stream is not None:
            stream.look_sooner(busy=not event.terminal)
        self._before_after.on_event(session, event, stream.newest if stream else None)

    async def close(self) -> None:
        await self.pictures.close()
        await self.videos.close()
        await self.control.close()
        await self._before_after.close()


async def handle_phone_input(phones: Phones, client: DeskClient, frame: PhoneInput, person: Caller) -> None:
    """Does what a person's browser asks for. Raises `HandrailError`."""
    remote = phones.remote_of(frame.device)
    if remote is not None and (frame.control in ("take", "hand_back") or frame.action is not None):
        await remote.ask(frame.device, frame.control or "touch", person, frame.action)
        return
    match frame.control:
        case "watch":
            phones.pictures.watch(frame.device, client)
        case "unwatch":
            phones.pictures.unwatch(frame.device, client)
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


PhoneHandler = Callable[[DeskRequest, Phones, str], Awaitable[JSON]]


def phone_route(order: str, *methods: str, person: str = "") -> Callable[[PhoneHandler], PhoneHandler]:
    """A route of one phone. A phone of another host is asked for `order` there."""

    def add(handler: PhoneHandler) -> PhoneHandler:
        @ROUTES(f"/api/phone/{{device:path}}/{order.replace('_', '-')}", *methods, person=person)
        @wraps(handler)
        async def route(request: DeskRequest) -> JSON:
            phones, device = request.context.phones, request.path_params["device"]
            if remote := phones.remote_of(device):
                return await remote.ask(device, order, request.visitor.caller())
            return await handler(request, phones, device)

        return handler

    return add


@phone_route("state")
async def show_state(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Who has the phone, which app is in front, what was done last."""
    return await phone_state(phones, device, request.visitor.caller())


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
        "android": session.facts.android,
        "platform": session.facts.platform,
        "app": front.package,
        "activity": front.activity,
        "width": display.width,
        "height": display.height,
        "holder": held.to_dict() if held else None,
        "yours": is_held_by(caller, held),
        "here": is_held_by(caller, held) and phones.control.touch_lease(session.serial, caller) is not None,
        "line": [waiting.to_dict() for waiting in line],
        "now": iso_time(phones.runtime.clock.now_ms()),
        "watchers": phones.watcher_count(device),
        "last": last.to_dict() if last else None,
    }


@phone_route("take", "POST", person="Taking a phone over")
async def take(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Take the phone over for the person who asks."""
    caller = request.visitor.caller()
    await phones.control.take((await phones.session(device)).serial, caller)
    return await phone_state(phones, device, caller)


@phone_route("hand_back", "POST", person="Handing a phone back")
async def hand_back(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Give the phone back to whoever worked on it."""
    caller = request.visitor.caller()
    await phones.control.hand_back(device, caller)
    return await phone_state(phones, device, caller)


@phone_route("stop", "POST")
async def stop(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Stop every action that runs on this phone."""
    return {"stopped": await phones.runtime.stop(device, by=request.visitor.caller())}


@ROUTES("/api/stops")
async def list_stops(request: DeskRequest) -> JSON:
    """Phones that somebody stopped and nobody has handed back; `all` where every phone is stopped."""
    runtime, name_of = request.runtime, request.context.phones.name
    held = [lease for lease in await runtime.leases.all(runtime.sessions) if lease.is_stopped]
    rows = []
    for lease in held:
        holder = str(lease.holder.label or lease.holder.id)
        rows.append({"device": lease.device, "name": name_of(lease.device), "by": holder})
    return {"phones": rows, "all": await runtime.leases.holder(NO_PHONE) is not None}


@ROUTES("/api/hand-back", "POST", person="Handing phones back")
async def hand_back_all(request: DeskRequest) -> JSON:
    """Give back every phone that was stopped, by whomever."""
    await request.runtime.hand_back(by=request.visitor.caller())
    return await list_stops(request)


@phone_route("tree")
async def show_tree(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """The compact text and the box of every ref in it; `fresh=1` looks again."""
    session = await phones.session(device)
    is_fresh = request.query_params.get("fresh") == "1" or session.screens.last is None
    return await phone_tree(phones, session, request.visitor.caller(), is_fresh=is_fresh)


async def look(session: Session, caller: Caller) -> None:
    """Reads the screen; while an action runs, the last screen has to do."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            await session.run(GetUiTree(), reason=REASON, caller=caller)


async def phone_tree(phones: Phones, session: Session, caller: Caller, *, is_fresh: bool) -> dict[str, Any]:
    """The screen of a phone of this host. While an action runs, the last screen has to do."""
    if is_fresh:
        await look(session, caller)
    return screen_tree(session.screens, phones.runtime.secrets.redact)


@ROUTES("/api/phone/{device:path}/frame.jpg")
async def show_picture(request: DeskRequest) -> Response:
    """The screen now."""
    png = await request.context.phones.screenshot(request.path_params["device"])
    small = await asyncio.to_thread(shrink_to_jpeg, png)
    return Response(small.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


def screen_tree(screens: ScreenTracker, redact: Callable[[str], str]) -> dict[str, Any]:
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


@ROUTES("/api/devices")
async def devices(request: DeskRequest) -> JSON:
    """Phones of the adb server, addresses that are known, and those that are open here."""
    rows, notes = await request.context.phones.listing()
    return {"devices": rows, "notes": notes}


@ROUTES("/api/wall")
async def all_phones(request: DeskRequest) -> JSON:
    """Every phone that can be used, with its name, its holder, and the last thing that was done on it."""
    phones = request.context.phones
    rows, _ = await phones.listing()
    usable = [
        row for row in rows if row.get("usable") is not False and row.get("state", "device") == "device"
    ]
    opened = {canonical(serial): serial for serial in phones.runtime.sessions}
    # The journal has the serial of the session.
    serials = [opened.get(canonical(row["serial"]), str(row["serial"])) for row in usable]

    def last_action(db: sqlite3.Connection, serial: str) -> JSON | None:
        """The last action that touched the phone; reads do not count."""
        page = search_journal(db, JournalSearch(limit=1, columns=Filter(device=serial), touches_only=True))
        return page.rows[0].to_dict() | {"about": page.rows[0].about} if page.rows else None

    last = await read_journal(phones.runtime, lambda db: [last_action(db, serial) for serial in serials])
    tiles = [
        row | {"device": serial, "given": phones.names.get(serial), "last": action}
        for row, serial, action in zip(usable, serials, last, strict=True)
    ]
    if phones.remote is not None:
        tiles += await phones.remote.tiles()
    return {"phones": sorted(tiles, key=lambda tile: str(tile["name"]).casefold())}


@ROUTES("/api/phone/{device:path}/name", "POST", person="Naming a phone")
async def name_phone(request: DeskRequest) -> JSON:
    """Give this phone a name for people; an empty name takes it away."""
    name = (await json_object(request)).get("name")
    if not isinstance(name, str):
        raise InvalidAction.at("name", "should be a text")
    phones = request.context.phones
    session = await phones.session(request.path_params["device"])
    phones.names.give(session.serial, name)
    return {"device": session.serial, "name": phones.name(session.serial)}


@dataclass(slots=True)
class PhonePairing:
    """One QR code on a page, and how far its pairing is."""

    invitation: Invitation
    picture: str
    state: str = "waiting"
    """waiting, paired, ready or failed"""
    say: str = "Waiting for a phone to read the code."
    hint: str = ""
    device: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"state": self.state, "say": self.say, "hint": self.hint, "device": self.device}


class AddedPhones:
    """Phones that people add from a page of one server. They end with it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulated = 0
        self._simulators = Background()
        self._pairing_tasks = Background()
        self.pairing: PhonePairing | None = None

    async def start_simulated(self) -> str:
        if self._simulated >= MOST_SIMULATED:
            raise InvalidAction(
                f"The page starts at most {MOST_SIMULATED} simulated phones",
                path="",
                hint="`handrail serve --sim N` starts more.",
            )
        self._simulated += 1
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._simulators.start(self._simulate(self._simulated, ready), "a simulated phone")
        try:
            address = await ready
            await self._runtime.session(address)
        except BaseException:
            self._simulated -= 1
            raise
        return address

    async def _simulate(self, number: int, ready: asyncio.Future[str]) -> None:
        """Opened and closed in one task, which owns everything that the phone holds."""
        config = self._runtime.config
        phones = simulated_phones(
            1,
            clock=self._runtime.clock,
            seed=config.sim_seed + number - 1,
            apps=config.sim_apps,
            serial=f"handrail-sim-desk-{number}",
        )
        try:
            async with phones as [phone]:
                ready.set_result(phone.address)
                await asyncio.Event().wait()
        except HandrailError as error:
            if ready.done():
                raise
            ready.set_exception(error)

    async def new_invitation(self) -> PhonePairing:
        """Makes a new QR code; the one before is no longer valid."""
        await self._pairing_tasks.close()
        await server_of(self._runtime.config, self._runtime.clock, self._runtime.env).start()
        invitation = Invitation.new()
        picture = await asyncio.to_thread(qr_picture, invitation.text)
        pairing = self.pairing = PhonePairing(invitation, picture)
        self._pairing_tasks.start(self._pair(pairing), "pairing by a QR code")
        return pairing

    async def _pair(self, pairing: PhonePairing) -> None:
        runtime, invitation = self._runtime, pairing.invitation
        server = server_of(runtime.config, runtime.clock, runtime.env)

        def on_paired(guid: str) -> None:
            pairing.state, pairing.say = "paired", f"Paired with {guid}. Connecting…"

        try:
            phone = await wait_for_invited(invitation, runtime.clock, PAIRING_MS)
            serial = await pair_phone(
                phone.address, invitation.password, server, RememberedPhones(runtime.config.home),
                runtime.clock,
                report=on_paired,
            )  # fmt: skip
            session = await runtime.session(serial)
        except HandrailError as error:
            pairing.state, pairing.say, pairing.hint = "failed", error.message, error.hint or ""
        else:
            pairing.state, pairing.device = "ready", session.serial
            pairing.say = f"{session.facts.model} is here."

    async def close(self) -> None:
        await self._pairing_tasks.close()
        await self._simulators.close()


@ROUTES("/api/phones/simulated", "POST", person=ADDING)
async def add_simulated_phone(request: DeskRequest) -> JSON:
    """Start a simulated phone; it ends with the server."""
    return {"device": await request.context.added_phones.start_simulated()}


@ROUTES("/api/phones/pairing", "POST", person=ADDING)
async def start_pairing(request: DeskRequest) -> JSON:
    """A QR code that a phone with wireless debugging reads to be paired."""
    started = await request.context.added_phones.new_invitation()
    return {**started.to_dict(), "picture": started.picture, "seconds": PAIRING_MS / 1000}


@ROUTES("/api/phones/pairing", person=ADDING)
async def show_pairing(request: DeskRequest) -> JSON:
    """How far the pairing by the QR code is."""
    current = request.context.added_phones.pairing
    return current.to_dict() if current else {"state": "none"}


@ROUTES("/api/phones/cable", person=ADDING)
async def show_cable_steps(_: DeskRequest) -> JSON:
    """What to do on a phone with a cable, and which phones this machine sees on one."""
    phones = await asyncio.to_thread(usb_phones) if sys.platform == "linux" else None
    rows = [
        {"name": phone.name, "debugging": phone.debugging, "steps": switch_on(phone.vendor)}
        for phone in phones or ()
    ]
    return {"steps": switch_on(), "phones": rows}
