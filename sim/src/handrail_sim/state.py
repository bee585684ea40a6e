"""All of a phone as plain data, and a phone from such data: state, snapshot, restore, reboot."""

from __future__ import annotations

import copy
from typing import Any

from handrail_sim.handset import Handset
from handrail_sim.system.activities import Activity
from handrail_sim.system.calls import is_plain
from handrail_sim.system.display import Display
from handrail_sim.system.intents import Intent, short_component
from handrail_sim.system.tasks import Task

FIELDS = (
    "world",
    "settings",
    "services",
    "props",
    "clipboard",
    "volume",
    "battery",
    "call",
    "fingers",
    "awake",
    "ahead_ms",
    "accessibility_requested",
)


def describe(phone: Handset) -> dict[str, Any]:
    """What a test or a person may want to know."""
    top = phone.tasks.top
    window = phone.focused_window()
    return {
        "serial": phone.serial,
        "time_ms": phone.wall_ms(),
        "screen": phone.display.to_dict() | {"awake": phone.awake},
        "front": {
            "package": top.app.package if top else "",
            "activity": short_component(top.component) if top else "",
            "window": window.title if window else "",
            "state": _public(top.state) if top else {},
        },
        "tasks": [_task(task) for task in reversed(phone.tasks.tasks)],
        "dialogs": [{"kind": one["kind"], "package": one["package"]} for one in phone.dialogs.open],
        "keyboard": phone.ime.visible,
        "shade": phone.systemui.shade_open,
        "recents": phone.systemui.recents_open,
        "toast": phone.systemui.toast["text"] if phone.systemui.toast else "",
        "last_toast": phone.systemui.last_toast,
        "clipboard": phone.clipboard,
        "volume": phone.volume,
        "call": copy.deepcopy(phone.call),
        "notifications": phone.notifications.to_dict()["posted"],
        "settings": copy.deepcopy(phone.settings),
        "permissions": {
            name: dict(one.granted) for name, one in phone.packages.installed.items() if one.granted
        },
        "processes": {name: one.pid for name, one in phone.packages.processes.items()},
        "apps": {cls.package: _app(phone, cls.package) for cls in phone.apps},
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.number,
        "package": task.package,
        "activities": [
            {"activity": short_component(one.component), "state": _public(one.state)}
            for one in task.activities
        ],
    }


def _public(state: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.deepcopy(value) for name, value in state.items() if not name.startswith("_")}


def _app(phone: Handset, package: str) -> dict[str, Any]:
    """An app that does not run is asked all the same: its state is on disk."""
    running = phone.tasks.running.get(package)
    if running is not None:
        return running.state()
    asleep = phone.made(package)
    try:
        return asleep.state()
    finally:
        asleep.close()


# snapshot


def take(phone: Handset) -> dict[str, Any]:
    """Everything that decides how the phone goes on, as data that nobody else holds."""
    ui = phone.systemui
    data: dict[str, Any] = {
        **{name: getattr(phone, name) for name in FIELDS},
        "random": phone.random.getstate(),
        "taken_ms": phone.now_ms(),
        "display": phone.display.to_dict(),
        "packages": phone.packages.to_dict(),
        "notifications": phone.notifications.to_dict(),
        "ime": {"visible": phone.ime.visible, "layer": phone.ime.layer, "shift": phone.ime.shift},
        "ui": {"shade_open": ui.shade_open, "recents_open": ui.recents_open, "last_toast": ui.last_toast},
        "dialogs": [one for one in phone.dialogs.open if is_plain(one.get("then")) and "answer" not in one],
        "tasks": [_take_task(task, phone.now_ms()) for task in phone.tasks.tasks],
        "running": list(phone.tasks.running),
        "numbers": [phone.tasks.next_task, phone.tasks.next_token],
    }
    kept = copy.deepcopy(data)
    kept["files"] = phone.files.snapshot()
    return kept


def _take_task(task: Task, now_ms: float) -> dict[str, Any]:
    activities = [_take_activity(one, now_ms) for one in task.activities]
    return {"number": task.number, "package": task.package, "used_ms": task.used_ms, "activities": activities}


