"""What a run sees of its devices besides its steps: pictures and log lines for the report, the first and the
last screen, and the dialogs that came up. Read like everything else, and never a reason to fail.
"""

from __future__ import annotations

import asyncio
import base64
import io
from dataclasses import dataclass, field

from handrail.engine.session import Session
from handrail.engine.snapshot import UiSnapshot
from handrail.errors import HandrailError
from handrail.flow.run_record import Picture
from handrail.protocol.envelope import Envelope, SystemDialog
from handrail.protocol.observe import GetLogs, GetUiTree, Screenshot
from handrail.safety.caller import Caller
from handrail.screen.node import Screen
from handrail.screen.windows import system_dialogs
from handrail.surface.picture import opened
from handrail.waiting import Background

WIDTH = 540
"""Pixels; half of a common phone's, enough to read a button."""
QUALITY = 82
LOG_LINES = 80


class ReportEvidence:
    """Everything an HTML report shows. Pictures are small; their width and height are the screen's.

    They are taken beside the run: while the next step is prepared, and never after its first touch.
    """

    def __init__(self) -> None:
        self._filling = Background()

    async def picture(self, session: Session, caller: Caller) -> Picture:
        """The screen now, or the reason why it can't be shown. It may be filled in a moment later."""
        picture = Picture(None, why_not="It was not taken")
        if task := session.picture_beside(caller):
            self._filling.start(self._fill(picture, task), "a picture for the report")
            await asyncio.sleep(0)  # it is asked for before anything that comes next
            return picture
        last = session.screens.last
        width = last.screen.bounds.right if last is not None else 2 * WIDTH
        shot = Screenshot(scale=min(1.0, max(0.05, WIDTH / max(1, width))))
        envelope = await session.run(shot, reason="a picture for the report", caller=caller)
        if not envelope.success or not envelope.details:
            return Picture(None, why_not=envelope.message or "no picture")
        details = envelope.details
        png = base64.b64decode(details["screenshotBase64"])
        picture.png, _ = await asyncio.to_thread(_small_jpeg, png)
        picture.width, picture.height = details["width"], details["height"]
        return picture

    async def _fill(self, picture: Picture, task: asyncio.Task[bytes]) -> None:
        try:
            picture.png, (picture.width, picture.height) = await asyncio.to_thread(_small_jpeg, await task)
        except HandrailError as error:
            picture.why_not = error.message

    async def finish(self) -> None:
        """Waits until every picture is there."""
        await self._filling.wait()

    async def log(self, session: Session, caller: Caller) -> list[str]:
        envelope = await session.run(
            GetLogs(max_lines=LOG_LINES), reason="the log after a failure, for the report", caller=caller
        )
        if not envelope.success or not envelope.details:
            return [f"The log could not be read: {envelope.message}"]
        return str(envelope.details["logs"]).splitlines()


def _small_jpeg(png: bytes) -> tuple[bytes, tuple[int, int]]:
    """The picture in about `WIDTH` pixels, and the size that it had."""
    written = io.BytesIO()
    with opened(png) as image:
        size = image.size
        factor = max(1, round(image.width / WIDTH))
        small = image.reduce(factor) if factor > 1 else image
        small.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return written.getvalue(), size


@dataclass(slots=True)
class DeviceWatch:
    """One device during one flow."""

    name: str
    session: Session
    caller: Caller
    fingerprint: str = ""
    changed: bool = False
    tree: str = ""
    dialogs: dict[SystemDialog, None] = field(default_factory=dict)
    """In the order of their coming, each once."""
    crashed: bool = False
    _began: str = ""
    _screen: Screen | None = None
    _picture: tuple[Picture, UiSnapshot | None] | None = None
    _taken: list[tuple[Picture, Screen]] = field(default_factory=list)
    """Every picture of the run, and the screen that was read last when it was taken."""

    async def begin(self) -> None:
        """The screen on which the first step starts; a crash that it shows happened before."""
        await self._look("the screen before the flow")
        self._began = self.fingerprint
        self.crashed = False

    async def end(self) -> None:
        await self._look("the screen after the flow")
        self.changed = self.fingerprint != self._began

    def accept_last_screen(self) -> None:
        """Takes the last screen that was read as the final one: an interrupted run waits for no other."""
        last = self.session.screens.last
        if last is not None:
            self.fingerprint, self.tree = last.fingerprint, self.session.screens.registry.text
        self.changed = self.fingerprint != self._began

    def note(self, envelope: Envelope) -> None:
        """Notes dialogs of the system and whether the app died; called after every action."""
        self.crashed |= envelope.failure_code == "APP_CRASHED"
        self._scan()

    def keep_picture(self, picture: Picture) -> None:
        """Keeps the picture after a step as the one before the next, if nothing was read in between."""
        self._picture = (picture, self.session.screens.last)

    def remember_picture(self, picture: Picture) -> Picture:
        """Remember the picture, to withhold it later if a secret is on it."""
        last = self.session.screens.last
        if last is not None:
            self._taken.append((picture, last.screen))
        return picture

    def pictures_with_secrets(self) -> dict[int, Picture]:
        """Replacements by `id` of a picture, for pictures that show what became a secret later."""
        secret = Picture(None, why_not="a secret is on it")
        return {
            id(picture): secret
            for picture, screen in self._taken
            if self.session.journal_writer.shows_secret(screen)
        }

    def last_picture(self) -> Picture | None:
        if self._picture is None or self._picture[1] is not self.session.screens.last:
            return None
        return self._picture[0]

    async def _look(self, reason: str) -> None:
        envelope = await self.session.run(GetUiTree(), reason=reason, caller=self.caller)
        if envelope.success and envelope.details:
            self.fingerprint, self.tree = envelope.details["fingerprint"], envelope.details["text"]
            self._scan()

    def _scan(self) -> None:
        last = self.session.screens.last
        if last is None or last.screen is self._screen:
            return
        self._screen = last.screen
        for shown in system_dialogs(last.screen):
            dialog = SystemDialog(
                package_name=shown.package, title=shown.title, buttons=shown.buttons, kind=shown.kind
            )
            self.crashed |= shown.kind == "crash" and dialog not in self.dialogs
            self.dialogs.setdefault(dialog)
