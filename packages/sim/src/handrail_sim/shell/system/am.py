"""`am`: starting, stopping and broadcasting, with the words of Android's ActivityManager."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.instrument import instrument
from handrail_sim.shell.system.intent_args import IntentArgs, shown
from handrail_sim.shell.system.verbs import JavaError, Verbs, does, integer, missing, plain, reads, says
from handrail_sim.system.intents import StartResult, short_component, split_component
from handrail_sim.system.releases import release_of
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


def _full_component(component: str) -> str:
    package, name = split_component(component)
    return f"{package}/{name}"


def _root_task(call: Call, task: Task) -> str:
    display, front = call.phone.display, task is call.phone.tasks.front
    bounds = f"bounds=[0,0][{display.width},{display.height}]"
    base = _full_component(task.activities[0].component) if task.activities else "unknown"
    top = f"ComponentInfo{{{_full_component(task.top.component)}}}" if task.top else "null"
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
        match = _numbered(call, args[1])
        if match is not None:
            call.phone.tasks.remove(match)
        return 0
    return await call.err(f"Error: unknown command '{verb}'", 255)


async def task(call: Call, args: list[str]) -> int:
    """`am task focus`; locking and resizing have no window manager behind them here."""
    if args[0] == "focus":
        match = _numbered(call, args[1]) if args[1:] else None
        if match is None:
            return await call.err(f"Error: no task with id {' '.join(args[1:])}", 255)
        call.phone.tasks.to_front(match)
        return await call.line(f"Setting focus to task {match.number}")
    return await call.err(f"Error: unknown command '{args[0]}'", 255)


FROM_SHELL = 0x400000
_ACTIONS = """
BOOT_COMPLETED BATTERY_LOW BATTERY_CHANGED SCREEN_ON SCREEN_OFF TIME_SET AIRPLANE_MODE MASTER_CLEAR
PACKAGE_ADDED PACKAGE_REMOVED LOCKED_BOOT_COMPLETED USER_PRESENT ACTION_SHUTDOWN
"""
PROTECTED = frozenset(f"android.intent.action.{name}" for name in _ACTIONS.split())
Answer = tuple[int, str]
SILENT: Answer = (0, "")


def _typed(call: Call, text: str) -> Answer:
    call.phone.commit_text(text)
    return -1, "success"


def _decoded(call: Call, extras: dict[str, Any], name: str) -> Answer:
    try:
        return _typed(call, base64.b64decode(str(extras.get(name, ""))).decode())
    except (binascii.Error, UnicodeDecodeError):
        return SILENT


def _cleared(call: Call) -> Answer:
    if call.phone.editing.select_all():
        call.phone.editing.delete()
    return -1, "success"


def _submitted(call: Call) -> Answer:
    return (-1, "success") if call.phone.editing.submit() else SILENT


def _hidden(call: Call) -> Answer:
    return (-1, "success") if call.phone.ime.hide() else SILENT


KEYBOARD: dict[str, Callable[[Call, dict[str, Any]], Answer]] = {
    "ADB_INPUT_TEXT": lambda call, extras: _typed(call, str(extras.get("msg", ""))),
    "ADB_INPUT_B64": lambda call, extras: _decoded(call, extras, "msg"),
    "ADB_CLEAR_TEXT": lambda call, _: _cleared(call),
    "ADB_KEYBOARD_INPUT_TEXT": lambda call, extras: _decoded(call, extras, "text"),
    "ADB_KEYBOARD_CLEAR_TEXT": lambda call, _: _cleared(call),
    "ADB_KEYBOARD_SET_TEXT": lambda call, extras: (_cleared(call), _decoded(call, extras, "text"))[1],
    "ADB_KEYBOARD_EDITOR_CODE": lambda call, _: _submitted(call),
    "ADB_KEYBOARD_HIDE": lambda call, _: _hidden(call),
}
"""Broadcasts of the known ADB keyboards."""

ANSWERING, SILENT_ONE = "com.github.uiautomator", "com.android.adbkeyboard"


def _to_keyboard(call: Call, arguments: IntentArgs) -> Answer | None:
    """A keyboard hears its own broadcasts, and only while it is the input method; one of the two answers."""
    intent = arguments.intent
    owner = ANSWERING if intent.action.startswith("ADB_KEYBOARD_") else SILENT_ONE
    current = call.phone.settings["secure"].get("default_input_method", "").partition("/")[0]
    if intent.action not in KEYBOARD or current != owner or intent.package not in ("", owner):
        return None
    answer = KEYBOARD[intent.action](call, intent.extras)
    return answer if owner == ANSWERING else SILENT


APPIUM = "io.appium.settings"


def _appium_clipboard(call: Call) -> Answer:
    """Since Android 10 only the input method may read the clipboard, so Appium's own has to be chosen."""
    if call.phone.settings["secure"].get("default_input_method") != f"{APPIUM}/.AppiumIME":
        return -1, ""
    return -1, base64.b64encode(call.phone.clipboard.encode()).decode()


