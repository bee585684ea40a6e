"""The desk of the Handrail that runs already, for a process that has none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.engine.desk_runner import DeskRunner
from handrail.engine.events import Caller
from handrail.errors import Unsupported
from handrail.local.client import LocalDoor, error_from, gone
from handrail.local.wire import Message
from handrail.protocol.envelope import Envelope

if TYPE_CHECKING:
    from handrail.protocol.actions import AnyAction


class LocalDesk(DeskRunner):
    """Every request is a connection of its own: a server that was restarted is found again."""

    def __init__(self, home: Path, caller: Caller) -> None:
        self._home = home
        self._caller = caller

    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        """The server journals it."""
        who = (caller or self._caller).to_dict()
        told = await self._ask({"desk": [act.to_dict() for act in acts], "caller": who})
        return [Envelope.model_validate(one) for one in told["envelopes"]]

    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this caller."""
        told = await self._ask({"heard": by, "timeout_ms": timeout_ms})
        return list(told["events"])

    async def left(self, by: str) -> None:
        """This caller has gone; where there is no desk any more, so have its locks."""
        with suppress(Unsupported):
            await self._ask({"left": by})

    async def state(self) -> dict[str, Any]:
        """The whole desk, as browsers are told it."""
        return dict((await self._ask({"desk_state": True}))["state"])

    async def _ask(self, message: Message) -> Message:
        door = await LocalDoor.open(self._home, "desk")
        if door is None:
            raise Unsupported("There is no desk", hint="Start `handrail serve` to get one.")
        try:
            answer = await door.ask(message)
        finally:
            await door.close()
        if answer is None:
            raise gone("the desk's action")
        if "error" in answer:
            raise error_from(answer["error"])
        return answer
