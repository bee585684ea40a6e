"""How dumps name things: hash codes, records, rectangles, times."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail_sim.resources import table
from handrail_sim.system.activities import Activity
from handrail_sim.system.device import Device
from handrail_sim.system.intents import short_component
from handrail_sim.system.releases import release_of
from handrail_sim.system.tasks import Task
from handrail_sim.system.users import user_of
from handrail_sim.system.vendors import vendor_of
from handrail_sim.view.windows import Window

FIRST_SYSTEM = 2000
TYPES = table("shell/dumpsys/window_types.toml")


def hash_code(kind: int, number: int) -> str:
    """A stable stand-in for identityHashCode: seven hex digits."""
    return f"{(number * 0x9E3779B1 + kind * 0x85EBCA6B) & 0xFFFFFFF:x}"


def type_number(window: Window) -> int:
    number: int = TYPES["numbers"].get(window.type, 2)
    return number


def window_name(phone: Device, window: Window) -> str:
    """`Window{1a2b3c4 u0 com.example/com.example.Main}`; some makers say more."""
    vendor, number = vendor_of(phone), type_number(window)
    before = vendor.system_window.format(package=window.package) if number >= FIRST_SYSTEM else ""
    code = f"{before}{hash_code(1, window.number)}"
    return f"Window{{{code} u{window.user} {window_title(window)}{vendor.window_words.format(type=number)}}}"


def window_title(window: Window) -> str:
    titles = {
        "ime": "InputMethod",
        "status_bar": "StatusBar",
        "navigation_bar": "NavigationBar0",
        "toast": "Toast",
    }
    titles |= {"shade": "NotificationShade", "menu": f"PopupWindow:{hash_code(5, window.number)}"}
    return titles.get(window.type, window.title or window.component or window.package)


def activity_record(activity: Activity, task: Task | None) -> str:
    """`ActivityRecord{1a2b3c4 u0 com.example/.Main t12}`, in the words of the phone's version."""
    release = release_of(activity.phone)
    code = hash_code(2, activity.token)
    return release.record.format(
        code=int(code, 16) if release.record_in_decimal else code,
        user=user_of(activity.phone, activity.app.package),
        name=short_component(activity.component),
        task=task.number if task else 0,
    )


def focused_app(activity: Activity, task: Task | None) -> str:
    record = activity_record(activity, task)
    return release_of(activity.phone).focused_app.format(code=hash_code(12, activity.token), record=record)


def moment(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def rect(bounds: tuple[int, int, int, int]) -> str:
    """`[left,top][right,bottom]`."""
    left, top, right, bottom = bounds
    return f"[{left},{top}][{right},{bottom}]"
