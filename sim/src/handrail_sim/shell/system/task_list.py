"""`am stack` and `am task`: root tasks with their bounds, configuration and top activity."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.java import integer
from handrail_sim.shell.system.verbs import missing
from handrail_sim.system.intents import split_component
from handrail_sim.system.tasks import HOME, Task


def _configuration(call: Call, task: Task) -> str:
    """As Configuration.toString: locale, sizes in dp, orientation, then the window's part."""
    display = call.phone.display
    dp = display.density / 160
    wide, high = int(display.width / dp), int(display.height / dp)
    way = "land" if display.rotation % 2 else "port"
    night = " night" if display.dark else ""
    rect = f"Rect(0, 0 - {display.width}, {display.height})"
    kind = "home" if task.package == HOME else "standard"
    window = (
        f"winConfig={{ mBounds={rect} mAppBounds={rect} mMaxBounds={rect} "
        f"mDisplayRotation=ROTATION_{display.rotation * 90} mWindowingMode=fullscreen "
        f"mDisplayWindowingMode=fullscreen mActivityType={kind} mAlwaysOnTop=undefined "
        f"mRotation=ROTATION_{display.rotation * 90}}}"
    )
    return (
        f"{{{display.font_scale} 310mcc260mnc [en_US] ldltr sw{min(wide, high)}dp w{wide}dp h{high}dp "
        f"{display.density}dpi nrml long {way}{night} finger -keyb/v/h -nav/h {window} s.1 "
        "fontWeightAdjustment=0}"
    )


def _whole(component: str) -> str:
    package, name = split_component(component)
    return f"{package}/{name}"


def _root_task(call: Call, task: Task) -> str:
    display, front = call.phone.display, task is call.phone.tasks.front
    bounds = f"bounds=[0,0][{display.width},{display.height}]"
    base = _whole(task.activities[0].component) if task.activities else "unknown"
    top = f"ComponentInfo{{{_whole(task.top.component)}}}" if task.top else "null"
    return (
        f"RootTask id={task.number} {bounds} displayId=0 userId=0\n"
        f" configuration={_configuration(call, task)}\n"
        f"  taskId={task.number}: {base} {bounds} userId=0 visible={str(front).lower()} topActivity={top}\n"
    )


def _numbered(call: Call, text: str) -> Task | None:
    number = integer(text)
    return next((task for task in call.phone.tasks.tasks if task.number == number), None)


async def stack(call: Call, args: list[str]) -> int:
    """`am stack list|remove`; other verbs are refused as unknown."""
    verb = args[0]
    if verb == "list":
        for task in reversed(call.phone.tasks.tasks):
            await call.line(_root_task(call, task))
        return 0
    if verb == "remove":
        if not args[1:]:
            raise missing("remove")
        found = _numbered(call, args[1])
        if found is not None:
            call.phone.tasks.remove(found)
        return 0
    await call.err(f"Error: unknown command '{verb}'")
    return 255


async def task(call: Call, args: list[str]) -> int:
    """`am task focus`; locking and resizing have no window manager behind them here."""
    if args[0] == "focus":
        found = _numbered(call, args[1]) if args[1:] else None
        if found is None:
            await call.err(f"Error: no task with id {' '.join(args[1:])}")
            return 255
        call.phone.tasks.to_front(found)
        await call.line(f"Setting focus to task {found.number}")
        return 0
    await call.err(f"Error: unknown command '{args[0]}'")
    return 255
