"""One page of a browser: its session, its frames, its dialog, and what goes on in it. It acts on nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from handrail.cdp.connection import Answer, CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import AppCrashed, HandrailError, Timeout
from handrail.page.reading import PagePart, PageReader
from handrail.waiting import Background

MOST_WISHES = 8
QUIET_KINDS = frozenset({"WebSocket", "EventSource", "Ping", "Media", "Prefetch"})
"""Requests that nobody waits for."""
ANSWER_MS = 2_000.0
"""For a page to show that its script is not busy without end."""
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


class WebPage(PageReader):
    """One tab. Made by `Tabs`, which has attached to it."""

    def __init__(self, connection: Connection, session: CdpSession, clock: Clock, url: str = "") -> None:
        super().__init__(session, session.target_id)
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
        self.wanted_files: list[FileWish] = []
        """Fields of the page that have asked for a file, the last one last."""
        self.lines: list[str] = []
        """For diagnostics."""
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
        self.follow(part)
        self._listen(part)
        self._tasks.start(self._enable_quietly(part), f"frame {part.frame}")

    async def _enable_quietly(self, part: PagePart) -> None:
        try:
            await self._enable(part)
        except HandrailError:
            self.parts.pop(part.session.id, None)  # it was gone before it was there

    def _detached(self, told: Answer) -> None:
        self.parts.pop(str(told.get("sessionId")), None)

    # what happens

    def _navigated(self, part: PagePart, told: Answer) -> None:
        frame = told["frame"]
        if "parentId" not in frame and part is self.main:
            self.url, self.crashed = frame["url"], ""
            self.session.ended = None
            self.requests.clear()
            self.wanted_files.clear()
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

    async def answers(self) -> bool:
        """False for a page whose script does not end; one that has crashed is loaded again by the browser."""
        if self.crashed:
            return True
        try:
            await self.session.call("Runtime.evaluate", {"expression": "1"}, timeout_ms=ANSWER_MS)
        except Timeout:
            return False
        except HandrailError:
            return True
        return True

    def _file_asked(self, told: Answer) -> None:
        """Files come from policy alone; until somebody gives one, the page gets none."""
        self.wanted_files.append(
            FileWish(int(told.get("backendNodeId", 0)), told.get("mode") == "selectMultiple")
        )
        del self.wanted_files[:-MOST_WISHES]
        self.lines.append("[files] the page asks for a file: set_value gives one that policy lists")
        del self.lines[:-MOST_WISHES]

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

    async def close(self) -> None:
        await self._tasks.close()
