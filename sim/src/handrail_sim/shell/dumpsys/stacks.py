"""`dumpsys activity activities` as Android 8 to 10 print it: stacks hold tasks, tasks hold activities."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import activity_record, hash_code
from handrail_sim.system.intents import short_component
from handrail_sim.system.releases import release_of
from handrail_sim.system.tasks import HOME, Task
from handrail_sim.system.users import user_of


def activities(call: Call) -> str:
    """Every task in a stack of its own, the front one first."""
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
    numbers = range(len(task.activities) - 1, -1, -1)
    for number in numbers:
        activity = task.activities[number]
        lines += [
            f"      * Hist #{number}: {activity_record(activity, task)}",
            f"          packageName={activity.app.package} processName={activity.app.package}",
            f"          Intent {{ cmp={short_component(activity.component)} }}",
            f"          frontOfTask={str(number == 0).lower()} task={record}",
        ]
    lines += ["", "    Running activities (most recent first):", f"      {record}"]
    lines += [
        f"        Run #{number}: {activity_record(task.activities[number], task)}" for number in numbers
    ]
    if task is call.phone.tasks.front and task.top is not None:
        told = release_of(call.phone).resumed.format(record=activity_record(task.top, task))
        lines += ["", f"    {told}"]
    return lines
