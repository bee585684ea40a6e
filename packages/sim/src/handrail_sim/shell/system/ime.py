"""`ime`: input methods that are there, enabled and chosen."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.verbs import Verbs, plain

BUILT_IN = "com.android.inputmethod.latin/.LatinIME"
FROM_APKS = {
    "com.github.uiautomator": (".AdbKeyboard",),
    "com.android.adbkeyboard": (".AdbIME",),
    "io.appium.settings": (".AppiumIME", ".EmptyIME", ".UnicodeIME"),
}
"""Input methods that known test packages bring along."""


def available(call: Call) -> list[str]:
    there = {package: FROM_APKS[package] for package in FROM_APKS if package in call.phone.packages.installed}
    return [BUILT_IN, *(f"{package}/{name}" for package, names in there.items() for name in names)]


def enabled(call: Call) -> list[str]:
    text = call.phone.settings["secure"].get("enabled_input_methods", BUILT_IN)
    return [method for method in text.split(":") if method in available(call)]


def _store(call: Call, methods: list[str]) -> None:
    call.phone.put_setting("secure", "enabled_input_methods", ":".join(methods))


async def _list(call: Call, args: list[str]) -> int:
    for method in available(call) if "-a" in args else enabled(call):
        if "-s" in args:
            await call.line(method)
        else:
            package, _, name = method.partition("/")
            await call.line(
                f"{method}:\n  mId={method} mSettingsActivityName=null mIsVrOnly=false\n  "
                f"Service:\n    packageName={package} name={package}{name}"
            )
    return 0


async def _reset(call: Call, _: list[str]) -> int:
    _store(call, [BUILT_IN])
    call.phone.put_setting("secure", "default_input_method", BUILT_IN)
    return await call.line(
        f"Reset current and enabled IMEs for user #0\n  Selected: {BUILT_IN}\n  Enabled: {BUILT_IN}"
    )


async def _change(call: Call, verb: str, method: str) -> int:
    words = {"enable": "enabled", "disable": "disabled", "set": "selected"}[verb]
    current = enabled(call)
    if method not in available(call) or (verb == "set" and method not in current):
        return await call.err(f"Unknown input method {method} cannot be {words} for user #0", 255)
    if verb == "set":
        call.phone.put_setting("secure", "default_input_method", method)
        return await call.line(f"Input method {method} selected for user #0")
    before = method in current
    _store(call, [name for name in current if name != method] + ([method] if verb == "enable" else []))
    state = "already" if before == (verb == "enable") else "now"
    return await call.line(f"Input method {method}: {state} {words} for user #0")


_USER = "[--user USER_ID]"
VERBS = Verbs(
    "ime <command>:",
    {
        "list": (f"[-a] [-s] {_USER}", _list),
        "enable": (f"{_USER} ID", lambda call, args: _change(call, "enable", plain(args)[0])),
        "disable": (f"{_USER} ID", lambda call, args: _change(call, "disable", plain(args)[0])),
        "set": (f"{_USER} ID", lambda call, args: _change(call, "set", plain(args)[0])),
        "reset": (_USER, _reset),
    },
)


FAMILY: dict[str, Command] = {"ime": VERBS.command}
