"""Who is behind a request: a person with a session of their own, or a program with a token; near or far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from handrail.engine.events import Caller, Door
from handrail.errors import ActionRejected

AGENT_HEADER = "handrail-agent"
LONGEST = 60
PROGRAM = "http"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was let in."""

    role: Literal["person", "program"]
    name: str
    is_remote: bool = False

    @classmethod
    def person(cls, is_remote: bool) -> Visitor:
        """Whoever can log in is the owner of this home, under the name that they have on this machine."""
        return cls("person", _owner().id, is_remote)

    @property
    def is_person(self) -> bool:
        return self.role == "person"

    def caller(self, door: Door = "http") -> Caller:
        """What the engine and the journal call them."""
        if self.is_person:
            return replace(_owner(), is_remote=self.is_remote)
        return Caller(self.name, "agent", door, is_remote=self.is_remote)

    def must_be_person(self, what: str) -> None:
        """No agent may say yes to itself: a program's token is not enough for what a person decides."""
        if not self.is_person:
            raise ActionRejected(
                f"{what} is for people; {self.name!r} came with a program's token",
                hint="Open the desk in a browser, or use `handrail approve` in a terminal.",
            )


def agent_name(given: str | None) -> str | None:
    """The name that a program gives itself, which proves nothing and must not steer a terminal."""
    shown = "".join(char for char in given or "" if char.isprintable()).strip()[:LONGEST]
    return shown or None


def _owner() -> Caller:
    return replace(Caller.at_terminal(), door="desk", terminal=None)
