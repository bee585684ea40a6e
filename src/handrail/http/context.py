"""What the routes of one server share; each finds it in `request.app.state.context`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request

from handrail.desk.desk import Desk
from handrail.engine.hold import Stops
from handrail.http.activity import ConsoleMessages
from handrail.http.approvals import DeskApprovals
from handrail.http.auth import HttpAuth, Visitor
from handrail.http.dialects import Conversations
from handrail.http.first_contact import FirstContacts
from handrail.http.flows import Flows
from handrail.http.notifier import Notifier, NotifyPlace
from handrail.http.phone import Phones
from handrail.http.subscriptions import Subscriptions
from handrail.http.windows import Rendered
from handrail.protocol.model import camel
from handrail.runtime import Runtime


@dataclass(frozen=True, slots=True)
class PageHosts:
    """Where the desk's page lives."""

    own: str | None = None
    """On this machine, if not where it was asked for."""
    public: str | None = None
    """Where other devices reach it, always by https; None: no other device does."""
    is_tunnel: bool = False
    """Somebody else speaks TLS there for us."""


class Context:
    """One runtime, one desk, and everybody who looks at them."""

    def __init__(
        self,
        runtime: Runtime,
        desk: Desk,
        auth: HttpAuth,
        flows: Sequence[Path] = (),
        pages: PageHosts | None = None,
    ) -> None:
        self.runtime = runtime
        self.desk = desk
        self.auth = auth
        self.pages = pages or PageHosts()
        self.phones = Phones(runtime)
        self.flows = Flows(runtime, flows)
        self.approvals = DeskApprovals(runtime, desk, self.phones.name)
        self.subscriptions = Subscriptions(runtime.store, runtime.clock)
        auth.logins.kept = self.subscriptions.keeps
        self.notifier = Notifier(
            self.subscriptions, runtime.clock, self.pages.public, NotifyPlace.read(runtime.config.notify_url)
        )
        self.approvals.on_asked.append(self.notifier.tell)
        self.on_log_out: list[Callable[[str], object]] = []
        """Called with the hash of a login that has ended: whoever serves it hangs up."""
        self.first_contacts = FirstContacts(runtime)
        self.agent_line = "claude mcp add handrail -- handrail mcp"
        """What people paste to give an agent the phones; whoever knows the program's path says it."""
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

    def origin(self, request: Request) -> str:
        """Of the page that asks. A tunnel speaks TLS for us."""
        host = request.headers["host"]
        is_secure = request.url.scheme == "https" or host == self.pages.public
        return f"{'https' if is_secure else 'http'}://{host}"

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

    def log_out(self, login: str) -> None:
        """A device was revoked: its page is a stranger's from now on, also on a line that is open."""
        self.auth.logins.end(login)
        self.auth.tickets.forget(login)
        for hang_up in [*self.on_log_out]:
            hang_up(login)

    async def leave(self) -> None:
        """Everybody who waits for an answer gets one, before the doors close."""
        await self.runtime.stop()
        self.leaving.set()

    async def close(self) -> None:
        await self.notifier.close()
        await self.first_contacts.close()
        await self.phones.close()
        await self.flows.close()
