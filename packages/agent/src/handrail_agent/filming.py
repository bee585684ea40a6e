"""A run of an agent as scenes of a film: the pictures of its folder, the touches that the journal knows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError
from handrail.film.scene import FilmScene, FilmTone, Picture, touch_of
from handrail.journal import Journal
from handrail_agent.run_data import GOOD, AgentStep, StepOutcome

_WORDS: dict[StepOutcome, str] = {
    "changed": "done, not verified",
    "unchanged": "done, nothing changed",
    "refused": "refused",
    "malformed": "not understood",
    "blocked": "held back",
}
"""How an outcome is said where its own word says too little."""
_NO_PICTURE = "The screen is not shown: a secret was used, or no picture was taken"


def agent_scenes(steps: Sequence[AgentStep], folder: Path, journal: Journal) -> list[FilmScene]:
    pictures = [_picture(step, folder, journal) for step in steps]
    began = _moment(steps[0]) if steps else 0.0
    scenes = []
    for at, step in enumerate(steps):
        # What was done, without what came of it: that is the verdict.
        done = step.told.partition(": ")[0] if step.code else step.told.rpartition(": ")[0]
        title, verdict = done or step.told or step.kind, _WORDS.get(step.outcome, step.outcome)
        tone: FilmTone = "plain" if step.outcome in GOOD or step.outcome == "unchanged" else "bad"
        scenes.append(
            FilmScene(
                number=str(step.number),
                title=title[:1].upper() + title[1:],
                reason=step.thought,
                verdict=f"{verdict}: {step.code}" if step.code else verdict,
                tone="good" if step.outcome == "verified" else tone,
                started_ms=max(0.0, _moment(step) - began),
                duration_ms=step.ms,
                before=pictures[at],
                after=pictures[at + 1] if at + 1 < len(steps) else None,
                touch=touch_of(_envelope(journal, step.action_id)),
            )
        )
    return scenes


def _envelope(journal: Journal, action_id: str | None) -> dict[str, Any]:
    try:
        return (journal.show(action_id).envelope if action_id else None) or {}
    except HandrailError:  # the journal of another home
        return {}


def _picture(step: AgentStep, folder: Path, journal: Journal) -> Picture:
    """Details of the step's own picture say how large the screen is."""
    size = (0, 0)
    for action_id in step.action_ids:
        details = _envelope(journal, action_id).get("details") or {}
        if "width" in details and "region" not in details:
            size = (int(details["width"]), int(details["height"]))
            break
    try:
        return Picture((folder / step.picture).read_bytes() if step.picture else None, *size, _NO_PICTURE)
    except OSError:
        return Picture(None, why_not=_NO_PICTURE)


def _moment(step: AgentStep) -> float:
    try:
        return datetime.fromisoformat(step.at).timestamp() * 1000
    except ValueError:
        return 0.0
