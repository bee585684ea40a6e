"""How dumps name things: hash codes, records, rectangles, times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from handrail_sim.system.intents import short_component

if TYPE_CHECKING:
    from handrail_sim.system.activities import Activity
    from handrail_sim.system.tasks import Task
    from handrail_sim.view.windows import Window


def hash_code(kind: int, number: int) -> str:
    """A stable stand-in for identityHashCode: seven hex digits."""
    return f"{(number * 0x9E3779B1 + kind * 0x85EBCA6B) & 0xFFFFFFF:x}"


def window_name(window: Window) -> str:
    """`Window{1a2b3c4 u0 com.example/com.example.Main}`."""
    return f"Window{{{hash_code(1, window.number)} u0 {window_title(window)}}}"


def window_title(window: Window) -> str:
    """What WindowManager calls a window."""
    titles = {
        "ime": "InputMethod",
        "status_bar": "StatusBar",
        "navigation_bar": "NavigationBar0",
        "toast": "Toast",
    }
    titles |= {"shade": "NotificationShade", "menu": f"PopupWindow:{hash_code(5, window.number)}"}
    return titles.get(window.type, window.title or window.component or window.package)


def activity_record(activity: Activity, task: Task | None) -> str:
    """`ActivityRecord{1a2b3c4 u0 com.example/.Main t12}`."""
    end = f" t{task.number}" if task else ""
    return f"ActivityRecord{{{hash_code(2, activity.token)} u0 {short_component(activity.component)}{end}}}"


def moment(epoch_ms: int) -> str:
    """A wall-clock time in UTC."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def rect(bounds: tuple[int, int, int, int]) -> str:
    """`[left,top][right,bottom]`."""
    left, top, right, bottom = bounds
    return f"[{left},{top}][{right},{bottom}]"
