"""One phone, ready: a handset with its apps, the servers that can be started on it, and its snapshots."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from handrail_sim.apps import APPS, DEFAULT, OPTIONAL, from_apk, load
from handrail_sim.channels.attach import attach
from handrail_sim.clock import Clock
from handrail_sim.disk.files import Files
from handrail_sim.disk.image import fill_libraries
from handrail_sim.errors import BadSetting
from handrail_sim.handset import Handset
from handrail_sim.shell.apk.packing import packed_apk
from handrail_sim.system.activities import Activity, App
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
        "dialogs": [
            {"kind": process["kind"], "package": process["package"]} for process in phone.dialogs.open
        ],
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
            name: dict(process.granted)
            for name, process in phone.packages.installed.items()
            if process.granted
        },
        "processes": {name: process.pid for name, process in phone.packages.processes.items()},
        "apps": {cls.package: _app(phone, cls.package) for cls in phone.apps},
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.number,
        "package": task.package,
        "activities": [
            {"activity": short_component(activity.component), "state": _public(activity.state)}
            for activity in task.activities
        ],
    }


def _public(state: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.deepcopy(value) for name, value in state.items() if not name.startswith("_")}


def _app(phone: Handset, package: str) -> dict[str, Any]:
    """An app that does not run is asked all the same: its state is on disk."""
    running = phone.tasks.running.get(package)
    if running is not None:
        return running.state()
    asleep = phone.create_app(package)
    try:
        return asleep.state()
    finally:
        asleep.close()


# snapshot


def take(phone: Handset) -> dict[str, Any]:
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
        "dialogs": [
            entry for entry in phone.dialogs.open if is_plain(entry.get("then")) and "answer" not in entry
        ],
        "tasks": [_take_task(task, phone.now_ms()) for task in phone.tasks.tasks],
        "running": list(phone.tasks.running),
        "numbers": [phone.tasks.next_task, phone.tasks.next_token],
    }
    saved = copy.deepcopy(data)
    saved["files"] = phone.files.snapshot()
    return saved


def _take_task(task: Task, now_ms: float) -> dict[str, Any]:
    activities = [_take_activity(activity, now_ms) for activity in task.activities]
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
        "overlays": [overlay for overlay in activity.overlays if _is_data(overlay)],
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
    stop_everything(phone)
    phone.files.restore(snapshot["files"])
    data = copy.deepcopy({name: value for name, value in snapshot.items() if name != "files"})
    for name in FIELDS:
        setattr(phone, name, data[name])
    phone.random.setstate(data["random"])
    phone.display = type(phone.display)(**data["display"])
    phone.packages.load(data["packages"])
    phone.notifications.load(data["notifications"])
    for package in data["running"]:
        phone.tasks.app(package)
    phone.packages.load(data["packages"])
    for saved in data["tasks"]:
        phone.tasks.tasks.append(_restored_task(phone, saved))
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


def _restored_task(phone: Handset, saved: dict[str, Any]) -> Task:
    task = Task(saved["number"], saved["package"])
    task.used_ms = saved["used_ms"]
    for entry in saved["activities"]:
        activity = phone.tasks.create(Intent.from_dict(entry["intent"]))
        activity.state, activity.overlays = entry["state"], entry["overlays"]
        activity.then, activity.token = entry["then"], entry["token"]
        activity.window.memory, activity.window.focus = entry["memory"], entry["focus"]
        task.activities.append(activity)
        if entry["starting"]:
            activity.on_create()
    return task


def _arm_timers(phone: Handset, tasks: list[dict[str, Any]]) -> None:
    for saved in tasks:
        for entry in saved["activities"]:
            activity = phone.tasks.activity(entry["token"])
            for record in entry["timers"]:
                left = record.pop("left_ms")
                if activity is not None:
                    activity.arm(left, record)


def stop_everything(phone: Handset) -> None:
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


def give(phone: Handset, world: Mapping[str, Any]) -> None:
    """Every named app takes its part; one that runs shows it at once. Raises `BadSetting`."""
    for name, content in copy.deepcopy(dict(world)).items():
        package = APPS[name].package if name in APPS else ""
        if package not in phone.packages.installed:
            raise BadSetting(
                f"world: this phone has no app {str(name)!r}",
                path=f"world.{name}",
                hint=f"Apps: {', '.join(APPS)}.",
            )
        running = phone.tasks.running.get(package)
        app = running or phone.create_app(package)
        try:
            app.fill(content)
        finally:
            if running is None:
                app.close()
    phone.layout_changed()


class Phone(Handset):
    """A simulated Android phone."""

    display_class: ClassVar[type[Display]] = Display

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 1,
        serial: str = "handrail-sim",
        width: int = 1080,
        height: int = 2400,
        density: int = 420,
        apps: Sequence[str | type[App]] | None = None,
        world: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(clock, seed, serial, self.display_class(width, height, density))
        self.packages.make_app = from_apk.make
        self._install(
            apps if apps is not None else [*DEFAULT, *(name for name in OPTIONAL if name in (world or {}))]
        )
        self.tasks.home()
        attach(self)
        if world:
            self.give(world)
        self.boot_apps()

    def _install(self, apps: Sequence[str | type[App]] | None) -> None:
        names = None if apps is None else [name for name in apps if isinstance(name, str)]
        classes = [entry for entry in apps or () if not isinstance(entry, str)]
        packages = [self.packages.add_app(app) for app in [*load(names), *classes]]
        key = tuple(
            (entry.name, entry.uid, entry.label, self.packages.classes[entry.name].libraries)
            for entry in packages
        )
        self.files.fill_once(key, self._unpack)

    def _unpack(self, files: Files) -> None:
        for package in self.packages.installed.values():
            files.make_app_data(package.name, package.uid)
            app = self.packages.classes[package.name]
            fill_libraries(files, package.name, app.libraries)
            activity = app.launcher_component().partition("/")[2]
            files.mkdir(package.path.rpartition("/")[0], parents=True)
            files.write(package.path, packed_apk(package.name, package.label, activity, app.labels))

    def give(self, world: Mapping[str, Any]) -> None:
        """What its apps hold, by their short names: `{"notes": [{"title": "Oats"}]}`."""
        give(self, world)

    def state(self) -> dict[str, Any]:
        self.catch_up()
        return describe(self)

    def snapshot(self, name: str = "default") -> None:
        self.catch_up()
        self.snapshots[name] = take(self)

    def restore(self, name: str = "default") -> None:
        put_back(self, self.snapshots[name])

    def reboot(self) -> None:
        for hook in list(self.reboot_hooks):
            hook()
        reboot(self)