def _appium_notifications(call: Call) -> Answer:
    shown = [
        {
            "packageName": notification.package,
            "isClearable": not notification.ongoing,
            "isOngoing": notification.ongoing,
            "id": notification.number,
            "tag": None,
            "notification": {
                "title": notification.title,
                "text": notification.text,
                "bigTitle": None,
                "bigText": None,
                "tickerText": None,
                "subText": None,
                "infoText": None,
                "template": "android.app.Notification$BigTextStyle",
            },
            "userHandle": 0,
            "groupKey": f"0|{notification.package}|{notification.number}|null",
            "overrideGroupKey": None,
            "postTime": notification.when_ms,
            "isRemoved": False,
        }
        for notification in call.phone.notifications.posted
    ]
    return -1, json.dumps({"statusBarNotifications": shown})


RECEIVERS: dict[str, Callable[[Call], Answer]] = {
    f"{APPIUM}.clipboard.get": _appium_clipboard,
    f"{APPIUM}.notifications": _appium_notifications,
}
"""What Appium's settings app answers while it runs."""


CLIPPER = "ca.zgrs.clipper"
"""The public app that gives a shell the clipboard; Android lets it read only while it is in front."""


def _to_clipper(call: Call, arguments: IntentArgs) -> Answer | None:
    phone, intent = call.phone, arguments.intent
    if intent.action not in {"clipper.get", "clipper.set"} or CLIPPER not in phone.packages.installed:
        return None
    top = phone.tasks.top
    if top is None or top.app.package != CLIPPER:
        return SILENT
    if intent.action == "clipper.get":
        return (-1, phone.clipboard) if phone.clipboard else SILENT
    if "text" not in intent.extras:
        return 0, 'No text is provided. Use -e text "text to be pasted"'
    phone.clipboard = str(intent.extras["text"])
    return -1, "Text is copied into clipboard."


def _deliver(call: Call, intent: IntentArgs) -> Answer:
    action, phone = intent.intent.action, call.phone
    reported = _to_keyboard(call, intent) or _to_clipper(call, intent)
    if reported is not None:
        return reported
    if action in RECEIVERS and APPIUM in phone.packages.processes:
        return RECEIVERS[action](call)
    if action == "android.intent.action.CLOSE_SYSTEM_DIALOGS":
        phone.systemui.close_shade()
        phone.systemui.close_recents()
    return SILENT


async def broadcast(call: Call, args: list[str]) -> int:
    intent = IntentArgs(
        args,
        valued=frozenset({"--user", "--receiver-permission"}),
        flags=frozenset({"--async", "--allow-background-activity-starts"}),
    )
    action = intent.intent.action
    await call.line(f"Broadcasting: {shown(intent.intent, intent.flags | FROM_SHELL)}")
    if action in PROTECTED:
        message = (
            f"Permission Denial: not allowed to send broadcast {action} from pid={call.session.pid}, uid=2000"
        )
        raise JavaError("java.lang.SecurityException", message)
    result, data = _deliver(call, intent)
    more = f', data="{data}"' if data else ""
    return await call.line(f"Broadcast completed: result={result}{more}")


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
    if "-R" in args:
        at = args.index("-R")
        args = [*args[:at], "-R", *args[at + 2 :]]
    arguments = IntentArgs(args, valued=START_VALUED, flags=START_FLAGS)
    intent, phone = arguments.intent, call.phone
    if not (intent.component or intent.action or intent.package or intent.data):
        raise JavaError("java.lang.IllegalArgumentException", "No intent supplied")
    if intent.data and not intent.action and not intent.component:
        intent.action = "android.intent.action.VIEW"
    if "-S" in arguments.options and (package := _package(call, arguments)):
        await call.line(f"Stopping: {package}")
        phone.force_stop(package)
    await call.line(f"Starting: {shown(intent, arguments.flags)}")
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
        return await _not_started(call, arguments, result)
    await _warn(call, result)
    if "-W" in arguments.options:
        await _report(call, result)
    return 0