def _take_activity(activity: Activity, now_ms: float) -> dict[str, Any]:
    timers = [
        {**record, "left_ms": timer.due_ms - now_ms}
        for timer, record in activity.timers
        if not timer.cancelled and is_plain(record["call"])
    ]
    then = activity.then if activity.then is None or is_plain(activity.then["call"]) else None
    return {
        "intent": activity.intent.to_dict(),
        "state": activity.state,
        "overlays": [one for one in activity.overlays if _is_data(one)],
        "then": then,
        "token": activity.token,
        "starting": activity.starting,
        "memory": activity.window.memory,
        "focus": activity.window.focus,
        "timers": timers,
    }


def _is_data(overlay: dict[str, Any]) -> bool:
    calls = [overlay.get(name) for name in ("content", "then", "run")]
    calls += [call for _, call in overlay.get("buttons", []) + overlay.get("entries", [])]
    return all(is_plain(call) for call in calls)


def put_back(phone: Handset, snapshot: dict[str, Any]) -> None:
    """Make the phone what it was."""
    stop_everything(phone)
    phone.files.restore(snapshot["files"])
    data = copy.deepcopy({name: value for name, value in snapshot.items() if name != "files"})
    for name in FIELDS:
        setattr(phone, name, data[name])
    phone.random.setstate(data["random"])
    phone.display = Display(**data["display"])
    phone.packages.load(data["packages"])
    phone.notifications.load(data["notifications"])
    for package in data["running"]:
        phone.tasks.app(package)
    phone.packages.load(data["packages"])
    for kept in data["tasks"]:
        phone.tasks.tasks.append(_restored_task(phone, kept))
    phone.tasks.next_task, phone.tasks.next_token = data["numbers"]
    _arm_timers(phone, data["tasks"])
    phone.dialogs.open = data["dialogs"]
    for name, value in data["ui"].items():
        setattr(phone.systemui, name, value)
    phone.tasks.resumed = phone.tasks.top
    for name, value in data["ime"].items():
        setattr(phone.ime, name, value)
    phone.ime.window.invalidate()
    phone.layout_changed()
    phone.boot_apps()
    phone.emit("TYPE_WINDOW_STATE_CHANGED", phone.tasks.top.app.package if phone.tasks.top else "")


def _restored_task(phone: Handset, kept: dict[str, Any]) -> Task:
    task = Task(kept["number"], kept["package"])
    task.used_ms = kept["used_ms"]
    for one in kept["activities"]:
        activity = phone.tasks.create(Intent.from_dict(one["intent"]))
        activity.state, activity.overlays = one["state"], one["overlays"]
        activity.then, activity.token = one["then"], one["token"]
        activity.window.memory, activity.window.focus = one["memory"], one["focus"]
        task.activities.append(activity)
        if one["starting"]:
            activity.on_create()
    return task


def _arm_timers(phone: Handset, tasks: list[dict[str, Any]]) -> None:
    for kept in tasks:
        for one in kept["activities"]:
            activity = phone.tasks.activity(one["token"])
            for record in one["timers"]:
                left = record.pop("left_ms")
                if activity is not None:
                    activity.arm(left, record)


def stop_everything(phone: Handset) -> None:
    """No process, no timer, no window of an app is left."""
    phone.touch.cancel()
    phone.text_toolbar.hide()
    phone.motion.flings.clear()
    phone.timers.clear()
    for task in phone.tasks.tasks:
        for activity in task.activities:
            activity.finishing = True
            activity.timers.clear()
    for app in phone.tasks.running.values():
        app.close()
    phone.providers.close()
    phone.tasks.tasks.clear()
    phone.tasks.running.clear()
    phone.tasks.resumed = None
    phone.packages.end_all()
    phone.dialogs.open.clear()
    phone.systemui.reset()
    phone.ime.visible = False
    phone.health.reset()


def reboot(phone: Handset) -> None:
    """Everything ends and the home screen comes."""
    stop_everything(phone)
    phone.notifications.posted.clear()
    phone.call = None
    phone.display.rotation = 0
    phone.awake = True
    phone.accessibility_requested = False
    phone.log.clear()
    phone.new_boot()
    phone.tasks.home()
    phone.boot_apps()
