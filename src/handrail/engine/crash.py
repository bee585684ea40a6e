"""Whether the app died under an action: its crash dialog is up, or its process is gone without a word."""

from __future__ import annotations

from typing import Any

from handrail.engine.look.looks import Look
from handrail.engine.run import Stage
from handrail.errors import AppCrashed
from handrail.surface.capabilities import HealthCapability
from handrail.tree.dialogs import ScreenDialog

CRASH_LINES = 20
"""Lines of the log that an envelope holds."""


async def look_for_crash(stage: Stage) -> None:
    """Raises `AppCrashed`. Costs a round trip only where the app that was in front is not there any more."""
    run, health = stage.run, stage.health
    if health is None or run.before is None or run.after is None or run.before is run.after:
        return
    app = health.app_in_front(run.before.screen)
    dialog = _crash_dialog(run.after)
    if dialog is not None and _crash_dialog(run.before) is None:
        raise await _crashed(health, app, dialog.title, None, dialog=dialog.to_dict())
    if not app or app == health.app_in_front(run.after.screen) or run.action.leaves_app:
        return
    if await health.has_died(app):
        # An older crash is not the reason for this end.
        age_ms = stage.clock.monotonic_ms() - run.started_ms
        raise await _crashed(health, app, f"The process of {app} is gone", age_ms)


def _crash_dialog(seen: Look) -> ScreenDialog | None:
    return next((one for one in seen.reading.dialogs if one.kind in ("crash", "anr")), None)


async def _crashed(
    health: HealthCapability, app: str, says: str, within_ms: float | None, **details: Any
) -> AppCrashed:
    words = await health.last_words(app, within_ms) if app else None
    log = list(words.lines[:CRASH_LINES]) if words else None
    summary = f"{says}: {words.summary}" if words else says
    return AppCrashed(summary, package=app, log=log, **details)
