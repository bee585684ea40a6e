"""Runs the desk's actions, in this process or in the daemon of this home."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.engine.session import Session
from handrail.engine.short_forms import DeskForms
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import as_action
from handrail.safety.caller import Caller
from handrail.surface.capabilities import DeskWindows

DESK = "desk"
"""The desk's name where the journal has a device's serial."""


class DeskRunner(DeskForms):
    """The interface to the desk for every client."""

    caller = Caller()
    """The default caller."""

    async def run(
        self,
        action: AnyAction | Mapping[str, Any],
        *,
        reason: str | None = None,
        caller: Caller | None = None,
    ) -> Envelope:
        """Runs one desk action, from policy to verification. Bad input raises; other failures are in the
        envelope.

        For a caller with `raises` a failed envelope becomes its exception.
        """
        act = as_action(action)
        if reason is not None:
            act = act.model_copy(update={"reason": reason})
        return (caller or self.caller).hear((await self.run_all([act], caller=caller))[0])

    async def run_all(
        self, actions: Sequence[AnyAction | Mapping[str, Any]], *, caller: Caller | None = None
    ) -> list[Envelope]:
        """Runs several as one change: all of them or, if one is invalid, none."""
        acts = [as_action(action) for action in actions]
        for act in acts:
            if not isinstance(act, DeskAct):
                raise InvalidAction.at("type", f"{act.type!r} is not an action of the desk")
            if act.expect is not None:
                raise Unsupported.at(
                    "expect", "the desk has no phone screen to check", hint="Send it without `expect`."
                )
        return await self.carry_out(acts, caller)

    @abstractmethod
    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        """Runs validated desk actions as one change."""

    @abstractmethod
    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this caller since the last call. Waits for the first event."""

    @abstractmethod
    async def left(self, by: str) -> None:
        """Releases what a disconnected agent had locked."""


class DeskHere(DeskRunner):
    """The desk of this process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.caller = session.caller
        self._windows = session.surface.need(DeskWindows)

    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        return await self.session.run_all(acts, caller=caller)

    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        return await self._windows.heard(Caller(by).name_on_desk, timeout_ms)

    async def left(self, by: str) -> None:
        self._windows.left(Caller(by).name_on_desk)
