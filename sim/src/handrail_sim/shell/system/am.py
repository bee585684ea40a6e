"""`am`: starting, stopping and broadcasting, with the words of Android's ActivityManager."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system import broadcast
from handrail_sim.shell.system.instrument import instrument
from handrail_sim.shell.system.intent_args import IntentArgs, shown
from handrail_sim.shell.system.java import Handler, JavaError, dispatch
from handrail_sim.system.intents import StartResult, short_component, split_component

NEW_TASK = 0x10000000
START_VALUED = frozenset(
    [
        "--user",
        "--display",
        "--windowingMode",
        "--activityType",
        "--task",
        "--start-profiler",
        "--sampling",
        "--stack",
        "--attach-agent",
        "--attach-agent-bind",
        "-P",
    ]
)
START_FLAGS = frozenset(
    ["-W", "-S", "-D", "-N", "-R", "--streaming", "--track-allocation", "--task-overlay", "--lock-task"]
)
COLD_MS, WARM_MS = 312, 87
"""What am -W reports when the phone itself takes no time."""


async def start(call: Call, args: list[str]) -> int:
    """`am start [-W] [-S] INTENT`."""
    if "-R" in args:
        at = args.index("-R")
        args = [*args[:at], "-R", *args[at + 2 :]]
    given = IntentArgs(args, valued=START_VALUED, flags=START_FLAGS)
    intent, phone = given.intent, call.phone
    if not (intent.component or intent.action or intent.package or intent.data):
        raise JavaError("java.lang.IllegalArgumentException", "No intent supplied")
    if intent.data and not intent.action and not intent.component:
        intent.action = "android.intent.action.VIEW"
    if "-S" in given.options and (package := _package(call, given)):
        await call.line(f"Stopping: {package}")
        phone.force_stop(package)
    await call.line(f"Starting: {shown(intent, given.flags)}")
    result = phone.start_activity(
        intent.component or None,
        action=intent.action,
        data=intent.data,
        extras=intent.extras,
        package=intent.package,
        mime=intent.mime,
        categories=intent.categories,
    )
    if not result.ok:
        return await _not_started(call, given, result)
    await _warn(call, result)
    if "-W" in given.options:
        await _report(call, result)
    return 0


def _package(call: Call, given: IntentArgs) -> str:
    if given.intent.component or given.intent.package:
        return split_component(given.intent.component)[0] or given.intent.package
    found = call.phone.packages.resolve(given.intent)
    return split_component(found[0])[0] if len(found) == 1 else ""


async def _not_started(call: Call, given: IntentArgs, result: StartResult) -> int:
    if result.code == "not_found":
        package, name = split_component(given.intent.component)
        await call.err(f"Error type 3\nError: Activity class {{{package}/{name}}} does not exist.")
    else:
        await call.err(
            f"Error: Activity not started, unable to resolve {shown(given.intent, given.flags | NEW_TASK)}"
        )
    return 1


async def _warn(call: Call, result: StartResult) -> None:
    if result.code == "brought_to_front":
        await call.err("Warning: Activity not started, its current task has been brought to the front")
    elif result.code == "delivered":
        await call.err(
            "Warning: Activity not started, intent has been delivered to currently running top-most instance."
        )


async def _report(call: Call, result: StartResult) -> None:
    took = result.launch_ms or (COLD_MS if result.cold else WARM_MS)
    if result.launch_ms:
        await call.phone.clock.sleep_ms(result.launch_ms)
    kind = "COLD" if result.cold else "WARM" if result.code == "started" else "UNKNOWN (0)"
    took = took if result.code == "started" else 0
    await call.line(f"Status: ok\nLaunchState: {kind}\nActivity: {short_component(result.component)}")
    await call.line(f"TotalTime: {took}\nWaitTime: {took + 4}\nComplete")


async def force_stop(call: Call, args: list[str]) -> int:
    """`am force-stop PACKAGE`."""
    for package in _names(args):
        call.phone.force_stop(package)
    return 0


async def kill(call: Call, args: list[str]) -> int:
    """Only what is not in front: a cached process."""
    for package in _names(args):
        top = call.phone.tasks.top
        if package in call.phone.packages.processes and (top is None or top.app.package != package):
            call.phone.kill_process(package)
    return 0


async def kill_all(call: Call, _: list[str]) -> int:
    """`am kill-all`: every cached process."""
    return await kill(call, list(call.phone.packages.processes))


async def crash(call: Call, args: list[str]) -> int:
    """`am crash PACKAGE`."""
    for package in _names(args):
        if package in call.phone.packages.processes:
            call.phone.kill_process(package, "shell-induced crash")
    return 0


def _names(args: list[str]) -> list[str]:
    """The packages among the arguments, `--user N` left out."""
    names = [
        arg for at, arg in enumerate(args) if not arg.startswith("-") and args[at - 1 : at] != ["--user"]
    ]
    if not names:
        raise JavaError("java.lang.IllegalArgumentException", 'Argument expected after "am"')
    return names


async def service(call: Call, args: list[str]) -> int:
    """No app here has services of its own."""
    given = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset({"--foreground"}))
    await call.line(f"Starting service: {shown(given.intent)}")
    await call.err("Error: Not found; no service started.")
    return 255


async def stop_service(call: Call, args: list[str]) -> int:
    """`am stopservice INTENT`."""
    given = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset())
    await call.line(f"Stopping service: {shown(given.intent)}")
    await call.err("Service not stopped: was not running.")
    return 255


async def stack(call: Call, args: list[str]) -> int:
    """`am stack list`."""
    if args[:1] != ["list"]:
        return 0
    width, height = call.phone.display.width, call.phone.display.height
    for task in reversed(call.phone.tasks.tasks):
        bounds = f"bounds=[0,0][{width},{height}]"
        front = str(task is call.phone.tasks.front).lower()
        await call.line(f"RootTask id={task.number} {bounds} displayId=0 userId=0")
        await call.line(f" configuration={{1.0 en_US ldltr {call.phone.display.density}dpi}}")
        top = short_component(task.top.component) if task.top else ""
        await call.line(f"  taskId={task.number}: {top} {bounds} userId=0 visible={front}\n")
    return 0


async def current_user(call: Call, _: list[str]) -> int:
    """The owner."""
    await call.line("0")
    return 0


async def config(call: Call, _: list[str]) -> int:
    """`am get-config`."""
    display = call.phone.display
    dp = display.density / 160
    wide, high = int(display.width / dp), int(display.height / dp)
    long = "long" if max(wide, high) / min(wide, high) > 1.6 else "notlong"
    way, night = "land" if display.rotation % 2 else "port", "night" if display.dark else "notnight"
    await call.line(
        f"config: mcc310-mnc260-en-rUS-ldltr-sw{min(wide, high)}dp-w{wide}dp-h{high}dp-normal-{long}-"
        f"notround-lowdr-nowidecg-{way}-{night}-{display.density}dpi-finger-keyssoft-nokeys-navhidden-nonav-v34"
    )
    await call.line("abi: arm64-v8a")
    return 0


async def accepted(_: Call, __: list[str]) -> int:
    """Asked for by tools, without effect here."""
    return 0


HANDLERS: dict[str, Handler] = {
    "start": start,
    "start-activity": start,
    "force-stop": force_stop,
    "stop-app": force_stop,
    "kill": kill,
    "kill-all": kill_all,
    "crash": crash,
    "broadcast": broadcast.run,
    "instrument": instrument,
    "startservice": service,
    "start-service": service,
    "start-foreground-service": service,
    "stopservice": stop_service,
    "stop-service": stop_service,
    "stack": stack,
    "get-current-user": current_user,
    "get-config": config,
    "switch-user": accepted,
    "set-debug-app": accepted,
    "clear-debug-app": accepted,
    "idle-maintenance": accepted,
    "wait-for-broadcast-idle": accepted,
    "set-inactive": accepted,
    "unlock-user": accepted,
    "compat": accepted,
    "set-standby-bucket": accepted,
}


async def run(call: Call) -> int:
    """`am COMMAND …`."""
    if not call.args:
        await call.err("Activity manager (activity) commands:\n  help\n      Print this help text.")
        return 255
    return await dispatch(call, HANDLERS)


FAMILY: dict[str, Command] = {"am": run}
