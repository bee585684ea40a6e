"""`am broadcast`: the few broadcasts that something on this phone listens to, among them ADB keyboards."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.intent_args import IntentArgs, shown
from handrail_sim.shell.system.java import JavaError

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


def _to_keyboard(call: Call, given: IntentArgs) -> Answer | None:
    """A keyboard hears its own broadcasts, and only while it is the input method; one of the two answers."""
    intent = given.intent
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
            "packageName": one.package,
            "isClearable": not one.ongoing,
            "isOngoing": one.ongoing,
            "id": one.number,
            "tag": None,
            "notification": {
                "title": one.title,
                "text": one.text,
                "bigTitle": None,
                "bigText": None,
                "tickerText": None,
                "subText": None,
                "infoText": None,
                "template": "android.app.Notification$BigTextStyle",
            },
            "userHandle": 0,
            "groupKey": f"0|{one.package}|{one.number}|null",
            "overrideGroupKey": None,
            "postTime": one.when_ms,
            "isRemoved": False,
        }
        for one in call.phone.notifications.posted
    ]
    return -1, json.dumps({"statusBarNotifications": shown})


RECEIVERS: dict[str, Callable[[Call], Answer]] = {
    f"{APPIUM}.clipboard.get": _appium_clipboard,
    f"{APPIUM}.notifications": _appium_notifications,
}
"""What Appium's settings app answers while it runs."""


CLIPPER = "ca.zgrs.clipper"
"""The public app that gives a shell the clipboard; Android lets it read only while it is in front."""


def _to_clipper(call: Call, given: IntentArgs) -> Answer | None:
    phone, intent = call.phone, given.intent
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


def _deliver(call: Call, given: IntentArgs) -> Answer:
    action, phone = given.intent.action, call.phone
    heard = _to_keyboard(call, given) or _to_clipper(call, given)
    if heard is not None:
        return heard
    if action in RECEIVERS and APPIUM in phone.packages.processes:
        return RECEIVERS[action](call)
    if action == "android.intent.action.CLOSE_SYSTEM_DIALOGS":
        phone.systemui.close_shade()
        phone.systemui.close_recents()
    return SILENT


async def run(call: Call, args: list[str]) -> int:
    """`am broadcast INTENT`."""
    given = IntentArgs(
        args,
        valued=frozenset({"--user", "--receiver-permission"}),
        flags=frozenset({"--async", "--allow-background-activity-starts"}),
    )
    action = given.intent.action
    await call.line(f"Broadcasting: {shown(given.intent, given.flags | FROM_SHELL)}")
    if action in PROTECTED:
        message = (
            f"Permission Denial: not allowed to send broadcast {action} from pid={call.session.pid}, uid=2000"
        )
        raise JavaError("java.lang.SecurityException", message)
    result, data = _deliver(call, given)
    more = f', data="{data}"' if data else ""
    await call.line(f"Broadcast completed: result={result}{more}")
    return 0
