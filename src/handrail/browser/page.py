"""One page of a browser: its session, frames, dialog, requests and documents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from handrail.cdp.connection import Answer, CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import AppCrashed, HandrailError, Timeout
from handrail.page.reading import SCRIPT, WORLD, PagePart, PageReader
from handrail.waiting import Background

MOST_WISHES = 8
MOST_DOCUMENTS = 256
"""Documents of which it is known how they were asked for."""
QUIET_KINDS = frozenset({"WebSocket", "EventSource", "Ping", "Media", "Prefetch"})
"""Requests that do not delay idleness."""
ANSWER_MS = 2_000.0
"""Time for a page to prove that its script is not in an endless loop."""
FRAMES_TOO = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
STALE_MS = 3_000.0
"""A longer request no longer counts: it waits for news."""


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """A dialog of a script, which stops the page until it is answered."""

    kind: str
    message: str
    url: str
    default: str = ""


class WebPage(PageReader):
    """One tab. Created by `Tabs`, which has attached to it."""

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
        self.closed = asyncio.Event()
        """Set when its tab is closed."""
        self.crashed = ""
        self.wanted_files: list[int] = []
        """Backend node ids of fields that have opened a file chooser, the latest last."""
        self.came_by_post = url.startswith("http")
        """Whether a reload sends a form again. Nobody knows it of a page that was there before."""
        self._methods: dict[str, str] = {}
        self.lines: list[str] = []
        """For diagnostics."""
        self.requests: dict[str, float] = {}
        """Start times of pending requests."""
        self.last_request_ms = 0.0
        self.loads = 0
        """Number of documents so far."""
        self.loaded_ms = clock.monotonic_ms()
        """When the current document came."""
        self._tasks = Background()
        self._connection = connection
        self._listen(self.main)

    # preparation

    async def prepare(self, size: tuple[int, int] | None = None) -> None:
        """Enables everything that each attachment needs."""
        await asyncio.gather(*(self._enable(part) for part in list(self.parts.values())))
        await asyncio.gather(
            self.session.call("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            # Never the system's dialog, which shows files that the policy does not list.
            self.session.call("Page.setInterceptFileChooserDialog", {"enabled": True}),
        )
        if size is not None:
            metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 0, "mobile": False}
            await self.session.call("Emulation.setDeviceMetricsOverride", metrics)
        tree = (await self.session.call("Page.getFrameTree"))["frameTree"]
        self.main.frame, self.url = tree["frame"]["id"], tree["frame"]["url"]

    async def _enable(self, part: PagePart) -> None:
        call = part.session.call
        await asyncio.gather(
            call("Page.enable"),
            # Before the page's own scripts, so that it hears no input sooner.
            call("Page.addScriptToEvaluateOnNewDocument", {"source": SCRIPT, "worldName": WORLD}),
            call("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            call("Inspector.enable"),
            call("Target.setAutoAttach", FRAMES_TOO),
        )

    def _listen(self, part: PagePart) -> None:
        on = part.session.on
        on("Page.frameNavigated", lambda event: self._navigated(part, event))
        on("Page.javascriptDialogOpening", self._dialog_opened)
        on("Page.javascriptDialogClosed", lambda _: self.dialog_closed())
        on("Page.fileChooserOpened", self._file_chooser_opened)
        on("Network.requestWillBeSent", self._requested)
        on("Network.loadingFinished", self._request_ended)
        on("Network.loadingFailed", self._request_ended)
        on("Inspector.targetCrashed", lambda _: self._crashed(part))
        on("Target.attachedToTarget", self._attached)
        on("Target.detachedFromTarget", lambda event: self.parts.pop(str(event.get("sessionId")), None))

    def _attached(self, event: Answer) -> None:
        info = event["targetInfo"]
        session = self._connection.session(str(event["sessionId"]), str(info["targetId"]))
        if info["type"] != "iframe":
            return
        part = self.parts[session.id] = PagePart(session, str(info["targetId"]))
        self.follow(part)
        self._listen(part)

        async def enable() -> None:
            try:
                await self._enable(part)
            except HandrailError:
                self.parts.pop(part.session.id, None)  # it ended before it was attached

        self._tasks.start(enable(), f"frame {part.frame}")

    # events

    def _navigated(self, part: PagePart, event: Answer) -> None:
        frame = event["frame"]
        if "parentId" not in frame and part is self.main:
            self.url, self.crashed = frame["url"], ""
            address = str(frame.get("unreachableUrl") or frame["url"])  # a reload tries it again
            loader = str(frame.get("loaderId"))
            self.came_by_post = address.startswith("http") and self._methods.get(loader) != "GET"
            self.session.ended = None
            self.requests.clear()
            self.wanted_files.clear()
            self.loads += 1
            self.loaded_ms = self.clock.monotonic_ms()

    def _dialog_opened(self, event: Answer) -> None:
        self.dialog = OpenDialog(
            event.get("type", "alert"),
            event.get("message", ""),
            event.get("url", ""),
            event.get("defaultPrompt", ""),
        )
        self.dialog_changed.set()

    def dialog_closed(self) -> None:
        self.dialog = None
        self.dialog_changed.clear()

    async def answers(self) -> bool:
        """False if a script does not end; the browser reloads a page that has crashed."""
        try:
            if not self.crashed:
                await self.session.call("Runtime.evaluate", {"expression": "1"}, timeout_ms=ANSWER_MS)
        except HandrailError as error:
            return not isinstance(error, Timeout)
        return True

    def _file_chooser_opened(self, event: Answer) -> None:
        """Files come only from the policy, so the browser's own chooser never opens."""
        self.wanted_files.append(int(event.get("backendNodeId", 0)))
        del self.wanted_files[:-MOST_WISHES]
        self.lines.append("[files] the page asks for a file: set_value gives one that policy lists")
        del self.lines[:-MOST_WISHES]

    def _requested(self, event: Answer) -> None:
        if event.get("type") == "Document":  # after a redirect, the last one counts
            self._methods[str(event.get("loaderId"))] = str(event["request"]["method"])
            for loader in list(self._methods)[:-MOST_DOCUMENTS]:
                del self._methods[loader]
        if event.get("type") not in QUIET_KINDS and not str(event.get("documentURL", "")).startswith("data:"):
            now = self.clock.monotonic_ms()
            self.requests[str(event["requestId"])] = now
            self.last_request_ms = now

    def _request_ended(self, event: Answer) -> None:
        if self.requests.pop(str(event["requestId"]), None) is not None:
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
        """Marks the start of an action, so that constant changes are not attributed to it.

        Sent at once, so that it arrives before the input. A page that does not answer reports no noise.
        """
        calls = []
        for part in self.parts.values():
            for world in part.worlds.values():
                mark = {"expression": "handrail.mark()", "contextId": world.context}
                calls.append(part.session.call("Runtime.evaluate", mark, timeout_ms=1_000.0))
        await asyncio.gather(*calls, return_exceptions=True)

    async def close(self) -> None:
        await self._tasks.close()
