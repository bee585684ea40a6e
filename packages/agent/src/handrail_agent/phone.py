"""A run's way to its phone: it sees the screen as text and picture, and acts under the run's name.

Knows which actions a step has run, also those that a stop has cut short.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.engine.snapshot import UiSnapshot
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import GetUiTree, Screenshot
from handrail.safety.caller import Caller
from handrail.surface.picture import size_of

MOST_LINES = 200
REPORT_WIDTH = 400
"""Pixels; enough to read a button."""
PLACEHOLDER = "${secret:"
"""Where it stands in a text of the engine's, a secret would be read on the screen."""

_SMALLEST = 0.05
_ROUNDED = 0.99
"""What whole pixels may miss a rule by."""
Act = Callable[[AnyAction], Awaitable[Envelope]]
Factor = Callable[[tuple[int, int]], float]
"""By what a picture of this size has to be multiplied."""


@dataclass(frozen=True, slots=True)
class ScreenLook:
    """A screen as the model is shown it."""

    text: str
    """Compact text with refs, or why there is none."""
    look: UiSnapshot | None = None
    """None where the screen could not be read."""
    revision: str = ""
    device: str = ""
    captured_at: str = ""
    picture: bytes | None = None
    """PNG."""
    code: str | None = None

    @property
    def app(self) -> str:
        return self.look.screen.package if self.look else ""

    @property
    def fingerprint(self) -> str:
        return self.look.fingerprint if self.look else ""

    @property
    def shows_secret(self) -> bool:
        """Then no picture of it is taken: pictures can't be redacted."""
        return PLACEHOLDER in self.text


async def look(session: Session, act: Act) -> ScreenLook:
    envelope = await act(GetUiTree(max_lines=MOST_LINES))
    if not envelope.success or not envelope.details:
        why = f"The screen could not be read: {envelope.failure_code}, {envelope.message}"
        return ScreenLook(why, code=envelope.failure_code)
    details = envelope.details
    return ScreenLook(
        str(details["text"]),
        session.screens.last,
        str(details["revision"]),
        session.serial,
        envelope.timestamp,
    )


async def photograph(act: Act, width: int, *, for_model: bool, marks: bool = True) -> bytes | None:
    """PNG, as large as models use it or as a report does; None for a secure window or a failed read."""
    small = min(1.0, max(_SMALLEST, REPORT_WIDTH / max(1, width)))
    return picture_in(await act(Screenshot(marks=marks) if for_model else Screenshot(scale=small)))


async def photograph_by(act: Act, size: tuple[int, int], factor: Factor) -> bytes | None:
    """The whole screen, made smaller by a rule; once more where a picture has more pixels than its screen."""
    scale = factor(size)
    png = picture_in(await act(Screenshot(scale=max(_SMALLEST, scale))))
    if png is None or (more := factor(size_of(png))) > _ROUNDED:
        return png
    return picture_in(await act(Screenshot(scale=max(_SMALLEST, scale * more))))


def picture_in(envelope: Envelope) -> bytes | None:
    data = (envelope.details or {}).get("screenshotBase64") if envelope.success else None
    return base64.b64decode(data) if data else None


REASON = 1_000
"""Characters of a reason in the journal."""


@dataclass(slots=True)
class ActionRunner:
    """One run's way to the phone and, where there is one, to the desk."""

    session: Session
    caller: Caller
    desk: DeskRunner | None = None
    ids: list[str] = field(default_factory=list)
    """Of everything since `begin_step`."""

    def begin_step(self) -> None:
        self.ids = []

    async def act(self, action: AnyAction, reason: str = "") -> Envelope:
        why = (action.reason or reason).strip()[:REASON] or None
        if isinstance(action, DeskAct) and self.desk is not None:
            return self._keep(await self.desk.run(action, reason=why, caller=self.caller))
        # Nothing is awaited between these two: the first that `life` hears of is this action.
        life = self.session.events()
        try:
            return self._keep(await self.session.run(action, reason=why, caller=self.caller))
        except asyncio.CancelledError:
            self.ids.append((await anext(life)).action_id)
            raise

    def _keep(self, envelope: Envelope) -> Envelope:
        self.ids.append(envelope.action_id)
        return envelope
