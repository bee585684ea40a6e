"""Who acts, through which door, and from where: what policy asks and the journal keeps."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from typing import Any, Literal

Actor = Literal["agent", "flow", "person"]
Door = Literal["python", "cli", "mcp", "http", "ws", "flow", "agent", "desk"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The one behind an action."""

    id: str = "local"
    actor: Actor = "agent"
    door: Door = "python"
    is_remote: bool = False
    terminal: int | None = None
    """The login session of whoever sits at a terminal: an agent's own shell has another one."""

    @classmethod
    def at_terminal(cls) -> Caller:
        """The person whose shell runs this command."""
        return cls(_login(), "person", "cli", terminal=os.getsid(0))

    @property
    def holder_id(self) -> str:
        """What a hold on a device is recognised by."""
        return self.id if self.terminal is None else f"{self.id}#{self.terminal}"

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.actor, "door": self.door, "remote": self.is_remote}


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this user
        return f"uid {os.getuid()}"
