"""Who acts, and the lives of a session's actions as they happen. A slow listener loses the oldest."""

from __future__ import annotations

import asyncio
import getpass
import os
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from weakref import WeakSet

from handrail.engine.work import TracedWork
from handrail.protocol.envelope import Envelope, LifecycleState
from handrail.terminal import began, login_session

HELD = 1_000
"""Events that wait for one listener."""


Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in the device's pixels."""


@dataclass(frozen=True, slots=True)
class Event:
    """One step in the life of one action; the last one brings the envelope."""

    action_id: str
    action_type: str
    device: str
    state: LifecycleState
    at_ms: int
    terminal: bool = False
    envelope: Envelope | None = None
    actor: str = ""
    by: str = ""
    said: str = ""
    """What it waits for, in words."""
    bounds: Box | None = None
    """Where it comes down on the screen, once that is known."""

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {
            "action_id": self.action_id,
            "action_type": self.action_type,
            "device": self.device,
            "state": self.state,
            "at_ms": self.at_ms,
            "terminal": self.terminal,
            "actor": self.actor,
            "by": self.by,
        }
        return written | ({"envelope": self.envelope.to_dict()} if self.envelope else {})


class Listener:
    """An async iterator over everything from its making on, until the session closes."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue(HELD)

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> Event:
        event = await self._queue.get()
        if event is None:
            self.put(None)  # whoever asks again hears it again
            raise StopAsyncIteration
        return event

    def put(self, event: Event | None) -> None:
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(event)

    def put_work(self, work: TracedWork) -> None:
        """What actions were a part of has ended. Those who follow actions have no use for it."""


class Events:
    """One speaker, any number of listeners; one that nobody holds any more is forgotten."""

    def __init__(self) -> None:
        self._listeners: WeakSet[Listener] = WeakSet()
        self._closed = False

    def __len__(self) -> int:
        return len(self._listeners)

    def tell(self, event: Event) -> None:
        for listener in list(self._listeners):
            listener.put(event)

    def tell_work(self, work: TracedWork) -> None:
        for listener in list(self._listeners):
            listener.put_work(work)

    def listen(self, listener: Listener | None = None) -> Listener:
        """From now on: nothing that happens between this call and the first `await` is missed."""
        listener = listener or Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.put(None)
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in list(self._listeners):
            listener.put(None)


PATIENCE_MS = 45_000.0
"""How long a program at a door waits in line where it does not say: most clients give up after a minute."""
LONGEST_PATIENCE_MS = 600_000.0
Actor = Literal["agent", "flow", "person"]
Door = Literal["python", "cli", "mcp", "http", "ws", "flow", "agent", "desk"]


class Fence(Protocol):
    """What ends a caller from outside: an attempt of a fleet counts only as long as its head hears of it."""

    @property
    def attempt(self) -> tuple[str, int]:
        """The unit, and the number of the attempt."""

    def check(self) -> None:
        """Asked before every dispatch. Raises `Cancelled` where the attempt does not count any more."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The one behind an action."""

    id: str = "local"
    actor: Actor = "agent"
    door: Door = "python"
    is_remote: bool = False
    terminal: int | None = None
    """The login session of whoever sits at a terminal: an agent's own shell has another one."""
    asker: str = ""
    """What a token, a client's session or a run keeps to be known again. Names prove nothing: agents may take
    each other's. Without one the engine's own session stands for everybody who comes by the same door."""
    patience_ms: float = 0.0
    """How long it waits in line for a device that a person has taken over; 0: it is told at once."""
    page: str = ""
    """Of a person: the page of the desk that they sit before, known by its token. Programs have none."""
    raises: bool = False
    """Hears of a failure by an exception; otherwise by the envelope."""
    fence: Fence | None = None
    """Of an attempt of a fleet."""

    def check_fence(self) -> None:
        """Raises where its host counts no longer."""
        if self.fence is not None:
            self.fence.check()

    def hear(self, envelope: Envelope) -> Envelope:
        """The answer, in the way that this caller wants to hear it."""
        __tracebackhide__ = True
        return envelope.or_raise() if self.raises else envelope

    @classmethod
    def at_terminal(cls) -> Caller:
        """The person whose shell runs this command."""
        return cls.of_terminal(_login(), login_session())

    @classmethod
    def of_terminal(cls, name: str, terminal: int | None) -> Caller:
        """Known again by the login session as long as that lasts: its number alone is given out again."""
        asker = "" if terminal is None else f"{terminal}@{began(terminal)}"
        return cls(name, "person", "cli", terminal=terminal, asker=asker)

    @property
    def holder_id(self) -> str:
        """What a hold on a device is recognised by. Nobody at a terminal passes for somebody at the desk."""
        if self.door == "desk":
            return f"{self.id} at the desk"
        return self.id if self.terminal is None else f"{self.id}#{self.terminal}"

    def asks_as(self, session: str) -> str:
        """Whose approvals these are, for policy; `session` is the engine's own secret."""
        if self.asker:
            return f"{self.door} {self.asker}"
        place = "elsewhere" if self.is_remote else "here"
        return f"{session} {self.actor} {self.door} {place}"

    @property
    def name_on_desk(self) -> str:
        """What an agent is called there: a name that means somebody on the desk gets a word before it."""
        return f"agent {self.id}" if self.id in ("person", "console") else self.id

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.actor, "door": self.door, "remote": self.is_remote}


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this user
        return f"uid {os.getuid()}"
