"""What the product reads out of each kind of output, by its own commands and rules."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Awaitable, Callable
from typing import Any

from PIL import Image

from handrail.adb.server import parse_devices, refusal
from handrail.adb.shell import Output
from handrail.android import adb_channel as screen
from handrail.android import apps, logs, packages
from handrail.android import dumpsys as displays
from handrail.android import dumpsys as fronts
from handrail.android import dumpsys as state_parts
from handrail.android import input as touch
from handrail.android import screenshot as picture
from handrail.android.adb_channel import read_facts
from handrail.android.app_data import run_as
from handrail.android.apps import check_answer
from handrail.android.screenshot import find_secure, take_screenshot
from handrail.errors import HandrailError
from tests import fingers
from tests.real_outputs.index import Case, as_cut
from tests.unit.android.scripted_shell import ScriptedShell

Told = dict[str, Any]


def _front(text: str) -> Told:
    found = fronts.parse_foreground(text)
    return {"foreground": f"{found.package}/{found.activity}" if found else None}


def _activities(case: Case) -> Told:
    cut = as_cut(fronts.FRONT_COMMAND, "activity activities", case.text)
    return _front(cut) | _windows_displays(case)


def _windows_displays(case: Case) -> Told:
    cut = as_cut(displays.WINDOW_COMMAND, "window displays", case.text)
    told = _display(cut)
    if "mCurrentFocus" in case.text and "ResumedActivity" not in case.text:
        told |= _focus(case)
    return told


def _display(cut: str) -> Told:
    try:
        found = displays.parse_display(cut)
    except HandrailError:
        return {}
    size = f"{found.width}x{found.height}"
    return {"size": size, "density": found.density, "rotation": found.rotation}


def _focus(case: Case) -> Told:
    told = _front(as_cut(fronts.FALLBACK, "window", case.text))
    told["shade_open"] = state_parts.shade_open(as_cut(state_parts.COMMAND, "window", case.text), False)
    return told


def _windows(case: Case) -> Told:
    form, dark, font_scale = state_parts.configuration(as_cut(state_parts.COMMAND, "window", case.text))
    return {
        "secure": tuple(find_secure(as_cut(picture.COMMAND, "window windows", case.text))),
        "form": form,
        "dark": dark,
        "font_scale": font_scale,
        "rotation": displays.parse_window_manager(case.text).rotation,
    }


def _policy(case: Case) -> Told:
    return {"locked": state_parts.locked(as_cut(state_parts.COMMAND, "window policy", case.text))}


def _audio(case: Case) -> Told:
    cut = as_cut(state_parts.COMMAND, "audio", case.text)
    volume, highest = state_parts.music_volume(cut)
    return {"volume": volume, "volume_max": highest, "ringer": state_parts.ringer(cut, {})}


def _battery(case: Case) -> Told:
    percent, charging = state_parts.battery(as_cut(state_parts.COMMAND, "battery", case.text))
    return {"percent": percent, "charging": charging}


def _power(case: Case) -> Told:
    return {"screen_on": state_parts.screen_on(as_cut(state_parts.COMMAND, "power", case.text))}


def _packages(case: Case) -> Told:
    if "Exception" in case.text:
        return {"installed": asyncio.run(packages.is_installed(_Restricted(case.text), "com.android.chrome"))}
    listed = packages.read_packages(case.text)
    other = packages.read_packages(case.text, user=10)
    return {"packages": len(listed), "uid_0": listed[0].uid, "uid_10": other[0].uid}


class _Restricted(ScriptedShell):
    """Refuses in the file's words, unless user 0 is named."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused.encode()

    async def run(self, command: Any, **_: Any) -> Output:
        words = " ".join(command)
        if "get-current-user" in words:
            return Output(b"0\n", b"", 0)
        if "--user 0" not in words:
            return Output(b"", self.refused, 255)
        return Output(b"package:android uid:1000\npackage:com.android.chrome uid:10187\n", b"", 0)


def _property(case: Case) -> Told:
    known = dict(re.findall(r"^\[([^\]]+)\]: \[(.*?)\]\r?$", case.text, re.MULTILINE))
    asked = (
        "ro.product.model",
        "ro.product.manufacturer",
        "ro.build.version.release",
        "ro.build.version.sdk",
    )
    answer = "\n".join([*(known.get(name, "") for name in asked), "boot"])
    found = asyncio.run(read_facts(ScriptedShell(answer), "serial", 1000))
    names = {"manufacturer": found.manufacturer, "model": found.model, "release": found.os_version}
    return names | {"sdk": found.api_level}


def _failure(asked: Awaitable[object]) -> HandrailError | None:
    async def run() -> HandrailError | None:
        try:
            await asked
        except HandrailError as error:
            return error
        return None

    return asyncio.run(run())


def _hint(error: HandrailError | None) -> Told:
    is_security = error is not None and "USB debugging (Security settings)" in (error.hint or "")
    delivery = error.details.get("delivery") if error else None
    return {"hint": "security" if is_security else None, "delivery": delivery}