def _package(call: Call, intent: IntentArgs) -> str:
    if intent.intent.component or intent.intent.package:
        return split_component(intent.intent.component)[0] or intent.intent.package
    names = call.phone.packages.resolve(intent.intent)
    return split_component(names[0])[0] if len(names) == 1 else ""


async def _not_started(call: Call, intent: IntentArgs, result: StartResult) -> int:
    if result.code == "canceled":
        await call.err("Error: Activity not started, you requested to not be allowed to start it")
    elif result.code == "not_found":
        package, name = split_component(intent.intent.component)
        await call.err(f"Error type 3\nError: Activity class {{{package}/{name}}} does not exist.")
    else:
        await call.err(
            f"Error: Activity not started, unable to resolve {shown(intent.intent, intent.flags | NEW_TASK)}"
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
    name = plain(args)[0]
    for process in list(call.phone.packages.processes.values()):
        if name in {process.name, str(process.pid)}:
            call.phone.kill_process(process.name, "shell-induced crash")
    return 0


async def service(call: Call, args: list[str]) -> int:
    """Only installed APKs declare services: one of those is listed as running while its process lives."""
    intent = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset({"--foreground"}))
    await call.line(f"Starting service: {shown(intent.intent)}")
    package, name = split_component(intent.intent.component)
    front = "--foreground" in intent.options or call.args[:1] == ["start-foreground-service"]
    phone = call.phone
    if phone.packages.start_service(f"{package}/{name}", phone.now_ms(), foreground=front):
        return 0
    return await call.err("Error: Not found; no service started.", 255)


async def stop_service(call: Call, args: list[str]) -> int:
    intent = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset())
    await call.line(f"Stopping service: {shown(intent.intent)}")
    component = "/".join(split_component(intent.intent.component))
    if call.phone.packages.running_services.pop(component, None) is not None:
        return await call.line("Service stopped")
    return await call.err("Service not stopped: was not running.", 255)


async def switch_user(call: Call, args: list[str]) -> int:
    if integer(plain(args)[0]) == 0:
        return 0
    return await call.line(f"Error: Failed to switch to user {plain(args)[0]}", 1)


async def set_debug_app(call: Call, args: list[str]) -> int:
    call.phone.put_setting("global", "debug_app", plain(args)[0])
    call.phone.put_setting("global", "wait_for_debugger", str(int("-w" in args)))
    return 0


async def clear_debug_app(call: Call, _: list[str]) -> int:
    for name in ("debug_app", "wait_for_debugger"):
        call.phone.settings["global"].pop(name, None)
    return 0


IN_USE = "10"
BUCKETS = {"active": 10, "working_set": 20, "frequent": 30, "rare": 40, "restricted": 45}


def _bucket(text: str) -> int:
    if text not in BUCKETS and not text.isdigit():
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"')
    return BUCKETS.get(text) or int(text)


async def set_bucket(call: Call, args: list[str]) -> int:
    package, bucket = plain(args)[:2]
    call.phone.service_state("standby")[package] = str(_bucket(bucket))
    return 0


async def set_inactive(call: Call, args: list[str]) -> int:
    """An idle app is one in the bucket `rare`."""
    package, idle = plain(args)[:2]
    return await set_bucket(call, [package, "rare" if idle == "true" else "active"])


async def get_inactive(call: Call, args: list[str]) -> int:
    bucket = int(call.phone.service_state("standby").get(plain(args)[0], IN_USE))
    return await call.line(f"Idle={str(bucket >= BUCKETS['rare']).lower()}")


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
    return await call.line(f"{done} change {change} for {package}.")


