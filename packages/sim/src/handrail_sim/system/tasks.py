"""Tasks and the back stack: which activity is in front, what back, home and recents do.

The order of `tasks` is the order of recents, the front one last. Home is the launcher's task.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.system.activities import Activity, App, Context
from handrail_sim.system.calls import make, to_call
from handrail_sim.system.intents import Intent, StartResult, full_class, short_component, split_component

TRANSITION_MS = 200.0
HOME = "com.android.launcher3"


class Task:
    """Activities on top of each other, with the package that began it."""

    def __init__(self, number: int, package: str) -> None:
        self.number = number
        self.package = package
        self.activities: list[Activity] = []
        self.used_ms = 0.0

    @property
    def top(self) -> Activity | None:
        return self.activities[-1] if self.activities else None


class Tasks:
    """All tasks of a phone and the running apps behind them."""

    def __init__(self, phone: Context) -> None:
        self.phone = phone
        self.tasks: list[Task] = []
        self.running: dict[str, App] = {}
        self.resumed: Activity | None = None
        self.next_task = 1
        self.next_token = 1
        self.allowed: Callable[[str], bool] | None = None
        """Which packages may be started at all, while somebody such as monkey watches."""

    # looking

    @property
    def front(self) -> Task | None:
        return self.tasks[-1] if self.tasks else None

    @property
    def top(self) -> Activity | None:
        return self.front.top if self.front else None

    def recent(self) -> list[Task]:
        """Tasks as the recents screen shows them: the last used first, home left out."""
        return [task for task in reversed(self.tasks) if task.package != HOME]

    def open_activities(self) -> list[Activity]:
        return [activity for task in self.tasks for activity in task.activities]

    def activity(self, token: int) -> Activity | None:
        return next((entry for entry in self.open_activities() if entry.token == token), None)

    def app(self, package: str) -> App:
        """The running app, started if it is not."""
        existing = self.running.get(package)
        if existing is None:
            existing = self.phone.create_app(package)
            self.running[package] = existing
            process = self.phone.packages.start_process(package, self.phone.now_ms())
            self.phone.logcat(
                "I", "ActivityManager", f"Start proc {process.pid}:{package}/u0a{process.uid - 10000}"
            )
            existing.on_create()
        return existing

    # moving

    def start(
        self, intent: Intent, *, caller: Activity | None = None, then: Callable[..., object] | None = None
    ) -> StartResult:
        if not intent.component:
            names = self.phone.packages.resolve(intent)
            if not names:
                return StartResult("unresolved")
            if len(names) > 1:
                self.phone.choose_app(intent, names, caller)
                return StartResult("chooser", "android/com.android.internal.app.ResolverActivity")
            intent.component = names[0]
        package, name = split_component(intent.component)
        intent.component = self.phone.packages.component(package, name)
        if not intent.component:
            return StartResult("not_found", f"{package}/{name}")
        if self.allowed is not None and not self.allowed(package):
            return StartResult("canceled", intent.component)
        cold = package not in self.running
        self.phone.logcat(
            "I", "ActivityTaskManager", f"START u0 {{cmp={intent.component}}} with result code=0"
        )
        if caller is None:
            return self._start_from_outside(intent, package, cold)
        waits = self._push(self._task_of(caller), intent, caller, then)
        return StartResult("started", intent.component, waits, cold)

    def _task_of(self, caller: Activity) -> Task:
        return next((task for task in self.tasks if caller in task.activities), self.tasks[-1])

    def _start_from_outside(self, intent: Intent, package: str, cold: bool) -> StartResult:
        task = next((task for task in self.tasks if task.package == package and task.activities), None)
        if task is None:
            task = Task(self.next_task, package)
            self.next_task += 1
            self.tasks.append(task)
            return StartResult("started", intent.component, self._push(task, intent), cold)
        was_front = task is self.front
        self.tasks.remove(task)
        self.tasks.append(task)
        if intent.component == task.activities[0].component and (
            intent.action in ("", "android.intent.action.MAIN") and not intent.extras and not intent.data
        ):
            self.settle()
            return StartResult("delivered" if was_front else "brought_to_front", intent.component)
        top = task.top
        if top is not None and top.single_top and top.component == intent.component:
            top.intent = intent
            top.on_new_intent(intent)
            top.changed()
            self.settle()
            return StartResult("delivered", intent.component)
        return StartResult("started", intent.component, self._push(task, intent), cold)

    def launch(self, package: str) -> StartResult:
        component = self.phone.packages.component(package)
        if not component:
            return StartResult("unresolved")
        return self.start(Intent(component, "android.intent.action.MAIN", categories=(LAUNCHER,)))

    def create(self, intent: Intent) -> Activity:
        """An activity object for an intent, not yet in any task."""
        package, name = split_component(intent.component)
        app = self.app(package)
        for own, cls in app.activities.items():
            if full_class(package, own) == name:
                activity = cls(self.phone, app, intent)
                activity.name = own
                activity.token = self.next_token
                self.next_token += 1
                return activity
        raise LookupError(intent.component)

    def _push(
        self,
        task: Task,
        intent: Intent,
        caller: Activity | None = None,
        then: Callable[..., object] | None = None,
    ) -> int:
        """Put a new activity on a task; returns the ms until it is there, more than 0 by a fault only."""
        waits = self._cold_start_ms(intent)
        activity = self.create(intent)
        if caller is not None and then is not None:
            activity.then = {"activity": caller.token, "call": to_call(caller, then)}
        activity.started_ms = self.phone.now_ms()
        task.activities.append(activity)
        activity.starting = waits > 0
        if activity.starting:
            self.phone.later(waits, lambda: self.ready(activity))
        else:
            self._created(activity)
        self.settle()
        return waits

    def _created(self, activity: Activity) -> None:
        """The app's code runs, and both the app and the system write to the log as they do."""
        self._log(activity, "onCreate")
        activity.on_create()
        took = int(self.phone.now_ms() - activity.started_ms)
        shown = short_component(activity.component)
        self.phone.logcat("I", "ActivityTaskManager", f"Displayed {shown} for user 0: +{took}ms")

    def _log(self, activity: Activity, what: str) -> None:
        name = activity.component.rpartition(".")[2]
        self.phone.logcat("D", name, what, activity.app.package)

    def _cold_start_ms(self, intent: Intent) -> int:
        package, _ = split_component(intent.component)
        if package in self.running or package == HOME:
            return 0
        fault = self.phone.faults.get("slow_app_start")
        return int(fault["ms"]) if fault is not None else 0

    def ready(self, activity: Activity) -> None:
        """A slow start ends: only now does the app's own code run."""
        if not activity.starting or activity.finishing:
            return
        activity.starting = False
        self._created(activity)
        if activity is self.resumed:
            activity.on_resume()
        activity.changed()
        self.phone.window_opened(activity.app.package, TRANSITION_MS)

    def finish(self, activity: Activity, result: Any = None) -> None:
        if activity.finishing:
            return
        activity.finishing = True
        activity.stop_timers()
        task = self._task_of(activity)
        task.activities.remove(activity)
        if activity is self.resumed:
            if not activity.starting:
                activity.on_pause()
            self.resumed = None
        if not task.activities:
            self.tasks.remove(task)
            # What comes next is home, not the task below; a call's screen came over that one.
            if task.package != HOME and not activity.interrupts:
                self._raise_home()
        if activity.then is not None:
            asker = self.activity(activity.then["activity"])
            if asker is not None:
                make(asker, activity.then["call"], result)
                asker.changed()
        self.settle()

    def _raise_home(self) -> None:
        home = next((task for task in self.tasks if task.package == HOME), None)
        if home is not None:
            self.tasks.remove(home)
            self.tasks.append(home)
        elif HOME in self.phone.packages.installed:
            task = Task(self.next_task, HOME)
            self.next_task += 1
            self.tasks.append(task)
            component = self.phone.packages.classes[HOME].launcher_component()
            self._push(task, Intent(component, "android.intent.action.MAIN"))

    def home(self) -> None:
        self._raise_home()
        top = self.top
        if top is not None and top.app.package == HOME:
            top.on_new_intent(Intent(top.component, "android.intent.action.MAIN"))
            top.changed()
        self.settle()

    def back(self) -> None:
        """The back key when no dialog, keyboard or shade wanted it."""
        top = self.top
        if top is None or (not top.starting and top.back()):
            self.phone.touched_app()
            return
        if top.app.package == HOME:
            return
        self.finish(top)

    def to_front(self, task: Task) -> None:
        self.tasks.remove(task)
        self.tasks.append(task)
        self.settle()

    def remove(self, task: Task) -> None:
        was_front = task is self.front
        self.tasks.remove(task)
        for activity in task.activities:
            self._forget(activity)
        if was_front:
            self._raise_home()
        self.settle()

    def _forget(self, activity: Activity) -> None:
        activity.finishing = True
        activity.stop_timers()
        if activity is self.resumed:
            self.resumed = None

    def end_app(self, package: str) -> bool:
        """The process goes, with everything it showed; true if it ran."""
        front = self.top
        for task in list(self.tasks):
            for activity in [entry for entry in task.activities if entry.app.package == package]:
                self._forget(activity)
                task.activities.remove(activity)
            if not task.activities:
                self.tasks.remove(task)
        app = self.running.pop(package, None)
        if app is not None:
            app.close()
        ran = self.phone.packages.end_process(package)
        if (
            front is not None
            and front.app.package == package
            and (self.front is None or self.top is not front)
        ):
            self._raise_home()
        self.settle()
        return ran

    def recreate(self) -> None:
        """Activities are made anew from their state, as Android does when the configuration changes."""
        for task in self.tasks:
            task.activities[:] = [self._again(activity) for activity in task.activities]
        self.resumed = self.top
        self.phone.activities_recreated()
        self.phone.emit("TYPE_WINDOW_STATE_CHANGED", self.top.app.package if self.top else "")

    def _again(self, old: Activity) -> Activity:
        activity = type(old)(self.phone, old.app, old.intent)
        activity.take_over(old)
        now = self.phone.now_ms()
        for timer, record in old.timers:
            if not timer.cancelled:
                timer.cancel()
                activity.arm(timer.due_ms - now, record)
        old.finishing = True
        return activity

    def settle(self) -> None:
        top = self.top
        if top is self.resumed or top is None:
            return
        before, self.resumed = self.resumed, top
        if before is not None and not before.finishing and not before.starting:
            self._log(before, "onPause")
            before.on_pause()
        self.phone.front_changed()
        self.phone.window_opened(top.app.package, TRANSITION_MS)
        self.phone.apply_rotation()
        if self.front is not None:
            self.front.used_ms = self.phone.now_ms()
        if not top.starting:
            self._log(top, "onResume")
            top.on_resume()
        top.changed()


LAUNCHER = "android.intent.category.LAUNCHER"
