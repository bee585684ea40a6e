"""Whoever carries the desk's actions out: a session of this process, or the server of this home."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

from handrail.awaited import in_words
from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.engine.short_forms import DeskForms
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import as_action
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import WindowsCapability

DESK = "desk"
"""Its name where the journal has a device's serial."""


@in_words("desk")
class DeskRunner(DeskForms):
    """One way to the desk for every door."""

    caller = Caller()
    """Whoever acts where nobody is named."""

    async def run(
        self,
        action: AnyAction | Mapping[str, Any],
        *,
        reason: str | None = None,
        caller: Caller | None = None,
    ) -> Envelope:
        """One OS action, from permission to proof. Bad input raises; everything else is in the envelope.

        A caller that `raises` hears of a failure by its exception.
        """
        act = as_action(action)
        if reason is not None:
            act = act.model_copy(update={"reason": reason})
        return (caller or self.caller).hear((await self.run_all([act], caller=caller))[0])

    async def run_all(
        self, actions: Sequence[AnyAction | Mapping[str, Any]], *, caller: Caller | None = None
    ) -> list[Envelope]:
        """Several as one change: all of them or, when one is wrong, none."""
        acts = [as_action(one) for one in actions]
        for act in acts:
            _check(act)
        return await self.carry_out(acts, caller)

    @abstractmethod
    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        """Actions of the desk, as one change."""

    @abstractmethod
    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this caller since it was last told; waits for the first of it."""

    @abstractmethod
    async def left(self, by: str) -> None:
        """An agent has gone: what it had locked is free."""


class DeskHere(DeskRunner):
    """The desk of this process, by the session on it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.caller = session.caller
        self._windows = cast("WindowsCapability", session.surface.capability(Capability.WINDOWS))

    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        return await self.session.run_all(acts, caller=caller)

    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        return await self._windows.heard(Caller(by).name_on_desk, timeout_ms)

    async def left(self, by: str) -> None:
        self._windows.left(Caller(by).name_on_desk)


def _check(act: AnyAction) -> None:
    if not isinstance(act, DeskAct):
        raise InvalidAction(f"type: {act.type!r} is not an action of the desk", path="type")
    if act.expect is not None:
        raise Unsupported(
            "expect: the desk has no phone's screen to look at",
            path="expect",
            hint="Send it without `expect`.",
        )
