"""How each part of the general state is asked for and read, in the words of Android 8 to 15. Pure.

Every section is cut to whole known lines on the device: no text of an app can pass for another section.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from handrail.adb.shell import Script
from handrail.android.display import DISPLAY_COMMAND, WINDOW_COMMAND
from handrail.android.foreground import FOCUS_LINES, FRONT_COMMAND, focused_titles

_SETTINGS = (
    "wifi_on|bluetooth_on|airplane_mode_on|location_mode|accelerometer_rotation|mode_ringer|"
    "animator_duration_scale|font_scale"
)
_SECTIONS = {
    "front": FRONT_COMMAND,
    "display": f"{DISPLAY_COMMAND}; {WINDOW_COMMAND}",
    "focus": f"dumpsys window | grep -E '{FOCUS_LINES}|^ *m(Global|Cur)Configuration='",
    "policy": "dumpsys window policy | grep -E '(^| )(showing|mIsShowing|m[A-Za-z]*Lockscreen)='",
    "keyboard": "dumpsys input_method | grep -oE 'mInputShown=[a-z]+'",
    "power": "dumpsys power | grep -oE 'mWakefulness=[A-Za-z]+'",
    "battery": "dumpsys battery | grep -E '^ *(level|scale|status):'",
    "audio": "dumpsys audio | grep -E '^- STREAM_|^ *(Max|streamVolume|Current|Devices):|mode .internal. ='",
    "call": "dumpsys telephony.registry | grep -oE 'mCallState=[0-9]'",
    "settings": (
        f"for table in global system secure; do settings list $table | grep -E '^({_SETTINGS})='; done"
    ),
}
_MARK = "@@handrail "


def asking(*names: str) -> Script:
    """Some sections in one round trip. Fixed text: nothing that a caller gives is in it."""
    return Script("; ".join(f"echo '{_MARK}{name}'; {_SECTIONS[name]}" for name in names) + "; true")


COMMAND = asking(*_SECTIONS)

_MARKED = re.compile(rf"^{_MARK}(\w+)$", re.MULTILINE)
_SHADES = {"NotificationShade", "StatusBar"}
_LEVEL = re.compile(r"^ *(level|scale|status): *(\d+)", re.MULTILINE)
TABLET_WIDTH_DP = 600
"""Android's own border: from this smallest width on apps show their tablet layouts."""
Ringer = Literal["normal", "vibrate", "silent"]
_RINGERS: dict[str, Ringer] = {"NORMAL": "normal", "VIBRATE": "vibrate", "SILENT": "silent"}
_RINGERS |= {"2": "normal", "1": "vibrate", "0": "silent"}
_GENERIC = {
    "android",
    "app",
    "apps",
    "mobile",
    "client",
    "main",
    "ui",
    "activity",
    "beta",
    "debug",
    "release",
}


def sections(text: str) -> dict[str, str]:
    """Name → lines; a section that is missing is empty."""
    pieces = _MARKED.split(text.replace("\r\n", "\n"))
    return dict.fromkeys(_SECTIONS, "") | dict(zip(pieces[1::2], pieces[2::2], strict=True))


class Configuration(NamedTuple):
    """What the global configuration tells."""

    form: Literal["phone", "tablet"] | None = None
    dark: bool | None = None
    font_scale: float | None = None


def configuration(text: str) -> Configuration:
    """`mGlobalConfiguration={1.0 … sw411dp … port night …}`; a light theme is the absence of `night`."""
    found = re.search(r"m(?:Global|Cur)Configuration=\{(.*)", text)
    if not found:
        return Configuration()
    words = found[1].partition("winConfig")[0].split()
    width = next((int(word[2:-2]) for word in words if re.fullmatch(r"sw\d+dp", word)), None)
    form: Literal["phone", "tablet"] | None = None
    if width is not None:
        form = "tablet" if width >= TABLET_WIDTH_DP else "phone"
    dark = None if "?night" in words else "night" in words
    return Configuration(form, dark, _number(words[0]) if words else None)


