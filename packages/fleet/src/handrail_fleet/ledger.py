"""What the fleet has to do and what came of it, as values and as an interface. Knows neither Ray nor SQL.

A unit is data: a flow's text, or a task's name. An attempt is one run of it on one host, with a number that
only grows: its fence. The first result of the newest attempt counts. Everything else is kept as evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from handrail.errors import HandrailError

UnitState = Literal["todo", "running", "done", "lost", "unknown", "stopped"]
"""`lost`: its attempt was, and it may not be repeated. `unknown`: the same for a unit that must not run
twice; a person has to look. `stopped`: it was taken back before anybody began it."""
Ended = Literal["accepted", "lost", "cut_off", "given_back"]
"""How an attempt ends. `cut_off`: its host heard nothing of the head and stopped it. `given_back`: it was
handed out, and nothing of it was ever done on a phone."""
Answered = Literal["accepted", "again", "late"]


class StaleHost(HandrailError):
    """Another process of this host has come later; this one must stop."""

    hint = "Stop this process: a newer one of the same host is at work."


@dataclass(frozen=True, slots=True)
class UnitSpec:
    """One thing to be done, as it is handed in."""

    kind: str
    name: str
    body: Mapping[str, Any]
    where: str = ""
    pins: tuple[str, ...] = ()
    """Phones, as SERIAL@HOST, where only these will do."""
    phones: int = 1
    attempts: int = 1
    """Tries at most, however they are lost."""
    retry_lost: bool = False
    """An attempt that was lost with its host may be repeated: its actions may have been delivered."""
    once: bool = False
    """It says itself that it must not run twice."""


@dataclass(frozen=True, slots=True)
class FleetPhone:
    """One phone of a host, as the host tells it."""

    serial: str
    labels: Mapping[str, Any] = field(default_factory=dict)
    state: str = "free"
    """free, busy, away, held: by a person."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class HostHello:
    """Who a host is. `incarnation` is another one for every process."""

    name: str
    incarnation: str
    key: str
    """The public key of its journal: what makes it the same host."""
    about: Mapping[str, Any] = field(default_factory=dict)
    phones: Sequence[FleetPhone] = ()


@dataclass(frozen=True, slots=True)
class HandedUnit:
    """An attempt that a host was given."""

    unit: str
    attempt: int
    kind: str
    name: str
    body: Mapping[str, Any]
    phones: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


Fenced = tuple[str, int]
"""A unit and the number of its attempt."""


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """What a host says of the end of an attempt. Only a whole result wants to be accepted."""

    unit: str
    attempt: int
    ended: Ended
    result: Mapping[str, Any] | None = None
    why: str = ""
    last_entry: str = ""
    """Of the host's journal: where its traces end."""


class Ledger(Protocol):
    """One truth for the whole fleet. Every call is one transaction, and may be repeated."""

    def add_run(self, spec: Mapping[str, Any], units: Sequence[UnitSpec], by: str) -> str: ...

    def hello(self, host: HostHello) -> list[HandedUnit]:
        """A process of a host begins. What its earlier ones were given and did not report."""

    def claim(
        self, host: str, incarnation: str, ask: str, free: Sequence[FleetPhone], limit: int
    ) -> list[HandedUnit]:
        """Units for free phones. The same `ask` gets the same answer: one that was lost on its way is
        asked for again."""

    def check(self, host: str, incarnation: str) -> None:
        """Raises `StaleHost` unless this is the process that said hello last."""

    def beat(
        self, host: str, incarnation: str, held: Sequence[Fenced], phones: Sequence[FleetPhone]
    ) -> list[bool]:
        """The host lives, and works on these; whether each is still its own."""

    def report(self, host: str, report: AttemptReport) -> Answered: ...

    def stop(self, run: str) -> int:
        """Nothing more of this run is begun; who works on it is told at the next beat."""

    def sweep(self) -> list[Fenced]:
        """Give up what no host has named for the lease and the margin."""

    def drain(self, host: str, draining: bool) -> None: ...

    def forget(self, host: str) -> None: ...

    def runs(self, limit: int = 50) -> list[dict[str, Any]]: ...

    def run(self, run: str) -> dict[str, Any]: ...

    def units(self, run: str, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]: ...

    def attempts(self, unit: str) -> list[dict[str, Any]]: ...

    def hosts(self) -> list[dict[str, Any]]: ...

    def close(self) -> None: ...
