"""The one way to the desk, for its own session and for a phone's: under which name, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.engine.events import Caller
from handrail.engine.run import DeskSurface
from handrail.protocol.act import Act

TAKEN = frozenset({"person", "console"})
"""Names that mean somebody on the desk: an agent that calls itself so gets another one there."""


async def on_desk(desk: DeskSurface, acts: Sequence[Act], caller: Caller) -> list[dict[str, Any]]:
    """The details of each; several are one change."""
    is_person = caller.actor == "person"
    by = caller.id if is_person else name_on_desk(caller.id)
    if len(acts) == 1:
        told = [await desk.apply(acts[0], by, is_person)]
    else:
        told = await desk.apply_batch(acts, by, is_person)
    return [_as_screenshot(details) for details in told]


def name_on_desk(agent: str) -> str:
    """What an agent is called there."""
    return f"agent {agent}" if agent in TAKEN else agent


def _as_screenshot(details: dict[str, Any]) -> dict[str, Any]:
    """A captured window is a picture like any other: a blob in the journal, an image at the doors."""
    if "imageData" not in details:
        return details
    return {("screenshotBase64" if name == "imageData" else name): told for name, told in details.items()}
