"""One page of a browser: its session, its frames, its dialog, and what goes on in it. It acts on nothing.

A page is read in a world of its own in each document. The worlds die with their documents and are made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.cdp.connection import Answer, CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import AppCrashed, BrowserCommandError, HandrailError, TreeParseError
from handrail.page.rows import SCRIPT, PageLook
from handrail.waiting import Background

WORLD = "handrail"
LOOK_MS = 5_000.0
"""For one reading of a page. One that is busy for longer is said to be."""
TRIES = 3
"""Readings of a page that changes its document meanwhile."""
MOST_WISHES = 8
QUIET_KINDS = frozenset({"WebSocket", "EventSource", "Ping", "Media", "Prefetch"})
"""Requests that nobody waits for."""
STALE_MS = 10_000.0
"""A request that runs for longer holds nothing up."""


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """What a script asks, which stops the page until somebody answers."""

    kind: str
    message: str
    url: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class FileWish:
    """A field of a page that was pressed and wants a file."""

    backend_node_id: int
    takes_several: bool


@dataclass(slots=True)
class FrameWorld:
    """Our world in one document."""

    context: int
    token: str


@dataclass(slots=True)
class PagePart:
    """One renderer's share of the page: the page itself, or frames of another site."""

    session: CdpSession
    frame: str
    """The frame at its root."""
    worlds: dict[str, FrameWorld] = field(default_factory=dict)
    """By frame."""


