"""Monitors: how one comes into being, how large it is, and which one counts when nobody names any."""

from __future__ import annotations

from handrail.desk import geometry
from handrail.desk.alter import altered
from handrail.desk.draft import Draft, Reduced
from handrail.desk.state import DeskState, Monitor, Viewport
from handrail.errors import InvalidAction

MOST_MONITORS = 16


def ensure_monitor(draft: Draft, monitor_id: str) -> Monitor:
    """The monitor; it comes into being when it is first named."""
    known = draft.monitors.get(monitor_id)
    if known is not None:
        return known
    if "/" in monitor_id:
        raise InvalidAction(f"monitorId: {monitor_id!r:.80} has a slash", path="monitorId")
    if len(draft.monitors) >= MOST_MONITORS:
        raise InvalidAction(
            f"monitorId: {monitor_id!r:.80} would be one of more than {MOST_MONITORS} monitors",
            hint=f"Use one of {', '.join(draft.monitors)}.",
            path="monitorId",
        )
    monitor = Monitor(monitor_id)
    draft.set_monitor(monitor)
    return monitor


def show(state: DeskState, monitor_id: str, viewport: Viewport | None = None) -> Reduced:
    """A person looks at this monitor in a browser of this size: it is the active one from now on."""
    draft = Draft(state, 0)
    monitor = ensure_monitor(draft, monitor_id)
    draft.put("active_monitor", monitor_id)
    if viewport is not None and viewport != monitor.viewport:
        draft.set_monitor(altered(monitor, viewport=viewport))
        for window in state.windows.values():
            if window.birth.monitor_id == monitor_id:
                draft.change(window, bounds=geometry.refit(window, viewport))
    return draft.finish(())
