"""The phone at the HTTP door: its state, the tree behind its picture, and a person who takes and uses it.

`Phones` belongs to one server. `ManualControl` acts by the engine's own hold. `handle` is what the WebSocket
does with `PHONE_INPUT`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.clock import iso_time
from handrail.config import canonical
from handrail.device_names import DeviceNames
from handrail.engine.events import Caller, Event
from handrail.engine.look.looks import Looks
from handrail.engine.session import Session
from handrail.errors import AdbConnectionError
from handrail.http.manual_control import ManualControl, owns
from handrail.http.phone_pictures import BeforeAfter, PhoneStream, PictureWatcher, SmallPicture, shrink
from handrail.http.phone_video import PhoneVideos, VideoWatcher
from handrail.protocol.actions import AnyAction
from handrail.protocol.message import PhoneInput
from handrail.protocol.observe import GetUiTree
from handrail.runtime import Runtime
from handrail.tree.reach import visible_part

REASON = "I look at the elements, at the desk"
PATIENCE_S = 3.0
"""For a look that waits for its turn."""
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.MULTILINE)


class Watcher(PictureWatcher, VideoWatcher, Protocol):
    """A browser."""


class RemotePhones(Protocol):
    """Phones of other hosts, which somebody above this door reaches. They are named SERIAL@HOST."""

    def has(self, device: str) -> bool: ...

    async def tiles(self) -> list[dict[str, Any]]:
        """As the wall shows them."""

    async def picture(self, device: str) -> bytes: ...

    async def ask(
        self, device: str, what: str, person: Caller, action: AnyAction | None = None
    ) -> dict[str, Any]:
        """`state`, `take`, `hand_back`, `stop`, `tree` or `touch`; what the host told."""


@dataclass(frozen=True, slots=True)
class _FarEyes:
    """What a stream of pictures needs of a session, for a phone that has its session elsewhere."""

    remote: RemotePhones
    device: str

    @property
    def looks(self) -> _FarEyes:
        return self

    @property
    def eyes(self) -> _FarEyes:
        return self

    async def screenshot(self) -> bytes:
        return await self.remote.picture(self.device)


class Phones:
    """Everything that the desk shows and does of phones."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.hands = ManualControl(runtime)
        self.remote: RemotePhones | None = None
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
            stream = self._streams[name] = PhoneStream(device, lambda: self._eyes(device), self.runtime.clock)
        stream.watch(watcher)

    async def _eyes(self, device: str) -> Session | _FarEyes:
        far = self.far(device)
        return _FarEyes(far, device) if far is not None else await self.session(device)

    def far(self, device: str) -> RemotePhones | None:
        """Who reaches this phone, where it is another host's."""
        return self.remote if self.remote is not None and self.remote.has(device) else None

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
    far = phones.far(frame.device)
    if far is not None and (frame.control in ("take", "hand_back") or frame.action is not None):
        await far.ask(frame.device, frame.control or "touch", person, frame.action)
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
    if far := phones.far(device):
        return JSONResponse(await far.ask(device, "state", caller))
    return JSONResponse(await phone_state(phones, device, caller))


async def phone_state(phones: Phones, device: str, caller: Caller) -> dict[str, Any]:
    """Of one phone here."""
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
    if far := phones.far(device):
        return JSONResponse(await far.ask(device, "take", caller))
    await phones.hands.take((await phones.session(device)).serial, caller)
    return JSONResponse(await phone_state(phones, device, caller))


async def hand_back(request: Request) -> JSONResponse:
    """The phone for whoever worked on it."""
    phones, device, caller = _asked(request)
    request.state.visitor.must_be_person("Handing a phone back")
    if far := phones.far(device):
        return JSONResponse(await far.ask(device, "hand_back", caller))
    await phones.hands.hand_back(device, caller)
    return JSONResponse(await phone_state(phones, device, caller))


async def stop(request: Request) -> JSONResponse:
    """End everything that is being done on this phone."""
    phones, device, caller = _asked(request)
    if far := phones.far(device):
        return JSONResponse(await far.ask(device, "stop", caller))
    return JSONResponse({"stopped": await phones.hands.stop(device, caller)})


async def tree(request: Request) -> JSONResponse:
    """The compact text and the box of every ref in it; `fresh=1` looks again."""
    phones, device, caller = _asked(request)
    if far := phones.far(device):
        return JSONResponse(await far.ask(device, "tree", caller))
    session = await phones.session(device)
    is_fresh = request.query_params.get("fresh") == "1" or session.looks.last is None
    return JSONResponse(await phone_tree(phones, session, caller, is_fresh=is_fresh))


async def phone_tree(phones: Phones, session: Session, caller: Caller, *, is_fresh: bool) -> dict[str, Any]:
    """What agents are told of the screen of a phone here."""
    if is_fresh:
        with suppress(TimeoutError):  # somebody's action is under way: what was seen last has to do
            async with asyncio.timeout(PATIENCE_S):
                await session.run(GetUiTree(), reason=REASON, caller=caller)
    return tree_of(session.looks, phones.runtime.secrets.redact)


async def picture(request: Request) -> Response:
    """The screen now."""
    phones, device, _ = _asked(request)
    far = phones.far(device)
    png = await (far.picture(device) if far else (await phones.session(device)).looks.eyes.screenshot())
    small = await asyncio.to_thread(shrink, png)
    return Response(small.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


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