def _input(case: Case) -> Told:
    said = ScriptedShell(Output(b"", case.text.encode(), 255))
    return _hint(_failure(touch.send_input(said, touch.command_of(fingers.tap(1, 2)))))


def _pm_grant(case: Case) -> Told:
    said = ScriptedShell("0", Output(b"", case.text.encode(), 255), "package:a.b uid:10100")
    return _hint(_failure(packages.grant(said, "a.b", "CAMERA")))


def _run_as(case: Case) -> Told:
    said = ScriptedShell(Output(b"", case.text.encode(), 1), "0", "", "package:android uid:1000")
    error = _failure(run_as(said, "a.b", ["ls"]))
    return {"run_as": error.code if error else None}


def _install(case: Case) -> Told:
    try:
        check_answer(case.text, "x.apk")
    except HandrailError as error:
        return {"code": error.details.get("install_code")}
    return {"code": "Success"}


def _started(case: Case) -> Told:
    try:
        found = apps.read_started(case.text)
    except apps.NotStarted as refusal:
        return {"refused": "private" if refusal.private else "missing" if refusal.missing else "else"}
    return {"component": found}


def _monkey(case: Case) -> Told:
    said = ScriptedShell("0", "", "package:a.b uid:10100", case.text)
    return {"launched": _failure(apps.start(said, "a.b")) is None}


def _log(case: Case) -> Told:
    def epoch(found: re.Match[str]) -> str:
        hours, minutes, seconds, part = (int(one) for one in found.groups())
        return f"{1_700_000_000 + hours * 3600 + minutes * 60 + seconds}.{part:03d}"

    text = re.sub(r"(?m)^\d\d-\d\d (\d\d):(\d\d):(\d\d)\.(\d{3})", epoch, case.text)
    lines = [found for line in text.splitlines() if (found := logs.read_line(line))]
    names = set(re.findall(r"(?:ANR in|Process:|>>>) ([^\s,:]+)", case.text))
    crashes = {name: crash for name in names if (crash := logs.find_crash(lines, name))}
    name, crash = next(iter(crashes.items()), (None, None))
    return {"process": name, "crash": crash and crash.kind, "pid": crash and crash.pid}


def _devices(case: Case) -> Told:
    body = case.text.partition("List of devices attached\n")[2]
    found = parse_devices(body)
    return {"devices": len(found), "state": found[0].state, "model": found[0].props.get("model")}


def _adb_error(case: Case) -> Told:
    said = case.text.partition(": ")[2]
    return {"state": refusal(said, "host:transport:X", "X").details.get("state")}


def _dump(case: Case) -> Told:
    said = ScriptedShell(*[Output(case.text.encode(), b"", 0)] * 3)
    dumper = screen.Dumper(said)
    error = _failure(dumper.read(1000))
    return {"trees": 0 if error else 1, "dump_hint": error.hint if error else None}


def _settings(case: Case) -> Told:
    found = state_parts.settings(case.text)
    return {"settings": len(found), "empty_setting": next((n for n, v in found.items() if not v), None)}


def _size(case: Case) -> Told:
    found = displays.natural_size(case.text)
    return {"natural": f"{found[0]}x{found[1]}" if found else None}


def _display_service(case: Case) -> Told:
    cut = as_cut(displays.DISPLAY_COMMAND, "display", case.text)
    return _display(cut)


def _picture(case: Case) -> Told:
    out = io.BytesIO()
    Image.new("RGB", (24, 48), (1, 200, 3)).save(out, "PNG")
    viewport = "DisplayViewport{valid=true, displayId=0, uniqueId='local:42', orientation=0}"
    said = ScriptedShell("", Output(case.text.encode() + out.getvalue(), b"", 0), viewport, out.getvalue())
    data = asyncio.run(take_screenshot(said, 1000))
    named = said.asked[-1] == "screencap -p -d 42"
    return {"picture": "shown panel" if named and data == out.getvalue() else "another"}


READERS: dict[str, Callable[[Case], Told]] = {
    "adb_devices": _devices, "adb_error": _adb_error, "am_start": _started,
    "dumpsys_activity_activities": _activities, "dumpsys_activity_unknown": _activities,
    "dumpsys_audio": _audio, "dumpsys_battery": _battery, "dumpsys_display": _display_service,
    "dumpsys_power": _power, "dumpsys_window_displays": _windows_displays, "dumpsys_window_focus": _focus,
    "dumpsys_window_policy": _policy, "dumpsys_window_windows": _windows, "getprop": _property,
    "input_error": _input, "install": _install, "logcat_anr": _log, "logcat_crash": _log,
    "logcat_native_crash": _log, "monkey": _monkey, "pm_grant": _pm_grant, "pm_list_packages": _packages,
    "run_as": _run_as, "screencap_warning": _picture, "settings_list": _settings, "uiautomator_dump": _dump,
    "wm_size": _size,
}  # fmt: skip
"""Kinds without a reader are of commands that the product never runs."""
