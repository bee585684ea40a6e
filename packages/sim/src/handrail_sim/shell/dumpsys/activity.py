"""`dumpsys activity [activities|top|processes|recents|…]`: tasks, records and processes."""

from __future__ import annotations

from collections.abc import Callable

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import activity_record, hash_code, rect
from handrail_sim.system.activities import Activity
from handrail_sim.system.intents import short_component, split_component
from handrail_sim.system.releases import release_of
from handrail_sim.system.tasks import HOME, Task
from handrail_sim.system.users import uid_for, user_of
from handrail_sim.view.view import View


def activities(call: Call) -> str:
    tasks = call.phone.tasks
    lines = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)"]
    for panel in call.phone.displays.logical():
        lines.append(f"Display #{panel.number} (activities from top to bottom):")
        for task in reversed(tasks.tasks) if panel.number == 0 else ():
            lines += _stack(call, task)
    top, front = tasks.top, tasks.front
    lines.append(f"  ResumedActivity: {activity_record(top, front) if top else 'null'}")
    if front is not None:
        code = hash_code(7, front.number)
        stack = f"ActivityStack{{{code} stackId={front.number} type=standard mode=fullscreen"
        lines.append(
            f"  mFocusedStack={stack} visible=true translucent=false, 1 tasks}} mLastFocusedStack={stack}}}"
        )
    return "\n".join([*lines, "  mSleepTimeout=false", ""]) + "\n"


def _stack(call: Call, task: Task) -> list[str]:
    kind = "home" if task.package == HOME else "standard"
    user = user_of(call.phone, task.package)
    record = f"TaskRecord{{{hash_code(7, task.number)} #{task.number} A={task.package} U={user} "
    record += f"StackId={task.number} sz={len(task.activities)}}}"
    lines = [
        "",
        f"  Stack #{task.number}: type={kind} mode=fullscreen",
        "  isSleeping=false",
        "  mBounds=Rect(0, 0 - 0, 0)",
        f"    Task id #{task.number}",
        "    mBounds=Rect(0, 0 - 0, 0)",
        "    mMinWidth=-1",
        "    mMinHeight=-1",
        f"    * {record}",
        f"      userId={user} effectiveUid=10000 mCallingUid=2000 mUserSetupComplete=true",
    ]
    purpose = "act=android.intent.action.MAIN cat=[android.intent.category.HOME] " if kind == "home" else ""
    numbers = range(len(task.activities) - 1, -1, -1)
    for number in numbers:
        activity = task.activities[number]
        lines += [
            f"      * Hist #{number}: {activity_record(activity, task)}",
            f"          packageName={activity.app.package} processName={activity.app.package}",
            f"          Intent {{ {purpose}cmp={short_component(activity.component)} }}",
            f"          frontOfTask={str(number == 0).lower()} task={record}",
        ]
    lines += ["", "    Running activities (most recent first):", f"      {record}"]
    lines += [
        f"        Run #{number}: {activity_record(task.activities[number], task)}" for number in numbers
    ]
    if task is call.phone.tasks.front and task.top is not None:
        reply = release_of(call.phone).resumed.format(record=activity_record(task.top, task))
        lines += ["", f"    {reply}"]
    return lines


async def run(call: Call, args: list[str]) -> int:
    """`dumpsys activity [SECTION|COMPONENT]`."""
    names = [arg for arg in args if not arg.startswith("-")]
    if not names:
        for section in (_intents, _broadcasts, _services, _recents, _starter, _activities, _processes):
            await call.out(section(call, "") + "-" * 79 + "\n")
        return 0
    if names[0] in SECTIONS:
        return await call.out(SECTIONS[names[0]](call, names[1] if names[1:] else ""))
    wanted = names[0].removeprefix("activity")
    text = _top(call, wanted)
    return await call.out(
        text
        if "ACTIVITY" in text
        else f"Bad activity command, or no activities match: {names[0]}\nUse -h for help.\n"
    )


def task_name(call: Call, task: Task) -> str:
    """`Task{1a2b3c4 #12 type=standard A=10100:com.example}`."""
    package = call.phone.packages.installed.get(task.package)
    kind = "home" if task.package == HOME else "standard"
    return (
        f"Task{{{hash_code(7, task.number)} #{task.number} type={kind} "
        f"A={uid_for(call.phone, task.package, package.uid) if package else 1000}:{task.package}"
    )


