"""What happened in the trouble app, written down for `sim state`; it outlives crashes."""

from __future__ import annotations

from handrail_sim.system.activities import Activity


def note(activity: Activity, words: str, page: str = "done") -> None:
    """Adds a line to `done` or `missed`."""
    kept = activity.app.prefs("trouble")
    kept[page] = f"{kept.get(page, '')}\n{words}".strip()
