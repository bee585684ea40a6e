"""What happened in the trouble app, written down for `sim state`, and what this phone's world says of it."""

from __future__ import annotations

from typing import Any

from handrail_sim.system.activities import Activity


def note(activity: Activity, words: str, page: str = "done") -> None:
    """Adds a line to `done` or `missed`."""
    kept = activity.app.prefs("trouble")
    kept[page] = f"{kept.get(page, '')}\n{words}".strip()


def told(activity: Activity, name: str, usual: Any) -> Any:
    """What the phone was given for this screen, or what every phone has."""
    return activity.phone.world.get(activity.app.package, {}).get(name, usual)
