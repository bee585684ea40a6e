"""A screen that was read for this action: a slow channel's last may serve to compare, not to search in."""

from __future__ import annotations

from handrail.engine.sight import Seen
from handrail.engine.stage import Stage


async def fresh(stage: Stage) -> Seen:
    """The screen before the dispatch, read again if it is older than the action."""
    run = stage.run
    if run.before is None or run.before.began_ms < run.started_ms:
        run.before = await stage.look()
    return run.before
