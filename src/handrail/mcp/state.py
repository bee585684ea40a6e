"""What the MCP door keeps between calls, by caller and not by connection: HTTP has no session any more.

Knows nothing of transports and of the `mcp` library.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.engine.session import Session
    from handrail.runtime import Runtime

MOST_CALLERS = 1_000
"""Whoever was silent the longest is forgotten first; it is then shown the whole screen again."""


class Progress(Protocol):
    """Somebody who is told how a long call gets on, and passes it on when it suits."""

    def watching(self, session: Session) -> AbstractAsyncContextManager[None]:
        """Around one action: its life can be heard in `session.events()`."""
        ...

    def step(self, done: int, total: int, what: str) -> None:
        """Within a flow: what comes next."""
        ...


@dataclass(slots=True)
class CallerState:
    """One caller: the device that it chose, and what it knows of each screen."""

    device: str | None = None
    package: str | None = None
    """The app of AgenTest's `connect`."""
    last_run: dict[str, Any] | None = None
    """The trace of the last flow, as its tool told it."""
    seen: dict[str, str] = field(default_factory=dict)
    """Serial → the revision ("r12") up to which this caller was told everything."""


class DoorState:
    """A runtime as the door sees it: which tools there are, which device is meant, who knows what."""

    def __init__(
        self, runtime: Runtime, profile: str = "core", *, device: str | None = None, flows: Path | None = None
    ) -> None:
        self.runtime = runtime
        self.profile = profile
        self.device = device
        """For callers that name none."""
        self.flows = flows or runtime.config.home / "flows"
        """The folder whose files `run_flow` may name."""
        self._callers: dict[str, CallerState] = {}
        self._sessions: dict[str | None, Session] = {}

    def of(self, caller: Caller) -> CallerState:
        """What is kept for this caller."""
        known = self._callers.pop(caller.id, None) or CallerState()
        self._callers[caller.id] = known  # the last one is the one heard most recently
        while len(self._callers) > MOST_CALLERS:
            del self._callers[next(iter(self._callers))]
        return known

    async def session(self, caller: Caller, wanted: str | None = None) -> Session:
        """Of the named device, else the one that the caller connected to, else the door's own."""
        name = wanted or self.of(caller).device or self.device
        if name not in self._sessions:  # looking for devices takes longer than most actions
            self._sessions[name] = await self.runtime.session(name)
        return self._sessions[name]

    @property
    def callers(self) -> list[str]:
        """Who was heard of."""
        return list(self._callers)

    @property
    def sessions(self) -> list[Session]:
        """Those that are open, each once."""
        return list({one.serial: one for one in self._sessions.values()}.values())

    def adopt(self, session: Session) -> None:
        """A session that somebody else has opened is the default from now on."""
        self.device = session.serial
        self._sessions[session.serial] = session
