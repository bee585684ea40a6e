"""The desk as a surface: windows, and nothing to look at, to touch or to hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.desk.desk import Desk
from handrail.errors import Unsupported
from handrail.protocol.act import Act
from handrail.protocol.traits import Capability


class DeskSurface:
    """Everybody acts on it side by side: a question to a person waits beside everything else."""

    name = "desk"
    is_exclusive = False
    entry = ""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def capability(self, which: Capability) -> object:
        if which is not Capability.WINDOWS:
            raise Unsupported(
                f"The desk has no {which.value}: it is windows only", hint="Send this action to a phone."
            )
        return self

    async def apply(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]:
        if len(actions) == 1:
            return [await self._desk.apply(actions[0], by, is_person)]
        return await self._desk.apply_batch(actions, by, is_person)

    async def heard(self, agent: str, timeout_ms: float) -> list[dict[str, Any]]:
        inbox = self._desk.inbox(agent)
        if timeout_ms > 0:
            await inbox.wait(timeout_ms)
        return inbox.take()

    def left(self, agent: str) -> None:
        self._desk.end_agent(agent)

    async def facts(self) -> None:
        """Nothing to tell: the desk is no device."""

    async def check(self) -> None:
        """It is in this process."""

    def diagnostics(self) -> list[str]:
        return []

    def channels(self) -> dict[str, str]:
        return {}

    async def close(self) -> None:
        """Its server closes the desk itself."""