async def to_uri(call: Call, args: list[str]) -> int:
    """`am to-uri INTENT`: the data, with the rest behind `#Intent;`."""
    intent = IntentArgs(args, valued=frozenset({"--user"}), flags=frozenset()).intent
    parts = [f"action={intent.action}"] if intent.action else []
    parts += [f"category={category}" for category in intent.categories]
    parts += [f"component={short_component(intent.component)}"] if intent.component else []
    return await call.line(f"{intent.data}#Intent;{''.join(part + ';' for part in parts)}end")


async def config(call: Call, _: list[str]) -> int:
    display = call.phone.display
    dp = display.density / 160
    wide, high = int(display.width / dp), int(display.height / dp)
    long = "long" if max(wide, high) / min(wide, high) > 1.6 else "notlong"
    way, night = "land" if display.rotation % 2 else "port", "night" if display.dark else "notnight"
    await call.line(
        f"config: mcc310-mnc260-en-rUS-ldltr-sw{min(wide, high)}dp-w{wide}dp-h{high}dp-normal-{long}-"
        f"notround-lowdr-nowidecg-{way}-{night}-{display.density}dpi-finger-keyssoft-nokeys-navhidden-nonav-v34"
    )
    return await call.line("abi: arm64-v8a")


_USER = "[--user USER_ID]"
_force_stop = does(lambda call, args: call.phone.force_stop(args[0]))
VERBS = Verbs(
    "Activity manager (activity) commands:",
    {
        "start": ("[-W] [-S] [-R COUNT] INTENT", start),
        "start-activity": ("[-W] [-S] [-R COUNT] INTENT", start),
        "force-stop": (f"{_USER} PACKAGE", _force_stop),
        "stop-app": (f"{_USER} PACKAGE", _force_stop),
        "kill": (f"{_USER} PACKAGE", kill),
        "kill-all": ("", kill_all),
        "crash": (f"{_USER} PACKAGE", crash),
        "broadcast": ("[--receiver-permission PERMISSION] [--async] INTENT", broadcast),
        "instrument": ("[-r] [-w] [-m] [-f FILE] [-e NAME VALUE] [--no-window-animation] INTENT", instrument),
        "startservice": ("INTENT", service),
        "start-service": ("INTENT", service),
        "start-foreground-service": ("INTENT", service),
        "stopservice": ("INTENT", stop_service),
        "stop-service": ("INTENT", stop_service),
        "stack": ("list|info|move-task|remove [STACK_ID] [TASK_ID]", stack),
        "task": ("lock|resizeable|resize|focus [TASK_ID] [MORE]", task),
        "get-current-user": ("", says("0")),
        "get-started-user-state": ("USER_ID", says("RUNNING_UNLOCKED")),
        "is-user-stopped": ("USER_ID", says("false")),
        "get-config": ("[--days COUNT] [--device] [--proto] [--display DISPLAY_ID]", config),
        "switch-user": ("[-w] USER_ID", switch_user),
        "unlock-user": ("USER_ID [TOKEN]", says("Success: user unlocked")),
        "set-debug-app": ("[-w] [--persistent] PACKAGE", set_debug_app),
        "clear-debug-app": ("", clear_debug_app),
        "idle-maintenance": ("", says("Performing idle maintenance...")),
        "wait-for-broadcast-idle": ("[--flush-broadcast-loopers]", says("All broadcast queues are idle!")),
        "set-inactive": (f"{_USER} PACKAGE true|false", set_inactive),
        "get-inactive": (f"{_USER} PACKAGE", get_inactive),
        "set-standby-bucket": (f"{_USER} PACKAGE BUCKET", set_bucket),
        "get-standby-bucket": (
            f"{_USER} PACKAGE",
            reads(lambda call, args: call.phone.service_state("standby").get(args[0], IN_USE)),
        ),
        "compat": ("enable|disable|reset CHANGE_ID PACKAGE", compat),
        "to-uri": ("INTENT", to_uri),
        "to-intent-uri": ("INTENT", to_uri),
    },
)


FAMILY: dict[str, Command] = {"am": VERBS.command}
