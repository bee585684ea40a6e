"""WebDriverAgent's server: one session, one queue for all requests, its settings, its words for errors.

The commands are in `commands`; a path that none of them has is an unknown command.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeVar
from uuid import UUID

from handrail_sim.channels.http import Hangup, Request, Response
from handrail_sim.iphone import tree
from handrail_sim.iphone.phone import SCALE, SPRINGBOARD, IPhone
from handrail_sim.iphone.replay import Recorded
from handrail_sim.iphone.source import cut
from handrail_sim.iphone.tree import Element
from handrail_sim.resources import table

log = logging.getLogger(__name__)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
DEEPEST = 60
"""Levels below which XCTest fails to take a snapshot at all."""
IDLE_POLL_MS = 50.0
_TABLE = table("iphone/wda.toml")
STATUSES: Mapping[str, int] = _TABLE["statuses"]
MESSAGES: Mapping[str, str] = _TABLE["messages"]
SETTINGS: Mapping[str, Any] = _TABLE["settings"]


class Refused(Exception):
    """An error of the WebDriver protocol."""

    def __init__(self, error: str, message: str = "") -> None:
        super().__init__(message or MESSAGES.get(error, ""))
        self.error = error


def refusal(name: str, *values: object) -> Refused:
    """One of the table's, with what its words are about."""
    error, words = _TABLE["refusals"][name]
    return Refused(error, words.format(*values))


@dataclass(slots=True)
class Session:
    """What one client asked for; it ends when it is deleted, or when another one begins."""

    id: str
    tested: str = ""
    """The app that it was made with; SpringBoard's alerts are not in that app's tree."""
    expected_to_run: bool = False
    elements: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Call:
    """One request for a command."""

    server: Wda
    body: dict[str, Any]
    query: dict[str, str]
    names: dict[str, str]

    @property
    def phone(self) -> IPhone:
        return self.server.phone

    @property
    def session(self) -> Session:
        if self.server.session is None:
            raise Refused("invalid session id", "Session does not exist")
        return self.server.session

    def element(self) -> Element:
        return self.server.element(self.names["uuid"])

    def number(self, name: str, default: float = 0.0) -> float:
        """As NSNumber's doubleValue: what is no number counts as 0."""
        try:
            return float(self.body.get(name, default))
        except (TypeError, ValueError):
            return 0.0

    def text(self, name: str, missing: str = "") -> str:
        value = self.body.get(name)
        if not isinstance(value, str):
            raise Refused("invalid argument", missing or f"'{name}' must be a string")
        return value


Command = Callable[[Call], Awaitable[Any] | Any]
CommandT = TypeVar("CommandT", bound=Command)
ROUTES: dict[tuple[str, str], Command] = {}
"""By method and path as WDA declares it."""
SESSION = "/session/:id"


def route(*requests: str, session: bool = True, bare: bool = False) -> Callable[[CommandT], CommandT]:
    """Register a command below a session's path, without one (`bare`), or both."""

    def register(run: CommandT) -> CommandT:
        for request in requests:
            method, _, path = request.partition(" ")
            if session:
                ROUTES[method, SESSION + path] = run
            if bare:
                ROUTES[method, path] = run
        return run

    return register


def routes(table: Mapping[str, Command], *, session: bool = True, bare: bool = False) -> None:
    """Register the short ones."""
    for request, run in table.items():
        route(request, session=session, bare=bare)(run)


def always_refuses(name: str) -> Command:
    """A command that this phone cannot do."""

    def run(_: Call) -> None:
        raise refusal(name)

    return run


def match(method: str, path: str) -> tuple[Command, dict[str, str]] | None:
    """A command and the names in its path; a slash at the end does not matter."""
    parts = path.rstrip("/").split("/")
    best: tuple[int, Command, dict[str, str]] | None = None
    for (wanted_method, wanted), run in ROUTES.items():
        pattern = wanted.split("/")
        if wanted_method != method or len(pattern) != len(parts):
            continue
        names = {name[1:]: part for name, part in zip(pattern, parts, strict=True) if name.startswith(":")}
        plain = all(
            name == part for name, part in zip(pattern, parts, strict=True) if not name.startswith(":")
        )
        if plain and (best is None or len(names) < best[0]):
            best = (len(names), run, names)
    return best[1:] if best is not None else None