def settings(text: str) -> dict[str, str]:
    """`name=value` lines."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def switch(values: dict[str, str], name: str) -> bool | None:
    """A setting that is a number: 0 is off. wifi_on is 3 while airplane mode keeps it off."""
    value = values.get(name, "").strip()
    if not value.isdigit():
        return None
    return int(value) != 0 and not (name == "wifi_on" and value == "3")


def scale(values: dict[str, str], name: str) -> float | None:
    """A factor such as 1.0; settings that were never touched are 1."""
    return _number(values[name]) if name in values else 1.0 if values else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r" *\d+(\.\d+)? *", text) else None


def flag(text: str, name: str) -> bool | None:
    """`name=true`; any true one counts."""
    values = re.findall(rf"\b{name}=(true|false)", text)
    return "true" in values if values else None


def locked(text: str) -> bool | None:
    """The keyguard by its delegate, else by its monitor, else in the words of Android 8 and before."""
    said = re.findall(r"(?<!\S)(showing|mIsShowing|m(?:Showing|Dreaming)Lockscreen)=(true|false)", text)
    for words in (("showing",), ("mIsShowing",), ("mShowingLockscreen", "mDreamingLockscreen")):
        values = [value for word, value in said if word in words]
        if values:
            return "true" in values
    return None


def shade_open(text: str, is_locked: bool | None) -> bool | None:
    """An open shade has the focus; so has the lock screen, which is drawn in the same window."""
    if "mCurrentFocus=" not in text:
        return None
    if not _SHADES.intersection(focused_titles(text)):
        return False
    return None if is_locked is None else not is_locked


def screen_on(text: str) -> bool | None:
    """Awake, or showing a screen saver."""
    found = re.search(r"mWakefulness=(\w+)", text)
    return found[1] in {"Awake", "Dreaming"} if found else None


def battery(text: str) -> tuple[int | None, bool | None]:
    """Per cent, and whether it charges or is full (status 2 and 5); a second battery's lines come later."""
    values = {name: int(number) for name, number in reversed(_LEVEL.findall(text))}
    percent = values["level"] * 100 // (values.get("scale") or 100) if "level" in values else None
    return percent, values["status"] in {2, 5} if "status" in values else None


def music_volume(text: str) -> tuple[int | None, int | None]:
    """Index and highest index of the media stream; before Android 9 each device has its own in `Current`."""
    block = text.partition("- STREAM_MUSIC:")[2].partition("- STREAM_")[0]
    highest = re.search(r"Max: *(\d+)", block)
    index = re.search(r"streamVolume: *(\d+)", block)
    heard = int(index[1]) if index else _heard(block)
    if not highest or heard is None:
        return None, None
    return heard, int(highest[1])


def _heard(block: str) -> int | None:
    """The index of the device that plays: a television's HDMI has another one than its speaker."""
    current = re.search(r"Current: *(.*)", block)
    by_device = dict(re.findall(r"\(([\w -]+)\): *(\d+)", current[1])) if current else {}
    playing = re.search(r"Devices: *(.+)", block)
    names = re.findall(r"[A-Za-z]\w*", playing[1]) if playing else list(by_device)
    known = {by_device.get(name, by_device.get("default")) for name in names}
    only = known.pop() if len(known) == 1 else None
    return int(only) if only is not None else None


def ringer(text: str, values: dict[str, str]) -> Ringer | None:
    """What AudioService says, else the setting behind it."""
    found = re.search(r"mode .internal. = *(\w+)", text)
    return _RINGERS.get(found[1] if found else values.get("mode_ringer", ""))


def call(text: str) -> Literal["idle", "ringing", "active"] | None:
    """The busiest of all SIM cards."""
    states = [int(number) for number in re.findall(r"mCallState=(\d)", text)]
    words: dict[int, Literal["idle", "ringing", "active"]] = {0: "idle", 1: "ringing", 2: "active"}
    return words.get(max(states)) if states else None


def spoken_name(package: str) -> str:
    """The last part of a package's name that says something: com.instagram.android → Instagram."""
    words = [word for word in package.split(".")[1:] if word.lower() not in _GENERIC]
    word = words[-1] if words else package
    return word[:1].upper() + word[1:]
