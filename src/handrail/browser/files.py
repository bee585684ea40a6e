"""Uploads and downloads, both only as the policy lists them.

A download is stored in its own folder under a number instead of the name that the page chose, and is never
opened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.browser.page import WebPage
from handrail.browser.screen_reader import origin_of, unless_dialog
from handrail.cdp.connection import Answer, CdpSession
from handrail.errors import ActionRejected, HandrailError, InvalidAction
from handrail.page.reading import PagePart
from handrail.surface.values import SetControl
from handrail.waiting import Background

MOST_LINES = 20
MOST_NAME = 120


@dataclass(frozen=True, slots=True)
class WebFiles:
    """What the policy allows at this moment."""

    gives: Callable[[str], bool]
    """Whether a page may receive a file, by its absolute path."""
    saves: Callable[[str], bool]
    """Whether downloads from an origin are kept."""
    folder: Path | None = None


NO_FILES = WebFiles(lambda _: False, lambda _: False)


def listed(path: str, files: WebFiles) -> Path:
    """Raises `ActionRejected` for a file that the policy does not list."""
    if not path.startswith(("/", "~")):
        raise InvalidAction(
            f"{path[:MOST_NAME]!r} is not an absolute path",
            hint="Give the file's path from the root.",
            path="value",
            delivery="not_delivered",
        )
    try:
        file = Path(path).expanduser().resolve(strict=True)
        is_file = file.is_file()
    except (OSError, RuntimeError):
        file, is_file = Path(path), False
    # Only for listed files is it revealed whether they exist.
    if not files.gives(str(file)) or not is_file:
        raise ActionRejected(
            f"{path[:MOST_NAME]!r} is not a file that pages may receive",
            hint="The owner of the policy lists such files under `uploads`.",
            delivery="not_delivered",
        )
    return file


async def give(page: WebPage, part: PagePart, frame: str, number: int, path: Path) -> SetControl | None:
    """Sets the file of the field that this element is or labels, or that last opened a file chooser."""
    world = await page.world(part, frame)
    request = {"expression": f"handrail.fileField({number})", "contextId": world.context}
    evaluated = await part.session.call("Runtime.evaluate", request)
    place: dict[str, Any] = {"objectId": evaluated.get("result", {}).get("objectId")}
    if place["objectId"] is None:
        if not page.wanted_files:
            return None
        place = {"backendNodeId": page.wanted_files[-1]}
    files = {"files": [str(path)], **place}
    await unless_dialog(page, part.session.call("DOM.setFileInputFiles", files))
    page.wanted_files.clear()
    return SetControl(path.name, is_set=True, offers=())


class Downloads:
    """Downloads of a browser that Handrail started."""

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
        self._root.on("Browser.downloadProgress", self._on_download_progress)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        behavior = {"behavior": "allowAndName", "downloadPath": str(self._folder), "eventsEnabled": True}
        await self._root.call("Browser.setDownloadBehavior", behavior)

    async def close(self) -> None:
        await self._tasks.close()

    def _begins(self, event: Answer) -> None:
        guid, origin = str(event.get("guid", "")), origin_of(str(event.get("url", "")))
        name = str(event.get("suggestedFilename", ""))[:MOST_NAME]
        if self._files.saves(origin):
            self._names[guid] = f"{name!r} from {origin}"
            return
        self._unwanted.add(guid)
        self._say(f"[download] {name!r} from {origin} was refused: it is not under `downloads` in the policy")

        async def cancel() -> None:
            with suppress(HandrailError):
                await self._root.call("Browser.cancelDownload", {"guid": guid})

        self._tasks.start(cancel(), f"refusal of {guid}")

    def _on_download_progress(self, event: Answer) -> None:
        guid, state = str(event.get("guid", "")), event.get("state")
        if state == "inProgress":
            return
        if guid in self._unwanted:
            self._unwanted.discard(guid)
            if "/" not in guid:
                (self._folder / guid).unlink(missing_ok=True)  # it may finish before it is cancelled
        elif named := self._names.pop(guid, ""):
            outcome = f"is kept as {self._folder / guid}" if state == "completed" else "has not arrived"
            self._say(f"[download] {named} {outcome}")

    def _say(self, line: str) -> None:
        self.lines.append(line)
        del self.lines[:-MOST_LINES]
