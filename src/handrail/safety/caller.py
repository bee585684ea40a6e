"""Who asks for an action: the actor, the client they use, and what identifies them again."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from handrail.invocation import login_session, process_start_time
from handrail.protocol.envelope import Envelope

PATIENCE_MS = 45_000.0
"""The default of programs that do not say how long they wait. Most clients give up after a minute."""


LONGEST_PATIENCE_MS = 600_000.0
Actor = Literal["agent", "flow", "person"]
Door = Literal["python", "cli", "mcp", "http", "ws", "flow", "agent", "desk"]


class Fence(Protocol):
    """Ends a caller from outside: an attempt of a fleet is valid only while its head hears from it."""

    @property
    def attempt(self) -> tuple[str, int]:
        """The unit, and the number of the attempt."""

    def check(self) -> None:
        """Called before every dispatch. Raises `Cancelled` if the attempt is no longer valid."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for an action."""

    id: str = "local"
    actor: Actor = "agent"
    door: Door = "python"
    is_remote: bool = False
    terminal: int | None = None
    """The login session of the person at a terminal. An agent's shell has a different one."""
    asker: str = ""
    """A token, client session or run that identifies the caller again. Names prove nothing, since agents may
    use each other's. Without one, all callers of the same door share the engine session's identity."""
    patience_ms: float = 0.0
    """How long it waits for a device that a person has taken over; 0: it fails at once."""
    page: str = ""
    """For a person: the browser page of the desk, identified by its token. Empty for programs."""
    raises: bool = False
    """A failure raises its exception instead of returning the envelope."""
    fence: Fence | None = None
    """Set for an attempt of a fleet."""

    def check_fence(self) -> None:
        """Raises `Cancelled` if the attempt is no longer valid."""
        if self.fence is not None:
            self.fence.check()

    def hear(self, envelope: Envelope) -> Envelope:
        """Returns the envelope, or raises its failure if this caller wants exceptions."""
        __tracebackhide__ = True
        return envelope.or_raise() if self.raises else envelope

    @classmethod
    def at_terminal(cls) -> Caller:
        """The person whose shell runs this command."""
        return cls.of_terminal(login_name(), login_session())

    @classmethod
    def of_terminal(cls, name: str, terminal: int | None) -> Caller:
        """A terminal number is reused, so the start time of the login session is part of the identity."""
        asker = "" if terminal is None else f"{terminal}@{process_start_time(terminal)}"
        return cls(name, "person", "cli", terminal=terminal, asker=asker)

    @property
    def holder_id(self) -> str:
        """Identifies the holder of a device. A person at a terminal never equals a person at the desk."""
        if self.door == "desk":
            return f"{self.id} at the desk"
        return self.id if self.terminal is None else f"{self.id}#{self.terminal}"

    def asks_as(self, session: str) -> str:
        """Whose approvals these are; `session` is the engine's own secret."""
        if self.asker:
            return f"{self.door} {self.asker}"
        place = "elsewhere" if self.is_remote else "here"
        return f"{session} {self.actor} {self.door} {place}"

    @property
    def name_on_desk(self) -> str:
        """An agent's name on the desk: names that are reserved there get a prefix."""
        return f"agent {self.id}" if self.id in ("person", "console") else self.id

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.actor, "door": self.door, "remote": self.is_remote}


def login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # this user has no passwd entry
        return f"uid {os.getuid()}"