def _activities(call: Call, _: str) -> str:
    tasks = call.phone.tasks
    if release_of(call.phone).stacks:
        return activities(call)
    lines = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)"]
    for panel in call.phone.displays.logical():
        lines.append(f"Display #{panel.number} (activities from top to bottom):")
        for task in reversed(tasks.tasks) if panel.number == 0 else ():
            lines += _task(call, task)
    top, front = tasks.top, tasks.front
    resumed = activity_record(top, front) if top else "null"
    if release_of(call.phone).resumed_areas:
        lines += [
            "",
            "  Resumed activities in task display areas (from top to bottom):",
            f"    Resumed: {resumed}",
        ]
    lines.append("")
    lines += [f"  ResumedActivity: {resumed}", "", "ActivityTaskSupervisor state:"]
    if front:
        lines.append(f"  topDisplayFocusedRootTask={task_name(call, front)}}}")
    lines += [
        "  mLastOrientationSource=null",
        "  KeyguardController:",
        "    mKeyguardShowing=false",
        "    mAodShowing=false",
    ]
    return "\n".join([*lines, "  mSleepTimeout=false", ""]) + "\n"


def _task(call: Call, task: Task) -> list[str]:
    visible = str(task is call.phone.tasks.front).lower()
    lines = [
        f"  * {task_name(call, task)} U={user_of(call.phone, task.package)} visible={visible} "
        f"visibleRequested={visible} mode=fullscreen "
        f"translucent={str(visible == 'false').lower()} sz={len(task.activities)}}}",
        "    mLastPausedActivity: null",
        "    mLastNonFullscreenBounds=null",
        "    isSleeping=false",
    ]
    if task is call.phone.tasks.front and task.top is not None:
        record = activity_record(task.top, task)
        lines.append(f"    {release_of(call.phone).resumed.format(record=record)}")
    for number in range(len(task.activities) - 1, -1, -1):
        lines += _record(call, task, number)
    return [*lines, ""]


def _record(call: Call, task: Task, number: int) -> list[str]:
    activity = task.activities[number]
    package = activity.app.package
    front = activity is call.phone.tasks.top
    pid = call.phone.packages.pid_of(package)
    existing = call.phone.packages.installed.get(package)
    intent = f"act={activity.intent.action} " if activity.intent.action else ""
    intent += f"dat={activity.intent.data} " if activity.intent.data else ""
    state = "RESUMED" if front else "STOPPED"
    user = user_of(call.phone, package)
    return [
        f"    * Hist  #{number}: {activity_record(activity, task)}",
        f"      packageName={package} processName={package}",
        "      launchedFromUid=2000 launchedFromPackage=com.android.shell launchedFromFeature=null "
        f"userId={user}",
        (
            f"      app=ProcessRecord{{{hash_code(8, pid or 0)} "
            f"{pid}:{package}/u{user}a{(existing.uid if existing else 10000) - 10000}}}"
        ),
        f"      Intent {{ {intent}cmp={short_component(activity.component)} }}",
        f"      rootOfTask={str(number == 0).lower()} task={task_name(call, task)}}}",
        f"      taskAffinity={existing.uid if existing else 1000}:{package}",
        f"      mActivityComponent={short_component(activity.component)}",
        f"      baseDir={existing.path if existing else ''}",
        f"      dataDir=/data/user/{user}/{package}",
        f"      state={state} delayedResume=false finishing={str(activity.finishing).lower()}",
        (
            f"      mVisibleRequested={str(front).lower()} mVisible={str(front).lower()} "
            f"nowVisible={str(front).lower()}"
        ),
    ]


def _top(call: Call, wanted: str) -> str:
    lines: list[str] = []
    for task in call.phone.tasks.tasks:
        activity = task.top
        if activity is None or (wanted and wanted not in activity.component):
            continue
        pid = call.phone.packages.pid_of(activity.app.package) or "(not running)"
        lines.append(
            f"TASK {task.number}:{task.package} id={task.number} userId={user_of(call.phone, task.package)}"
        )
        lines.append(
            f"  ACTIVITY {short_component(activity.component)} {hash_code(2, activity.token)} pid={pid}"
        )
        lines += _local(call, activity)
    return "\n".join(lines) + "\n\n"


def _local(call: Call, activity: Activity) -> list[str]:
    front = activity is call.phone.tasks.top
    lines = [f"    Local Activity {hash_code(9, activity.token)} State:"]
    flag = str(front).lower()
    lines.append(f"      mResumed={flag} mStopped={str(not front).lower()} mFinished=false")
    lines.append("    View Hierarchy:")
    if front:
        _views(activity.window.root, 6, lines)
    return lines


def _views(view: View, indent: int, lines: list[str]) -> None:
    own = f" app:id/{view.id.rpartition('/')[2]}" if view.id else ""
    lines.append(f"{' ' * indent}{view.cls}{{{rect(view.bounds)}{own}}}")
    for child in view.children:
        _views(child, indent + 2, lines)


