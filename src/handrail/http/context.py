"""What the routes of one server share; each finds it in `request.app.state.context`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.desk.desk import Desk
from handrail.engine.hold import Stops
from handrail.http.activity import ConsoleMessages
from handrail.http.approvals import DeskApprovals
from handrail.http.auth import HttpAuth, Visitor
from handrail.http.dialects import Conversations
from handrail.http.flows import Flows
from handrail.http.phone import Phones
from handrail.http.windows import Rendered
from handrail.protocol.model import camel
from handrail.runtime import Runtime


class Context:
    """One runtime, one desk, and everybody who looks at them."""

    def __init__(
        self,
        runtime: Runtime,
        desk: Desk,
        auth: HttpAuth,
        flows: Sequence[Path] = (),
        page_host: str | None = None,
    ) -> None:
        self.runtime = runtime
        self.desk = desk
        self.auth = auth
        self.page_host = page_host
        """Where pages live, if not where they were asked for."""
        self.phones = Phones(runtime)
        self.flows = Flows(runtime, flows)
        self.approvals = DeskApprovals(runtime, desk)
        self.rendered = Rendered()
        self.console = ConsoleMessages(runtime.clock)
        self.conversations = Conversations()
        desk.on_publish.append(self._published)
        self.leaving = asyncio.Event()
        """Set when the server is about to end: whoever waits for something is told so."""
        self.on_interrupt: list[Callable[[], object]] = []
        """Called first when a person stops everything: whoever would begin the next action."""

    def _published(self, frame_type: str, fields: Mapping[str, Any]) -> None:
        """Publishers spell fields as they like; from here on they are spelt as on the wire."""
        self.console.published(frame_type, {camel(name): value for name, value in fields.items()})

    async def interrupt(self, visitor: Visitor) -> int:
        """End everything that is being done, by whatever process; how much was ended in this one."""
        for stop in self.on_interrupt:
            stop()
        runtime, caller = self.runtime, visitor.caller()
        ended = await runtime.stop()
        await Stops(runtime.store).ask(None, caller.id, runtime.clock.now_ms())
        actor = {"kind": caller.actor, "id": caller.id}
        await runtime.journal.seal({"kind": "stop", "device": None, "actor": actor, "door": caller.door})
        return ended

    async def leave(self) -> None:
        """Everybody who waits for an answer gets one, before the doors close."""
        await self.runtime.stop()
        self.leaving.set()

    async def close(self) -> None:
        await self.phones.close()
        await self.flows.close()
