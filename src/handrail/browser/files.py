"""Files on their way: those that a page may be given, and those that it sends.

Both only as the policy lists them. What is kept is named in the answer and in a folder of its own, by a
number instead of the name that the page has chosen, and nobody opens it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.browser.eyes import origin_of, unless_dialog
from handrail.browser.page import WebPage
from handrail.cdp.connection import Answer, CdpSession
from handrail.errors import ActionRejected, HandrailError, InvalidAction
from handrail.page.reading import PagePart
from handrail.surface.values import SetControl
from handrail.waiting import Background

MOST_LINES = 20
MOST_NAME = 120


@dataclass(frozen=True, slots=True)
class WebFiles:
    """What the owner of the policy has listed, at this moment."""

    gives: Callable[[str], bool]
    """Whether a page may be given a file, by its whole path."""
    saves: Callable[[str], bool]
    """Whether what an origin sends is kept."""
    folder: Path | None = None
    """Where it is kept."""


NO_FILES = WebFiles(lambda _: False, lambda _: False)


def listed(path: str, files: WebFiles) -> Path:
    """The file behind a path. Raises `ActionRejected` for one that policy does not list."""
    if not path.startswith(("/", "~")):
        raise InvalidAction(
            f"{path[:MOST_NAME]!r} is no whole path",
            hint="Give the file's path from the root.",
            path="value",
            delivery="not_delivered",
        )
    try:
        found = Path(path).expanduser().resolve(strict=True)
        is_file = found.is_file()
    except (OSError, RuntimeError):
        found, is_file = Path(path), False
    # Whether there is such a file is told only of what is listed.
    if not files.gives(str(found)) or not is_file:
        raise ActionRejected(
            f"{path[:MOST_NAME]!r} is no file that pages may be given",
            hint="The owner of the policy lists such files under `uploads`.",
            delivery="not_delivered",
        )
    return found


async def give(page: WebPage, part: PagePart, frame: str, number: int, path: Path) -> SetControl | None:
    """Into the file field that this element is, or stands for, or that has asked for one last."""
    world = await page.world(part, frame)
    asked = {"expression": f"handrail.fileField({number})", "contextId": world.context}
    found = await part.session.call("Runtime.evaluate", asked)
    place: dict[str, Any] = {"objectId": found.get("result", {}).get("objectId")}
    if place["objectId"] is None:
        if not page.wanted_files:
            return None
        place = {"backendNodeId": page.wanted_files[-1].backend_node_id}
    told = {"files": [str(path)], **place}
    await unless_dialog(page, part.session.call("DOM.setFileInputFiles", told))
    page.wanted_files.clear()
    return SetControl(path.name, is_set=True, offers=())


class Downloads:
    """Of a browser of our own."""

    def __init__(self, root: CdpSession, files: WebFiles, folder: Path) -> None:
        self._root = root
        self._files = files
        self._folder = folder
        self._names: dict[str, str] = {}
        self._unwanted: set[str] = set()
        self._tasks = Background()
        self.lines: list[str] = []

    async def open(self) -> None:
        self._root.on("Browser.downloadWillBegin", self._begins)
        self._root.on("Browser.downloadProgress", self._goes_on)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        told = {"behavior": "allowAndName", "downloadPath": str(self._folder), "eventsEnabled": True}
        await self._root.call("Browser.setDownloadBehavior", told)

    async def close(self) -> None:
        await self._tasks.close()

    def _begins(self, told: Answer) -> None:
        guid, origin = str(told.get("guid", "")), origin_of(str(told.get("url", "")))
        name = str(told.get("suggestedFilename", ""))[:MOST_NAME]
        if self._files.saves(origin):
            self._names[guid] = f"{name!r} from {origin}"
            return
        self._unwanted.add(guid)
        self._say(f"[download] {name!r} from {origin} was refused: it is not under `downloads` in the policy")
        self._tasks.start(self._cancel(guid), f"refusal of {guid}")

    async def _cancel(self, guid: str) -> None:
        with suppress(HandrailError):
            await self._root.call("Browser.cancelDownload", {"guid": guid})

    def _goes_on(self, told: Answer) -> None:
        guid, state = str(told.get("guid", "")), told.get("state")
        if state == "inProgress":
            return
        if guid in self._unwanted:
            self._unwanted.discard(guid)
            if "/" not in guid:
                (self._folder / guid).unlink(missing_ok=True)  # a small one was quicker than its refusal
        elif named := self._names.pop(guid, ""):
            kept = f"is kept as {self._folder / guid}" if state == "completed" else "has not arrived"
            self._say(f"[download] {named} {kept}")

    def _say(self, line: str) -> None:
        self.lines.append(line)
        del self.lines[:-MOST_LINES]
