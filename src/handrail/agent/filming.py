"""A run of an agent as scenes of a film: the pictures of its folder, the touches that the journal knows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from handrail.agent.run_data import GOOD, AgentStep, StepOutcome
from handrail.errors import HandrailError
from handrail.film.scene import FilmScene, FilmTone, Picture, touch_of
from handrail.journal import Journal

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
    envelopes = [_envelope(journal, step) for step in steps]
    pictures = [_picture(step, folder, _size(journal, step)) for step in steps]
    began = _moment(steps[0]) if steps else 0.0
    return [
        FilmScene(
            number=str(step.number),
            title=_title(step),
            reason=step.thought,
            verdict=_verdict(step),
            tone=_tone(step),
            started_ms=max(0.0, _moment(step) - began),
            duration_ms=step.ms,
            before=pictures[at],
            after=pictures[at + 1] if at + 1 < len(steps) else None,
            touch=touch_of(envelopes[at]),
        )
        for at, step in enumerate(steps)
    ]


def _envelope(journal: Journal, step: AgentStep) -> dict[str, Any]:
    try:
        return (journal.show(step.action_id).envelope if step.action_id else None) or {}
    except HandrailError:  # the journal of another home
        return {}


def _size(journal: Journal, step: AgentStep) -> tuple[int, int]:
    """Of the screen: the details of the step's own picture say it."""
    for action_id in step.action_ids:
        try:
            details = (journal.show(action_id).envelope or {}).get("details") or {}
        except HandrailError:
            continue
        if "width" in details and "region" not in details:
            return int(details["width"]), int(details["height"])
    return 0, 0


def _picture(step: AgentStep, folder: Path, size: tuple[int, int]) -> Picture:
    try:
        return Picture((folder / step.picture).read_bytes() if step.picture else None, *size, _NO_PICTURE)
    except OSError:
        return Picture(None, why_not=_NO_PICTURE)


def _title(step: AgentStep) -> str:
    """What was done, without what came of it: that is the verdict."""
    title = step.told.partition(": ")[0] if step.code else step.told.rpartition(": ")[0]
    words = title or step.told or step.kind
    return words[:1].upper() + words[1:]


def _verdict(step: AgentStep) -> str:
    words = _WORDS.get(step.outcome, step.outcome)
    return f"{words}: {step.code}" if step.code else words


def _tone(step: AgentStep) -> FilmTone:
    if step.outcome == "verified":
        return "good"
    return "plain" if step.outcome in GOOD or step.outcome == "unchanged" else "bad"


def _moment(step: AgentStep) -> float:
    try:
        return datetime.fromisoformat(step.at).timestamp() * 1000
    except ValueError:
        return 0.0
