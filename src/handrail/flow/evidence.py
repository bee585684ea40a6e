"""Pictures and log lines for a report: read like everything else, small, and never a reason to fail."""

from __future__ import annotations

import asyncio
import base64
import io
from typing import Protocol

from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.flow.records import Picture
from handrail.protocol.observe import GetLogs, Screenshot

WIDTH = 540
"""Pixels; half of a common phone's, enough to read a button."""
QUALITY = 82
LOG_LINES = 80


class Evidence(Protocol):
    """What a run keeps besides its records."""

    async def picture(self, session: Session, caller: Caller) -> Picture: ...

    async def log(self, session: Session, caller: Caller) -> list[str]: ...


class ReportEvidence:
    """Everything an HTML report shows. Pictures are small; their width and height are the screen's."""

    async def picture(self, session: Session, caller: Caller) -> Picture:
        """The screen now, or the reason why it can't be shown."""
        shot = Screenshot(scale=_scale(session))
        envelope = await session.run(shot, reason="a picture for the report", caller=caller)
        if not envelope.success or not envelope.details:
            return Picture(None, why_not=envelope.message or "no picture")
        details = envelope.details
        png = base64.b64decode(details["screenshotBase64"])
        return Picture(await asyncio.to_thread(_compact, png), details["width"], details["height"])

    async def log(self, session: Session, caller: Caller) -> list[str]:
        """The newest lines of the device's log."""
        envelope = await session.run(
            GetLogs(max_lines=LOG_LINES), reason="the log after a failure, for the report", caller=caller
        )
        if not envelope.success or not envelope.details:
            return [f"The log could not be read: {envelope.message}"]
        return str(envelope.details["logs"]).splitlines()


def _scale(session: Session) -> float:
    last = session.sight.last
    width = last.screen.bounds.right if last is not None else 2 * WIDTH
    return min(1.0, max(0.05, WIDTH / max(1, width)))


def _compact(png: bytes) -> bytes:
    """As JPEG where that is smaller."""
    from PIL import Image  # noqa: PLC0415  (30 ms that a run without a report need not pay)

    written = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return min(png, written.getvalue(), key=len)