class Wda:
    """The runner on one phone."""

    def __init__(self, phone: IPhone) -> None:
        self.phone = phone
        self.session: Session | None = None
        self.settings: dict[str, Any] = dict(SETTINGS)
        self.should_terminate = True
        self.on_exit: Callable[[], object] | None = None
        """Called when the runner ends by itself."""
        self._woken = asyncio.Event()
        self._queue = asyncio.Lock()
        self._sessions = 0

    # requests

    async def answer(self, request: Request) -> Response:
        """One at a time, whoever asks."""
        if self.phone.faults.get("wda_gone") is not None:
            if self.on_exit is not None:
                self.on_exit()
            raise Hangup
        async with self._queue:
            if self.phone.faults.get("wda_hangs") is not None:
                await self._woken.wait()
                raise Hangup
            await self.phone.faults.delay("wda", request.path.rstrip("/").rpartition("/")[2])
            return await self._respond(request)

    async def _respond(self, request: Request) -> Response:
        try:
            value = await self._run(request)
            if isinstance(value, Response):
                return value
            return self._json(value, 200)
        except Refused as refusal:
            return self._problem(refusal.error, str(refusal))
        except Exception as failure:
            log.exception("%s %s failed", request.method, request.path)
            return self._problem("unknown error", f"{type(failure).__name__}: {failure}")

    async def _run(self, request: Request) -> Any:
        if request.method == "OPTIONS":
            return None
        matches = match(request.method, request.path)
        if matches is None:
            raise refusal("unknown-endpoint", request.path, request.path.strip("/"))
        run, names = matches
        wanted = names.get("id")
        if wanted is not None and (self.session is None or wanted != self.session.id):
            raise Refused("invalid session id", "Session does not exist")
        value = run(Call(self, _body(request), request.query, names))
        return await value if isawaitable(value) else value

    def _problem(self, error: str, message: str) -> Response:
        return self._json({"error": error, "message": message, "traceback": ""}, STATUSES.get(error, 500))

    def _json(self, value: Any, status: int) -> Response:
        body = {"value": value, "sessionId": self.session.id if self.session else None}
        text = json.dumps(body, ensure_ascii=False, indent=2, separators=(",", " : "))
        headers = {"Server": "WebDriverAgent/1.0", "Access-Control-Allow-Origin": "*"}
        raw = text.encode("utf-8", "replace")
        return Response(raw, status, "application/json;charset=UTF-8", headers)

    # sessions

    def begin_session(self, tested: str) -> Session:
        self._sessions += 1
        number = UUID(int=self.phone.seed << 96 | 4 << 76 | 8 << 60 | self._sessions, version=4)
        self.session = Session(str(number).upper(), tested, bool(tested))
        return self.session

    def end_session(self) -> None:
        """The app that the session was made with goes with it, unless it asked otherwise."""
        if self.session is not None and self.session.tested and self.should_terminate:
            self.phone.terminate(self.session.tested)
        self.session = None

    def wake(self) -> None:
        """A runner that hung drops what it held, and goes on."""
        self._woken.set()
        self._woken = asyncio.Event()

    def close(self) -> None:
        self._woken.set()

    # trees

    def active_app(self) -> str:
        """The app that requests are about: a session's own while it is in front, else what is in front."""
        phone, session = self.phone, self.session
        phone.catch_up()
        prompt = bool(phone.dialogs.shown()) and phone.faults.get("system_alert_hidden") is None
        chosen = str(self.settings["defaultActiveApplication"])
        if session is not None and chosen != "auto" and phone.app_state(chosen) == 4:
            return chosen
        if session is not None and session.tested:
            state = phone.app_state(session.tested)
            if state == 4:
                respects = self.settings["respectSystemAlerts"] and bool(phone.dialogs.shown())
                return SPRINGBOARD if respects else session.tested
            if state == 1 and session.expected_to_run:
                raise refusal("app-crashed", session.tested)
        covered = phone.systemui.shade_open or phone.systemui.recents_open or not phone.awake
        return SPRINGBOARD if prompt or covered else phone.front

    def snapshot(self, bundle: str = "") -> Element:
        """The tree of an app, the active one if none is named, within the settings' limits."""
        owner = bundle or self.active_app()
        recorded = self.recorded(owner)
        root = tree.application(self.phone, owner) if recorded is None else recorded.recorded_tree()
        self._deepen(root)
        limit = int(self.settings["snapshotMaxDepth"])
        if min(root.depth, limit) > DEEPEST:
            raise Refused(
                "stale element reference",
                _not_present(f"Application '{owner}'") + " Original error: Error kAXErrorIllegalArgument "
                f"getting snapshot for element  {{pid={self.phone.pid_of(owner)}}} {{uid=[ID:1 hash:0x0]}}",
            )
        cut(root, limit, max(0, int(self.settings["snapshotMaxChildren"] or 0)))
        return root

    def recorded(self, owner: str) -> Recorded | None:
        """The recorded screen of this app, if that is what it shows."""
        top = self.phone.tasks.top
        return top if isinstance(top, Recorded) and owner == self.phone.front else None

    def _deepen(self, root: Element) -> None:
        """The fault `deep_tree`: so many containers around what every window shows."""
        fault = self.phone.faults.active("deep_tree")
        for window in root.children if fault is not None else ():
            inner, window.children = window.children, []
            top = window
            for number in range(int(fault.options["levels"]) if fault else 0):
                box = Element("Other", window.frame, step=str(number))
                top.add(box)
                top = box
            top.add(*inner)

    def element(self, name: str) -> Element:
        """An element that was found before, as it is now."""
        if self.session is None or name not in self.session.elements:
            raise refusal("expired-element", name)
        for owner in dict.fromkeys((self.active_app(), SPRINGBOARD)):
            match = next((element for element in self.snapshot(owner) if element.uid == name), None)
            if match is not None:
                return match
        raise Refused("stale element reference", _not_present(name))

    def reference_to(self, element: Element) -> dict[str, Any]:
        """The reference that a client gets."""
        uid = element.uid
        if self.session is not None:
            self.session.elements.add(uid)
        reference: dict[str, Any] = {"ELEMENT": uid, ELEMENT: uid}
        if not self.settings["shouldUseCompactResponses"]:
            reference |= _response_fields(element, str(self.settings["elementResponseAttributes"]))
        return reference

    # waiting

    async def wait_until_idle(self) -> None:
        """XCTest's quiescence: until nothing moves, or as long as the setting allows."""
        limit = float(self.settings["waitForIdleTimeout"]) * 1000.0
        await self._until_still(limit)

    async def wait_for_animations(self) -> None:
        """After a gesture: until animations end."""
        await self._until_still(float(self.settings["animationCoolOffTimeout"]) * 1000.0)

    async def _until_still(self, limit_ms: float) -> None:
        phone, clock = self.phone, self.phone.clock
        start = clock.monotonic_ms()
        while clock.monotonic_ms() - start < limit_ms:
            if phone.is_idle() and phone.faults.active("never_idle") is None:
                return
            await clock.sleep_ms(IDLE_POLL_MS)

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """From points; beyond the glass is its edge, and a phone that lies may take them as standing."""
        if self.phone.faults.active("landscape_turned") is not None and self.phone.display.rotation % 2:
            x, y = y, self.phone.display.height / SCALE - x
        display = self.phone.display
        return max(0.0, min(display.width - 1.0, x * SCALE)), max(0.0, min(display.height - 1.0, y * SCALE))


def _not_present(name: str) -> str:
    return (
        f'The previously found element "{name}" is not present in the current view anymore. '
        "Make sure the application UI has the expected state."
    )


def _response_fields(element: Element, names: str) -> dict[str, Any]:
    values = tree.attribute_values(element)
    words = {"name": "type", "text": "value", "displayed": "visible"}
    fields: dict[str, Any] = {}
    for name in names.split(","):
        plain = name.removeprefix("attribute/")
        fields[name] = values.get(words.get(plain, plain)) if plain == name else values.get(plain)
        if name == "text":
            fields[name] = element.wd_value or element.wd_label
    return fields


def _body(request: Request) -> dict[str, Any]:
    """What is no JSON object counts as no arguments, as in WDA."""
    try:
        body = json.loads(request.body or b"{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