def _processes(call: Call, _: str) -> str:
    lines = ["ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)", "  All known processes:"]
    for process in call.phone.packages.processes.values():
        user = f"u0a{process.uid - 10000}" if process.uid >= 10000 else str(process.uid)
        lines.append(
            f"  *APP* UID {process.uid} ProcessRecord{{{hash_code(8, process.pid)} "
            f"{process.pid}:{process.name}/{user}}}"
        )
        lines += [
            f"    dir={call.phone.packages.installed[process.name].path}"
            if process.name in call.phone.packages.installed
            else "    dir="
        ]
        lines += [
            f"    packageList={{{process.name}}}",
            f"    pid={process.pid}",
            "    curProcState=2",
            "    crashing=false null notResponding=false null",
        ]
    top = call.phone.tasks.top
    if top is not None:
        pid = call.phone.packages.pid_of(top.app.package)
        lines.append(
            f"  mPreviousProcess: null\n  mTopProcessState=2\n  mHomeProcess: {HOME}\n  mTopPid={pid}"
        )
    return "\n".join(lines) + "\n"


def _lru(call: Call, _: str) -> str:
    lines = ["ACTIVITY MANAGER LRU PROCESSES (dumpsys activity lru)"]
    for number, process in enumerate(reversed(call.phone.packages.processes.values())):
        lines.append(
            f"  #{number}: {'fg  ' if number == 0 else 'cch '} TOP  "
            f"{process.pid}:{process.name}/u0a{process.uid - 10000}"
        )
    return "\n".join(lines) + "\n"


def _recents(call: Call, _: str) -> str:
    lines = ["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", "  Recent tasks:"]
    for number, task in enumerate(call.phone.tasks.recent()):
        lines.append(
            f"  * Recent #{number}: {task_name(call, task)} U={user_of(call.phone, task.package)} "
            f"visible={str(task is call.phone.tasks.front).lower()}}}"
        )
        root = task.activities[0] if task.activities else None
        if root is not None:
            lines.append(
                f"    realActivity={{{short_component(root.component)}}}\n    rootAffinity={task.package}"
            )
    return "\n".join(lines) + "\n"


def _services(call: Call, wanted: str) -> str:
    packages, lines = call.phone.packages, ["ACTIVITY MANAGER SERVICES (dumpsys activity services)"]
    shown = {word: front for word, front in packages.running_services.items() if wanted in word}
    lines.append("  User 0 active services:" if shown else "  (nothing)")
    for number, (component, foreground) in enumerate(shown.items()):
        package, name = split_component(component)
        pid, existing = packages.pid_of(package), packages.installed[package]
        record = f"{hash_code(10, number)} u0 {short_component(component)}"
        process = f"{pid}:{package}/u0a{existing.uid - 10000}"
        lines += [
            f"  * ServiceRecord{{{record}}}",
            f"    intent={{cmp={short_component(component)}}}",
            f"    packageName={package}\n    processName={package}\n    baseDir={existing.path}",
            f"    app=ProcessRecord{{{hash_code(8, pid or 0)} {process}}}",
            f"    isForeground={str(foreground).lower()} foregroundId={int(foreground)}",
            f"    startRequested=true delayedStop=false stopIfKilled=false className={name}",
        ]
    return "\n".join(lines) + "\n"


def _broadcasts(_: Call, __: str) -> str:
    return "ACTIVITY MANAGER BROADCAST STATE (dumpsys activity broadcasts)\n  (nothing)\n"


def _intents(_: Call, __: str) -> str:
    return "ACTIVITY MANAGER PENDING INTENTS (dumpsys activity intents)\n  (nothing)\n"


def _starter(call: Call, _: str) -> str:
    top = call.phone.tasks.top
    name = short_component(top.component) if top else "null"
    return f"ACTIVITY MANAGER STARTER (dumpsys activity starter)\n  mCurActivity={name}\n"


def _containers(call: Call, _: str) -> str:
    lines = [
        "ACTIVITY MANAGER CONTAINERS (dumpsys activity containers)",
        "ROOT type=undefined mode=fullscreen",
    ]
    lines += [
        f"  #{at} {task_name(call, task)}}}" for at, task in enumerate(reversed(call.phone.tasks.tasks))
    ]
    return "\n".join(lines) + "\n"


def _settings(_: Call, __: str) -> str:
    return (
        "ACTIVITY MANAGER SETTINGS (dumpsys activity settings) activity_manager_constants:\n  "
        "max_cached_processes=32\n"
    )


SECTIONS: dict[str, Callable[[Call, str], str]] = {
    "activities": _activities,
    "a": _activities,
    "top": _top,
    "processes": _processes,
    "p": _processes,
    "recents": _recents,
    "r": _recents,
    "lru": _lru,
    "oom": _lru,
    "services": _services,
    "s": _services,
    "broadcasts": _broadcasts,
    "b": _broadcasts,
    "intents": _intents,
    "i": _intents,
    "starter": _starter,
    "containers": _containers,
    "settings": _settings,
}
