"""`am`: starting, stopping and broadcasting, with the words of Android's ActivityManager."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system import broadcast, task_list
from handrail_sim.shell.system.instrument import instrument
from handrail_sim.shell.system.intent_args import IntentArgs, shown
from handrail_sim.shell.system.java import JavaError, integer
from handrail_sim.shell.system.verbs import Handler, Verbs, plain
from handrail_sim.system.intents import StartResult, short_component, split_component
from handrail_sim.system.releases import release_of

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
    if result.code == "canceled":
        await call.err("Error: Activity not started, you requested to not be allowed to start it")
    elif result.code == "not_found":
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
    release = release_of(call.phone)
    state = f"LaunchState: {kind}\n" if release.launch_state else ""
    await call.line(f"Status: ok\n{state}Activity: {short_component(result.component)}")
    times = release.start_times.format(took=took)
    await call.line(f"{times}TotalTime: {took}\nWaitTime: {took + 4}\nComplete")


async def force_stop(call: Call, args: list[str]) -> int:
    """`am force-stop PACKAGE`."""
    call.phone.force_stop(plain(args)[0])
    return 0


async def kill(call: Call, args: list[str]) -> int:
    """Only what is not in front: a cached process."""
    package, top = plain(args)[0], call.phone.tasks.top
    if package in call.phone.packages.processes and (top is None or top.app.package != package):
        call.phone.kill_process(package)
    return 0


async def kill_all(call: Call, _: list[str]) -> int:
    """`am kill-all`: every cached process."""
    for package in list(call.phone.packages.processes):
        await kill(call, [package])
    return 0


async def crash(call: Call, args: list[str]) -> int:
    """`am crash PACKAGE|PID`."""
    name = plain(args)[0]
    for process in list(call.phone.packages.processes.values()):
        if name in {process.name, str(process.pid)}:
            call.phone.kill_process(process.name, "shell-induced crash")
    return 0


async def service(call: Call, args: list[str]) -> int:
    """Only installed APKs declare services: one of those is listed as running while its process lives."""
    given = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset({"--foreground"}))
    await call.line(f"Starting service: {shown(given.intent)}")
    package, name = split_component(given.intent.component)
    front = "--foreground" in given.options or call.args[:1] == ["start-foreground-service"]
    phone = call.phone
    if phone.packages.start_service(f"{package}/{name}", phone.now_ms(), foreground=front):
        return 0
    await call.err("Error: Not found; no service started.")
    return 255


async def stop_service(call: Call, args: list[str]) -> int:
    """`am stopservice INTENT`."""
    given = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset())
    await call.line(f"Stopping service: {shown(given.intent)}")
    component = "/".join(split_component(given.intent.component))
    if call.phone.packages.running_services.pop(component, None) is not None:
        await call.line("Service stopped")
        return 0
    await call.err("Service not stopped: was not running.")
    return 255


async def switch_user(call: Call, args: list[str]) -> int:
    """Only the owner is there."""
    if integer(plain(args)[0]) == 0:
        return 0
    await call.line(f"Error: Failed to switch to user {plain(args)[0]}")
    return 1


async def set_debug_app(call: Call, args: list[str]) -> int:
    """The setting that the developer options show too."""
    call.phone.put_setting("global", "debug_app", plain(args)[0])
    call.phone.put_setting("global", "wait_for_debugger", str(int("-w" in args)))
    return 0


async def clear_debug_app(call: Call, _: list[str]) -> int:
    """`am clear-debug-app`."""
    for name in ("debug_app", "wait_for_debugger"):
        call.phone.settings["global"].pop(name, None)
    return 0


BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}


def _bucket(text: str) -> int:
    if text not in BUCKETS and not text.isdigit():
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"')
    return BUCKETS.get(text) or int(text)


async def set_bucket(call: Call, args: list[str]) -> int:
    """`am set-standby-bucket PACKAGE BUCKET`."""
    package, bucket = plain(args)[:2]
    call.phone.service_state("standby")[package] = str(_bucket(bucket))
    return 0


async def get_bucket(call: Call, args: list[str]) -> int:
    """`am get-standby-bucket PACKAGE`: in use until something else was set."""
    await call.line(call.phone.service_state("standby").get(plain(args)[0], "10"))
    return 0


async def set_inactive(call: Call, args: list[str]) -> int:
    """An idle app is one in the bucket `rare`."""
    package, idle = plain(args)[:2]
    return await set_bucket(call, [package, "rare" if idle == "true" else "active"])


async def get_inactive(call: Call, args: list[str]) -> int:
    """`am get-inactive PACKAGE`."""
    bucket = int(call.phone.service_state("standby").get(plain(args)[0], "10"))
    await call.line(f"Idle={str(bucket >= BUCKETS['rare']).lower()}")
    return 0


async def compat(call: Call, args: list[str]) -> int:
    """No change is known to this phone, which is what Android warns of."""
    verb, change, package = [*plain(args), "", ""][:3]
    if verb not in {"enable", "disable", "reset"} or not change:
        raise JavaError("java.lang.IllegalArgumentException", "Invalid or missing toggle.")
    done = {"enable": "Enabled", "disable": "Disabled", "reset": "Reset"}[verb]
    await call.line(
        f"Warning! Change {integer(change)} is not known yet. Enabling/disabling it could have no effect."
    )
    call.phone.service_state("compat")[f"{change} {package}"] = verb
    await call.line(f"{done} change {change} for {package}.")
    return 0


def _says(text: str) -> Handler:
    """A question with one answer on this phone."""

    async def answer(call: Call, _: list[str]) -> int:
        await call.line(text)
        return 0

    return answer


async def to_uri(call: Call, args: list[str]) -> int:
    """`am to-uri INTENT`: the data, with the rest behind `#Intent;`."""
    intent = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset()).intent
    parts = [f"action={intent.action}"] if intent.action else []
    parts += [f"category={one}" for one in intent.categories]
    parts += [f"component={short_component(intent.component)}"] if intent.component else []
    await call.line(f"{intent.data}#Intent;{''.join(part + ';' for part in parts)}end")
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


_USER = "[--user USER_ID]"
VERBS = Verbs(
    "Activity manager (activity) commands:",
    {
        "start": ("[-W] [-S] [-R COUNT] INTENT", start),
        "start-activity": ("[-W] [-S] [-R COUNT] INTENT", start),
        "force-stop": (f"{_USER} PACKAGE", force_stop),
        "stop-app": (f"{_USER} PACKAGE", force_stop),
        "kill": (f"{_USER} PACKAGE", kill),
        "kill-all": ("", kill_all),
        "crash": (f"{_USER} PACKAGE", crash),
        "broadcast": ("[--receiver-permission PERMISSION] [--async] INTENT", broadcast.run),
        "instrument": (
            "[-r] [-w] [-m] [-f FILE] [-e NAME VALUE] [--no-window-animation] INTENT",
            instrument,
        ),
        "startservice": ("INTENT", service),
        "start-service": ("INTENT", service),
        "start-foreground-service": ("INTENT", service),
        "stopservice": ("INTENT", stop_service),
        "stop-service": ("INTENT", stop_service),
        "stack": ("list|info|move-task|remove [STACK_ID] [TASK_ID]", task_list.stack),
        "task": ("lock|resizeable|resize|focus [TASK_ID] [MORE]", task_list.task),
        "get-current-user": ("", _says("0")),
        "get-started-user-state": ("USER_ID", _says("RUNNING_UNLOCKED")),
        "is-user-stopped": ("USER_ID", _says("false")),
        "get-config": ("[--days COUNT] [--device] [--proto] [--display DISPLAY_ID]", config),
        "switch-user": ("[-w] USER_ID", switch_user),
        "unlock-user": ("USER_ID [TOKEN]", _says("Success: user unlocked")),
        "set-debug-app": ("[-w] [--persistent] PACKAGE", set_debug_app),
        "clear-debug-app": ("", clear_debug_app),
        "idle-maintenance": ("", _says("Performing idle maintenance...")),
        "wait-for-broadcast-idle": ("[--flush-broadcast-loopers]", _says("All broadcast queues are idle!")),
        "set-inactive": (f"{_USER} PACKAGE true|false", set_inactive),
        "get-inactive": (f"{_USER} PACKAGE", get_inactive),
        "set-standby-bucket": (f"{_USER} PACKAGE BUCKET", set_bucket),
        "get-standby-bucket": (f"{_USER} PACKAGE", get_bucket),
        "compat": ("enable|disable|reset CHANGE_ID PACKAGE", compat),
        "to-uri": ("INTENT", to_uri),
        "to-intent-uri": ("INTENT", to_uri),
    },
)


async def run(call: Call) -> int:
    """`am COMMAND …`."""
    return await VERBS.run(call, call.args)


FAMILY: dict[str, Command] = {"am": run}
