"""What can be done as one unit: a kind is a name and somebody who runs its data. Units carry no code.

A kind is found by its name in `KINDS`, on the host: whoever hands units in can only choose from it.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from handrail.clock import Clock
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.runtime import Runtime
from handrail.safety.caller import Caller

KINDS: dict[str, str] = {
    "flow": "handrail_fleet.flow_unit:FlowKind",
    "task": "handrail_fleet.task_unit:TaskKind",
}
"""Name → where it lives. Imported on a host that is given one."""
MOST_ARTEFACT = 64 * 1024 * 1024
"""Bytes of one file that a unit leaves behind."""


@dataclass(slots=True)
class UnitStage:
    """What a unit has on its host: phones, a folder of its own, and a place for what it leaves behind."""

    runtime: Runtime
    clock: Clock
    sessions: Sequence[Session]
    caller: Caller
    folder: Path
    own_phones: bool
    """They are simulated, and nobody else's."""
    renew: Callable[[], None]
    """Puts simulated phones back to how they were."""
    artefacts: dict[str, bytes] = field(default_factory=dict)
    said: str = ""
    """How far it is, for the table."""

    def keep(self, data: bytes) -> str:
        """The name under which the head will have it: its hash."""
        if len(data) > MOST_ARTEFACT:
            raise InvalidAction(f"{len(data):,} bytes are too many for one file of a unit")
        name = hashlib.sha256(data).hexdigest()
        self.artefacts[name] = data
        return name


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What came of it: `data` is small, whatever is large is an artefact that it names."""

    outcome: str
    message: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"outcome": self.outcome, "message": self.message, **self.data}


class UnitKind(Protocol):
    """Somebody who runs units of one kind. Cancelled, it ends soon, and its result says `stopped`."""

    async def run(self, body: Mapping[str, Any], stage: UnitStage) -> UnitResult: ...


def kind_of(name: str) -> UnitKind:
    """Raises `InvalidAction` for one that this host does not know."""
    if name not in KINDS:
        raise InvalidAction(
            f"There is no kind of unit called {name!r:.60}", hint=f"There are {', '.join(KINDS)}."
        )
    module, _, attribute = KINDS[name].partition(":")
    made: UnitKind = getattr(importlib.import_module(module), attribute)()
    return made
