"""Where a killed run goes on: its folder and the journal are brought to agree before the next step.

Every action of a run has the run's name as its actor. What the journal has and the folder lacks was done by a
step that died before it was written down; it becomes a step of its own, so that it is not done twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handrail.agent.history import line_of
from handrail.agent.run_data import AgentStep, RunFolder, StepOutcome
from handrail.clock import iso_time
from handrail.errors import InvalidAction
from handrail.journal import Journal
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import GetUiTree, Screenshot
from handrail.protocol.read import action_from

_LOOKS: tuple[type[Act], ...] = (GetUiTree, Screenshot)
"""What the loop does by itself; alone they are no step."""


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run as it was left."""

    task: Mapping[str, Any]
    steps: tuple[AgentStep, ...]
    recovered: int = 0
    """Steps that only the journal knew."""


def load_run(folder: RunFolder, journal: Journal) -> SavedRun:
    """Read a run's folder, and write into it what the journal has besides."""
    task, steps = folder.task(), folder.steps()
    folder.mend()
    action_ids = {id_ for step in steps for id_ in step.action_ids}
    lives: dict[str, list[dict[str, Any]]] = {}
    for line in journal.export(since=_since(task)):
        event = json.loads(line)
        if "action_id" not in event or (event.get("actor") or {}).get("id") != folder.id:
            continue
        if event["action_id"] not in action_ids:
            lives.setdefault(event["action_id"], []).append(event)
    number = steps[-1].number if steps else 0
    made = _recovered(list(lives.values()), number)
    for step in made:
        folder.add(step)
    return SavedRun(task, (*steps, *made), len(made))


def _since(task: Mapping[str, Any]) -> int | None:
    """When the run began, in ms: nothing before it can be its own."""
    try:
        return int(datetime.fromisoformat(str(task.get("started"))).timestamp() * 1000)
    except ValueError:
        return None


def _recovered(lives: Sequence[list[dict[str, Any]]], number: int) -> list[AgentStep]:
    """One step per act, with the looks before it; looks that led to nothing go with the last one."""
    made: list[AgentStep] = []
    looks: list[str] = []
    for events in lives:
        first = events[0]
        if ACTIONS.get(str((first.get("action") or {}).get("type"))) in _LOOKS:
            looks.append(first["action_id"])
            continue
        number += 1
        made.append(_step(events, number, (*looks, first["action_id"])))
        looks.clear()
    if looks:
        note = "Looked at the screen; the run was interrupted before anything was chosen."
        made.append(AgentStep(number + 1, "", None, "unfinished", note, action_ids=tuple(looks)))
    return made


def _step(events: list[dict[str, Any]], number: int, ids: tuple[str, ...]) -> AgentStep:
    first, last = events[0], events[-1]
    action = first.get("action") or {}
    envelope = last.get("envelope")
    line, came, code = _line_outcome_code(action, envelope)
    return AgentStep(
        number=number,
        thought=str(first.get("reason") or ""),
        action=action,
        outcome=came,
        told=line,
        code=code,
        action_id=first["action_id"],
        action_ids=ids,
        at=iso_time(int(first["at_ms"])),
    )


def _line_outcome_code(
    action: Mapping[str, Any], envelope: Mapping[str, Any] | None
) -> tuple[str, StepOutcome, str | None]:
    kind = str(action.get("type"))
    if envelope is None:
        return f"{kind}: interrupted, it may have been done; look before you repeat it", "unfinished", None
    ended = Envelope.model_validate(envelope)
    try:
        line = line_of(action_from(dict(action)), ended)
    except InvalidAction:  # written by another version
        line = kind
    came: StepOutcome = (
        "verified" if ended.lifecycle_state == "verified" else "done" if ended.success else "failed"
    )
    return f"{line} (before an interruption)", came, ended.failure_code