class WebPage:
    """One tab. Made by `Tabs`, which has attached to it."""

    def __init__(self, connection: Connection, session: CdpSession, clock: Clock, url: str = "") -> None:
        self.session = session
        self.id = session.target_id
        self.clock = clock
        self.url = url
        self.title = ""
        self.dialog: OpenDialog | None = None
        self.dialog_changed = asyncio.Event()
        """Set while a dialog is open."""
        self.gone = asyncio.Event()
        """Set when its tab is closed."""
        self.crashed = ""
        self.main = PagePart(session, session.target_id)
        self.parts: dict[str, PagePart] = {session.id: self.main}
        self.wanted_files: list[FileWish] = []
        """Fields of the page that have asked for a file, the last one last."""
        self.requests: dict[str, float] = {}
        """Those under way, with when they began."""
        self.last_request_ms = 0.0
        self.loads = 0
        """How often another document has come."""
        self.loaded_ms = clock.monotonic_ms()
        """When the present one came."""
        self._tasks = Background()
        self._connection = connection
        self._listen(self.main)

    # getting ready

    async def prepare(self, size: tuple[int, int] | None = None) -> None:
        """Everything that has to be switched on anew whenever the page is attached to."""
        await asyncio.gather(*(self._enable(part) for part in list(self.parts.values())))
        await asyncio.gather(
            self.session.call("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            # Never the machine's own dialog: it shows files that no policy was asked about.
            self.session.call("Page.setInterceptFileChooserDialog", {"enabled": True}),
        )
        if size is not None:
            told = {"width": size[0], "height": size[1], "deviceScaleFactor": 0, "mobile": False}
            await self.session.call("Emulation.setDeviceMetricsOverride", told)
        tree = (await self.session.call("Page.getFrameTree"))["frameTree"]
        self.main.frame, self.url = tree["frame"]["id"], tree["frame"]["url"]

    async def _enable(self, part: PagePart) -> None:
        call = part.session.call
        await asyncio.gather(
            call("Page.enable"),
            call("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            call("Inspector.enable"),
            call(
                "Target.setAutoAttach",
                {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True},
            ),
        )

    def _listen(self, part: PagePart) -> None:
        on = part.session.on
        on("Page.frameNavigated", lambda told: self._navigated(part, told))
        on("Page.frameDetached", lambda told: self._forget_frame(part, told))
        on("Page.javascriptDialogOpening", self._dialog_opened)
        on("Page.javascriptDialogClosed", lambda _: self.dialog_closed())
        on("Page.fileChooserOpened", self._file_asked)
        on("Network.requestWillBeSent", self._requested)
        on("Network.loadingFinished", self._request_ended)
        on("Network.loadingFailed", self._request_ended)
        on("Inspector.targetCrashed", lambda _: self._crashed(part))
        on("Target.attachedToTarget", self._attached)
        on("Target.detachedFromTarget", self._detached)

    def _attached(self, told: Answer) -> None:
        info = told["targetInfo"]
        session = self._connection.session(str(told["sessionId"]), str(info["targetId"]))
        if info["type"] != "iframe":
            return
        part = self.parts[session.id] = PagePart(session, str(info["targetId"]))
        self._listen(part)
        self._tasks.start(self._enable_quietly(part), f"frame {part.frame}")

    async def _enable_quietly(self, part: PagePart) -> None:
        try:
            await self._enable(part)
        except HandrailError:
            self.parts.pop(part.session.id, None)  # it was gone before it was there

    def _detached(self, told: Answer) -> None:
        self.parts.pop(str(told.get("sessionId")), None)

    def _forget_frame(self, part: PagePart, told: Answer) -> None:
        part.worlds.pop(str(told.get("frameId")), None)

    # what happens

    def _navigated(self, part: PagePart, told: Answer) -> None:
        frame = told["frame"]
        part.worlds.pop(frame["id"], None)
        if "parentId" not in frame:
            part.worlds.clear()
            if part is self.main:
                self.url, self.crashed = frame["url"], ""
                self.session.ended = None
                self.requests.clear()
                self.loads += 1
                self.loaded_ms = self.clock.monotonic_ms()

    def _dialog_opened(self, told: Answer) -> None:
        self.dialog = OpenDialog(
            told.get("type", "alert"),
            told.get("message", ""),
            told.get("url", ""),
            told.get("defaultPrompt", ""),
        )
        self.dialog_changed.set()

    def dialog_closed(self) -> None:
        """The page goes on."""
        self.dialog = None
        self.dialog_changed.clear()

    def _file_asked(self, told: Answer) -> None:
        """Files come from policy alone; until somebody gives one, the page gets none."""
        self.wanted_files.append(
            FileWish(int(told.get("backendNodeId", 0)), told.get("mode") == "selectMultiple")
        )
        del self.wanted_files[:-MOST_WISHES]

    def _requested(self, told: Answer) -> None:
        if told.get("type") not in QUIET_KINDS and not str(told.get("documentURL", "")).startswith("data:"):
            now = self.clock.monotonic_ms()
            self.requests[str(told["requestId"])] = now
            self.last_request_ms = now

    def _request_ended(self, told: Answer) -> None:
        if self.requests.pop(str(told["requestId"]), None) is not None:
            self.last_request_ms = self.clock.monotonic_ms()

    def _crashed(self, part: PagePart) -> None:
        error = AppCrashed(
            f"The page {self.url} has crashed",
            hint="open_url loads a page again in its tab.",
            delivery="unknown",
            package=self.url,
        )
        if part is self.main:
            self.crashed = "crashed"
            self.dialog_closed()
        part.worlds.clear()
        part.session.fail(error, for_good=False)

    # reading

    async def evaluate(
        self, expression: str, part: PagePart | None = None, frame: str = "", *, timeout_ms: float = LOOK_MS
    ) -> Any:
        """A value of our own world in a frame, the page's own if none is named. Raises what calls raise."""
        part = part or self.main
        for last in range(TRIES):
            world = await self.world(part, frame or part.frame)
            try:
                return _value(
                    await part.session.call(
                        "Runtime.evaluate",
                        {"expression": expression, "contextId": world.context, "returnByValue": True},
                        timeout_ms=timeout_ms,
                    )
                )
            except BrowserCommandError:
                part.worlds.pop(frame or part.frame, None)  # its document is gone
                if last == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def mark(self) -> None:
        """Tell the page that something is about to be done: what changes all the time is not its doing.

        Sent at once, so that it arrives before what is sent next. A page that can't be asked tells no noise.
        """
        calls = [
            part.session.call(
                "Runtime.evaluate",
                {"expression": "handrail.mark()", "contextId": world.context},
                timeout_ms=1_000.0,
            )
            for part in self.parts.values()
            for world in part.worlds.values()
        ]
        await asyncio.gather(*calls, return_exceptions=True)

    async def world(self, part: PagePart, frame: str) -> FrameWorld:
        """Ours in the present document of a frame, with the script in it."""
        known = part.worlds.get(frame)
        if known is not None:
            return known
        made = await part.session.call("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        context = int(made["executionContextId"])
        told = await part.session.call(
            "Runtime.evaluate",
            {"expression": SCRIPT, "contextId": context, "returnByValue": True},
            timeout_ms=LOOK_MS,
        )
        world = part.worlds[frame] = FrameWorld(context, str(_value(told)))
        return world

    async def look(self, part: PagePart, frame: str) -> PageLook:
        """One document and what it can reach, closed shadow roots too."""
        look = await self._look(part, frame)
        if look.suspects and await self._hand_in_roots(part, frame):
            look = await self._look(part, frame)
        return look

    async def _look(self, part: PagePart, frame: str) -> PageLook:
        text = await self.evaluate("handrail.look()", part, frame)
        return PageLook.read(text)

    async def _hand_in_roots(self, part: PagePart, frame: str) -> bool:
        """Only the browser knows closed shadow roots; the script is given those of its suspects."""
        call, world = part.session.call, await self.world(part, frame)
        asked = {"expression": "handrail.suspects()", "contextId": world.context, "objectGroup": WORLD}
        try:
            listed = await call("Runtime.evaluate", asked)
            told = {"objectId": listed["result"]["objectId"], "ownProperties": True}
            hosts = [
                one["value"]["objectId"]
                for one in (await call("Runtime.getProperties", told))["result"]
                if one["name"].isdigit() and "objectId" in one.get("value", {})
            ]
            given = await asyncio.gather(*(self._hand_in(part, world, host) for host in hosts))
            await call("Runtime.releaseObjectGroup", {"objectGroup": WORLD})
        except BrowserCommandError:
            return False  # its document went meanwhile; the next look asks again
        return any(given)

    async def _hand_in(self, part: PagePart, world: FrameWorld, host: str) -> bool:
        call = part.session.call
        node = (await call("DOM.describeNode", {"objectId": host, "depth": 1}))["node"]
        roots = [one for one in node.get("shadowRoots", ()) if one.get("shadowRootType") == "closed"]
        if not roots:
            return False
        told = {"backendNodeId": roots[0]["backendNodeId"], "executionContextId": world.context}
        root = (await call("DOM.resolveNode", {**told, "objectGroup": WORLD}))["object"]["objectId"]
        take = "function (root) { handrail.take(this, root); }"
        await call(
            "Runtime.callFunctionOn",
            {"objectId": host, "functionDeclaration": take, "arguments": [{"objectId": root}]},
        )
        return True

    async def close(self) -> None:
        await self._tasks.close()


def _value(answer: Mapping[str, Any]) -> Any:
    if "exceptionDetails" in answer:
        told = answer["exceptionDetails"]
        said = told.get("exception", {}).get("description") or told.get("text", "")
        raise TreeParseError(f"The page could not be read: {said[:300]}")
    return answer["result"].get("value")
