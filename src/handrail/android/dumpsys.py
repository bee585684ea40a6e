"""Reads `dumpsys`, `wm` and `settings`: the display, the app in front, and the general state of the device.

Display 0 is the one that is tapped and dumped. Other displays (a cover screen, a cast, a car's second screen)
may be listed before it. Text of an app can't pass for another section, because the device cuts every section
to lines of a known shape.
"""

from __future__ import annotations

import re
from contextlib import suppress
from types import SimpleNamespace
from typing import Literal, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from handrail.adb.shell import DeviceShell, Script
from handrail.errors import AdbCommandError
from handrail.protocol.details import DeviceStateFacts
from handrail.screen.text import clean, quoted
from handrail.surface.values import Display, Foreground

SHOWN_COMMAND = "dumpsys display | grep -E '^ *Display [0-9]+:|mOverrideDisplayInfo=|DisplayViewport.'"
DISPLAY_COMMAND = Script(f"wm size; wm density; {SHOWN_COMMAND}; true")
"""One round trip: `wm` is unambiguous, and DisplayManager prints one line for each display."""
WINDOW_COMMAND = Script(
    "dumpsys window displays | grep -E '^ *Display: mDisplayId=|^ *init=|^ *mRotation=|mCurrentRotation=|"
    "^ *DisplayFrames |mDisplayRotation='; true"
)
"""For phones whose DisplayManager does not report the rotation."""

_SIZE = re.compile(r"(Physical|Override) size: *(\d+)x(\d+)")
_DENSITY = re.compile(r"(Physical|Override) density: *(\d+)")
_LOGICAL = re.compile(r"^ *Display (\d+):", re.MULTILINE)
_OVERRIDE = re.compile(r"mOverrideDisplayInfo=DisplayInfo\{(.*)")
_OWN_ID = re.compile(r"\bdisplayId (\d+)")
_VIEWPORT = re.compile(r"DisplayViewport\{([^{}]*)\}")
_WINDOWS = re.compile(r"^ *Display: mDisplayId=(\d+)", re.MULTILINE)
_TURNS = (
    re.compile(r"^ *mRotation=(?:ROTATION_)?(\d+)", re.MULTILINE),
    re.compile(r"\bmCurrentRotation=(?:ROTATION_)?(\d+)"),
    re.compile(r"^ *DisplayFrames w=\d+ h=\d+ r=(\d)", re.MULTILINE),
    re.compile(r"^ *mDisplayRotation=(?:ROTATION_)?(\d+)", re.MULTILINE),
)
"""WindowManager's names for the rotation over the years. A configuration's own `mRotation` is left out: its
line comes before its display on some Android versions and after it on others."""


class ShownDisplay(NamedTuple):
    """What one source reports about display 0; None for what it does not report."""

    size: tuple[int, int] | None = None
    """After rotation."""
    rotation: int | None = None
    density: int | None = None
    panel: str | None = None
    """The physical display as `screencap -d` expects it."""


async def read_display(shell: DeviceShell, timeout_ms: float) -> Display:
    """Asks WindowManager only if DisplayManager does not report the rotation."""
    output = await shell.run(DISPLAY_COMMAND, timeout_ms=timeout_ms, check=False)
    text = output.text + output.complaint
    if parse_display_manager(text).rotation is None:
        more = await shell.run(WINDOW_COMMAND, timeout_ms=timeout_ms, check=False)
        text += "\n" + more.text
        how = "`dumpsys window displays`" if parse_window_manager(text).rotation is not None else "its shape"
        note_fallback(shell, f"display: `dumpsys display` reports no rotation; {how} did")
    return parse_display(text)


def orientation_of(display: Display) -> Literal["portrait", "landscape"]:
    return "landscape" if display.width > display.height else "portrait"


def parse_display(text: str) -> Display:
    """Combines all sources; raises if none reports a size."""
    first, second, port = parse_display_manager(text), parse_window_manager(text), parse_viewport(text)
    natural = natural_size(text)
    rotation = next(
        (reading.rotation for reading in (first, second, port) if reading.rotation is not None), None
    )
    size = first.size or second.size or port.size
    if natural is not None:
        rotation = int(size == natural[::-1] != natural) if rotation is None else rotation
        size = turned_size(natural, rotation or 0)
    if size is None:
        raise AdbCommandError(
            f"`wm size` did not report the screen's size: {text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="wm size",
        )
    # Dots per inch from `wm density`; an override wins.
    densities = {kind: int(number) for kind, number in _DENSITY.findall(text)}
    density = densities.get("Override") or densities.get("Physical") or first.density or second.density
    return Display(*size, density or 160, rotation or 0)


def natural_size(text: str) -> tuple[int, int] | None:
    """Width and height before rotation; an override wins."""
    sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(text)}
    return sizes.get("Override") or sizes.get("Physical")


def turned_size(natural: tuple[int, int], rotation: int) -> tuple[int, int]:
    return natural[::-1] if rotation % 2 else natural


def parse_display_manager(text: str) -> ShownDisplay:
    """Reads `mOverrideDisplayInfo`, which apps receive: it includes overrides and rotation."""
    for number, block in _blocks(_LOGICAL, text):
        override = _OVERRIDE.search(block)
        own = _OWN_ID.search(override[1]) if override else None
        if override is None or (own[1] if own else number) != "0":
            continue
        info = override[1]
        return ShownDisplay(
            _pair(r"\breal (\d+) x (\d+)", info),
            _integer(r"\brotation ([0-3])\b", info),
            _integer(r"\bdensity (\d+)", info),
            _first(r'\buniqueId "local:(\d+)"', info),
        )
    return ShownDisplay()


def parse_window_manager(text: str) -> ShownDisplay:
    """Reads the block of display 0; output without blocks is about display 0."""
    blocks = _blocks(_WINDOWS, text)
    own = next((block for number, block in blocks if number == "0"), "" if blocks else text)
    turned = next((match for pattern in _TURNS if (match := pattern.search(own))), None)
    rotation = None
    if turned is not None:  # 0 to 3, or ROTATION_0 to ROTATION_270
        rotation = int(turned[1]) // (90 if "ROTATION_" in turned[0] else 1) % 4
    density = _integer(r"\bbase=\d+x\d+ (\d+)dpi", own) or _integer(r"\binit=\d+x\d+ (\d+)dpi", own)
    return ShownDisplay(_pair(r"\bcur=(\d+)x(\d+)", own), rotation, density)


def parse_viewport(text: str) -> ShownDisplay:
    """Where touches are mapped to. Its rotation includes how the panel is mounted, so it is asked last."""
    for port in _VIEWPORT.findall(text):
        fields = dict(re.findall(r"(\w+)='?([\w:.-]+)", port))
        if fields.get("displayId") == "0" and fields.get("valid") != "false":
            return ShownDisplay(
                _pair(r"logicalFrame=Rect\(0, 0 - (\d+), (\d+)\)", port),
                _integer(r"^[0-3]$", fields.get("orientation", "")),
                panel=_first(r"\buniqueId='local:(\d+)'", port),
            )
    return ShownDisplay()


def shown_panel(text: str) -> str | None:
    """The physical display that shows display 0; folding the phone changes it."""
    return parse_viewport(text).panel or parse_display_manager(text).panel


def _blocks(header: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    _, *parts = header.split(text)
    return list(zip(parts[::2], parts[1::2], strict=True))


def _pair(pattern: str, text: str) -> tuple[int, int] | None:
    match = re.search(pattern, text)
    return (int(match[1]), int(match[2])) if match else None


def _first(pattern: str, text: str) -> str | None:
    """The first group of the first match, or all of it."""
    match = re.search(pattern, text)
    return match[match.lastindex or 0] if match else None


def _integer(pattern: str, text: str) -> int | None:
    digits = _first(pattern, text)
    return int(digits) if digits else None


FRONT_COMMAND = Script(
    "dumpsys activity activities | grep -E '^ *Display #|ResumedActivity|mFocusedActivity'; true"
)
FOCUS_LINES = "^ *(Display: mDisplayId=|mCurrentFocus=|mFocusedApp=)"
FALLBACK = Script(f"dumpsys window | grep -E '{FOCUS_LINES}'; true")
"""For phones whose activity dump names no app, such as one with its lock screen on."""

_COMPONENT = r"([A-Za-z][\w.]*)/([\w.$]+)"
_RECORD = re.compile(rf"ActivityRecord\{{\S+ u\d+ {_COMPONENT}")
_LINE = re.compile(r"^\s*(\w+)(?:=|: *)(.*)$", re.MULTILINE)
_TITLED = re.compile(r"Window\{\S+ u-?\d+ (.*?) *\}")
_AFTER_TITLE = re.compile(r"(?: +(?:\w+=\S*|EXITING))+$")
_DISPLAY = re.compile(r"^ *Display(?:: mDisplayId=| #)(\d+)", re.MULTILINE)
_PACKAGE = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
_WHOLE_PHONE = ("ResumedActivity", "mFocusedActivity")
"""Printed once for the whole phone: the focused activity."""
_PER_TASK = ("topResumedActivity", "mResumedActivity")
"""Printed for every task: two apps side by side, or on two displays, have one each."""
T = TypeVar("T")


async def read_foreground(shell: DeviceShell, timeout_ms: float) -> Foreground:
    output = await shell.run(FRONT_COMMAND, timeout_ms=timeout_ms, check=False)
    foreground = parse_foreground(output.text)
    if foreground is None:
        output = await shell.run(FALLBACK, timeout_ms=timeout_ms, check=False)
        foreground = parse_foreground(output.text)
        outcome = "the focused window was read" if foreground else "the focused window names none either"
        note_fallback(shell, f"foreground: the activity dump names no app in front; {outcome}")
    return foreground or Foreground("", "")


def parse_foreground(text: str) -> Foreground | None:
    """Returns None if the text names no app, or several without a focus."""
    return _resumed_activity(text) or _focused_window(text)


def window_title(text: str) -> str | None:
    """The title in `Window{1a2b u0 TITLE}`; some vendors append ` type=2040 `."""
    match = _TITLED.search(text)
    return _AFTER_TITLE.sub("", match[1]) if match else None


def focused_titles(text: str) -> list[str]:
    """Titles of focused windows, each once; only display 0's if it has one."""
    titles = [(display, window_title(shown)) for display, shown in _lines(text, "mCurrentFocus")]
    return _on_shown([(display, title) for display, title in titles if title])


def _lines(text: str, *words: str) -> list[tuple[str | None, str]]:
    """What follows these words at the start of a line, with the display whose header precedes it."""
    before, *parts = _DISPLAY.split(text)
    blocks = [(None, before), *zip(parts[::2], parts[1::2], strict=True)]
    return [
        (display, match[2])
        for display, block in blocks
        for match in _LINE.finditer(block)
        if match[1] in words
    ]


def _resumed_activity(text: str) -> Foreground | None:
    """From ActivityManager. If another display has the focus, the app on display 0 still counts."""
    phone_wide = next((app for _, line in _lines(text, *_WHOLE_PHONE) if (app := _recorded(line))), None)
    tasks = next((lines for word in _PER_TASK if (lines := _lines(text, word))), [])
    named = [(display, activity) for display, line in tasks if (activity := _recorded(line))]
    here = {activity for display, activity in named if display == "0"}
    if phone_wide is not None and (phone_wide in here or len(here) != 1):
        return phone_wide
    several = here or {activity for _, activity in named}
    return several.pop() if len(several) == 1 else None


def _focused_window(text: str) -> Foreground | None:
    """A focused window without an activity (a shade, a menu) covers the focused app."""
    titles = focused_titles(text)
    focused = _lines(text, "mFocusedApp")
    apps = _on_shown([(display, app) for display, line in focused if (app := _recorded(line))])
    if len(titles) > 1:
        return None
    title = titles[0] if titles else ""
    if component := re.match(_COMPONENT, title):
        return _named(component)
    if len(apps) == 1:
        return apps[0]
    unnamed = Foreground(title, "") if _PACKAGE.fullmatch(title) else None
    return next((app for app in apps if app.package == title), unnamed)


def _on_shown(by_display: list[tuple[str | None, T]]) -> list[T]:
    """Entries of display 0 if there are any, else of all displays; each once."""
    here = [value for display, value in by_display if display == "0"]
    return list(dict.fromkeys(here or [value for _, value in by_display]))


def _recorded(text: str) -> Foreground | None:
    match = _RECORD.search(text)
    return _named(match) if match else None


def _named(component: re.Match[str]) -> Foreground:
    package, activity = component[1], component[2]
    return Foreground(package, package + activity if activity.startswith(".") else activity)


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
    "boot": "getprop sys.boot_completed 0",
    "battery": "dumpsys battery | grep -E '^ *(level|scale|status):'",
    "audio": "dumpsys audio | grep -E '^- STREAM_|^ *(Max|streamVolume|Current|Devices):|mode .internal. ='",
    "call": "dumpsys telephony.registry | grep -oE 'mCallState=[0-9]'",
    "settings": (
        f"for table in global system secure; do settings list $table | grep -E '^({_SETTINGS})='; done"
    ),
}
_MARK = "@@handrail "


def sections_script(*names: str) -> Script:
    """Several sections in one round trip. The script contains no caller's text."""
    return Script("; ".join(f"echo '{_MARK}{name}'; {_SECTIONS[name]}" for name in names) + "; true")


COMMAND = sections_script(*_SECTIONS)

_MARKED = re.compile(rf"^{_MARK}(\w+)$", re.MULTILINE)
_SHADES = {"NotificationShade", "StatusBar"}
_LEVEL = re.compile(r"^ *(level|scale|status): *(\d+)", re.MULTILINE)
TABLET_WIDTH_DP = 600
"""From this smallest width on, Android apps show their tablet layouts."""
Ringer = Literal["normal", "vibrate", "silent"]
_RINGERS: dict[str, Ringer] = {"NORMAL": "normal", "VIBRATE": "vibrate", "SILENT": "silent"}
_RINGERS |= {"2": "normal", "1": "vibrate", "0": "silent"}
_GENERIC = re.compile("android|apps?|mobile|client|main|ui|activity|beta|debug|release", re.IGNORECASE)


def sections(text: str) -> dict[str, str]:
    """The output by its headings; a heading that is missing has an empty text."""
    pieces = _MARKED.split(text.replace("\r\n", "\n"))
    return dict.fromkeys(_SECTIONS, "") | dict(zip(pieces[1::2], pieces[2::2], strict=True))


def configuration(text: str) -> tuple[Literal["phone", "tablet"] | None, bool | None, float | None]:
    """Form, dark theme and font scale of Android's global configuration.

    `mGlobalConfiguration={1.0 … sw411dp … port night …}`; a light theme has no `night`.
    """
    words = (_first(r"m(?:Global|Cur)Configuration=\{(.*)", text) or "").partition("winConfig")[0].split()
    if not words:
        return None, None, None
    width = next((int(word[2:-2]) for word in words if re.fullmatch(r"sw\d+dp", word)), None)
    form: Literal["phone", "tablet"] | None = None
    if width is not None:
        form = "tablet" if width >= TABLET_WIDTH_DP else "phone"
    return form, None if "?night" in words else "night" in words, _number(words[0])


def settings(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def switch(values: dict[str, str], name: str) -> bool | None:
    """0 is off. wifi_on is 3 while airplane mode keeps Wi-Fi off."""
    value = values.get(name, "").strip()
    if not value.isdigit():
        return None
    return int(value) != 0 and not (name == "wifi_on" and value == "3")


def scale(values: dict[str, str], name: str) -> float | None:
    """A factor such as 1.0, which is also the default."""
    return _number(values[name]) if name in values else 1.0 if values else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r" *\d+(\.\d+)? *", text) else None


def flag(text: str, name: str) -> bool | None:
    """Whether `name=true` stands anywhere in the text; None where the name does not occur."""
    values = re.findall(rf"\b{name}=(true|false)", text)
    return "true" in values if values else None


def locked(text: str) -> bool | None:
    """Asks the keyguard's delegate, else its monitor, else reads the format of Android 8."""
    flags = re.findall(r"(?<!\S)(showing|mIsShowing|m(?:Showing|Dreaming)Lockscreen)=(true|false)", text)
    for words in (("showing",), ("mIsShowing",), ("mShowingLockscreen", "mDreamingLockscreen")):
        values = [value for word, value in flags if word in words]
        if values:
            return "true" in values
    return None


def shade_open(text: str, is_locked: bool | None) -> bool | None:
    """The shade and the lock screen are the same window, so a locked phone has no open shade."""
    if "mCurrentFocus=" not in text:
        return None
    if not _SHADES.intersection(focused_titles(text)):
        return False
    return None if is_locked is None else not is_locked


def screen_on(text: str) -> bool | None:
    """Awake, or showing a screen saver."""
    state = _first(r"mWakefulness=(\w+)", text)
    return None if state is None else state in {"Awake", "Dreaming"}


def battery(text: str) -> tuple[int | None, bool | None]:
    """Per cent, and whether it charges or is full (status 2 and 5); a second battery comes later."""
    values = {name: int(number) for name, number in reversed(_LEVEL.findall(text))}
    percent = values["level"] * 100 // (values.get("scale") or 100) if "level" in values else None
    return percent, values["status"] in {2, 5} if "status" in values else None


def music_volume(text: str) -> tuple[int | None, int | None]:
    """Index and maximum of the media stream; before Android 9 each output has its own index in `Current`.

    That of the output that plays counts: a television's HDMI and speaker differ.
    """
    block = text.partition("- STREAM_MUSIC:")[2].partition("- STREAM_")[0]
    highest, volume = _integer(r"Max: *(\d+)", block), _integer(r"streamVolume: *(\d+)", block)
    if volume is None:
        by_device = dict(re.findall(r"\(([\w -]+)\): *(\d+)", _first(r"Current: *(.*)", block) or ""))
        playing = _first(r"Devices: *(.+)", block)
        names = list(by_device) if playing is None else re.findall(r"[A-Za-z]\w*", playing)
        volumes = {by_device.get(name, by_device.get("default")) for name in names}
        only = volumes.pop() if len(volumes) == 1 else None
        volume = None if only is None else int(only)
    return (None, None) if highest is None or volume is None else (volume, highest)


def ringer(text: str, values: dict[str, str]) -> Ringer | None:
    """Reads AudioService's line, else the setting."""
    return _RINGERS.get(_first(r"mode .internal. = *(\w+)", text) or values.get("mode_ringer", ""))


def call(text: str) -> Literal["idle", "ringing", "active"] | None:
    """The busiest state of all SIM cards."""
    states = [int(number) for number in re.findall(r"mCallState=(\d)", text)]
    words: dict[int, Literal["idle", "ringing", "active"]] = {0: "idle", 1: "ringing", 2: "active"}
    return words.get(max(states)) if states else None


def home_apps(activities: str) -> set[str]:
    """Apps whose task was started as the home screen, from `dumpsys activity activities`."""
    return set(re.findall(r"cat=\[android\.intent\.category\.HOME\].*?cmp=([\w.]+)/", activities))


def app_name_from_package(package: str) -> str:
    """The last meaningful part of a package's name: com.instagram.android → Instagram."""
    words = [word for word in package.split(".")[1:] if not _GENERIC.fullmatch(word)]
    word = words[-1] if words else package
    return word[:1].upper() + word[1:]


_NOTES: WeakKeyDictionary[DeviceShell, dict[str, bool]] = WeakKeyDictionary()
"""Lines by phone, and whether they have been taken."""
MOST = 100
"""Lines per phone. They may contain a phone's text, so their number is limited."""


def note_fallback(shell: DeviceShell, line: str) -> None:
    """Reports once per phone that a second-best source was used."""
    notes = _NOTES.setdefault(shell, {})
    if len(notes) < MOST:
        notes.setdefault(line, False)


def take_fallback_notes(shell: DeviceShell) -> list[str]:
    """Lines since the last call."""
    notes = _NOTES.get(shell, {})
    lines = [line for line, is_taken in notes.items() if not is_taken]
    notes.update(dict.fromkeys(lines, True))
    return lines


CLIPBOARD_SHOWN = 200


async def read_state(shell: DeviceShell, *, clipboard: str | None = None) -> DeviceStateFacts:
    """One command on the device. The clipboard comes from a channel that can read it."""
    return parse_state((await shell.run(COMMAND, check=False)).text, clipboard)


def parse_state(text: str, clipboard: str | None = None) -> DeviceStateFacts:
    dumps = sections(text)
    front = parse_foreground(dumps["front"]) or parse_foreground(dumps["focus"])
    display = None
    with suppress(AdbCommandError):
        display = parse_display(dumps["display"])
    form, is_dark, font_scale = configuration(dumps["focus"])
    values = settings(dumps["settings"])
    is_locked = locked(dumps["policy"])
    volume, volume_max = music_volume(dumps["audio"])
    percent, charging = battery(dumps["battery"])
    facts = {
        "package": front.package if front else None,
        "activity": front.activity if front else None,
        "app_name": app_name_from_package(front.package) if front else None,
        "form": form,
        "orientation": orientation_of(display) if display else None,
        "width": display.width if display else None,
        "height": display.height if display else None,
        "density": display.density if display else None,
        "keyboard_shown": flag(dumps["keyboard"], "mInputShown"),
        "screen_on": screen_on(dumps["power"]),
        "locked": is_locked,
        "battery_percent": percent,
        "charging": charging,
        "wifi": switch(values, "wifi_on"),
        "bluetooth": switch(values, "bluetooth_on"),
        "location": switch(values, "location_mode"),
        "airplane_mode": switch(values, "airplane_mode_on"),
        "auto_rotate": switch(values, "accelerometer_rotation"),
        "volume": volume,
        "volume_max": volume_max,
        "ringer": ringer(dumps["audio"], values),
        "clipboard": clipboard,
        "call": call(dumps["call"]),
        "shade_open": shade_open(dumps["focus"], is_locked),
        "dark_mode": is_dark,
        "animation_scale": scale(values, "animator_duration_scale"),
        "font_scale": font_scale or scale(values, "font_scale"),
    }
    return cast("DeviceStateFacts", {name: fact for name, fact in facts.items() if fact is not None})


def paragraph(facts: DeviceStateFacts) -> str:
    """The device's state in sentences. Unknown facts are left out."""
    state = SimpleNamespace(**(dict.fromkeys(DeviceStateFacts.__annotations__) | facts))
    shape = " in ".join(word for word in (state.form or "device", state.orientation) if word)
    sound = _join(
        state.volume is not None and f"volume {state.volume}/{state.volume_max}",
        state.ringer and f"ringer {state.ringer}",
    )
    speed = state.animation_scale
    power = _join(
        state.battery_percent is not None and f"{state.battery_percent} %",
        _word(state.charging, "charging", "not charging"),
    )
    sentences = [
        state.package and f"{state.app_name} ({state.package}) is in front, activity {state.activity}",
        _join(
            (state.form or state.orientation) and shape.capitalize(),
            state.width and f"{state.width}x{state.height} @{state.density}dpi",
            _word(state.keyboard_shown, "keyboard shown", "keyboard hidden"),
        ),
        _join(_word(state.screen_on, "Screen on", "Screen off"), _word(state.locked, "locked", "unlocked")),
        power and f"Battery {power}",
        _join(
            _word(state.wifi, "Wi-Fi on", "Wi-Fi off"),
            _word(state.bluetooth, "Bluetooth on", "Bluetooth off"),
            _word(state.location, "location on", "location off"),
            _word(state.airplane_mode, "airplane mode on", "airplane mode off"),
        ),
        _word(state.auto_rotate, "Auto-rotate on", "Auto-rotate off"),
        sound[:1].upper() + sound[1:],
        state.clipboard is not None and f"Clipboard: {quoted(clean(state.clipboard)[:CLIPBOARD_SHOWN])}",
        state.call and {"idle": "No call"}.get(state.call, f"Call {state.call}"),
        _word(state.shade_open, "Notification shade open", "Notification shade closed"),
        _join(
            _word(state.dark_mode, "Dark mode on", "Dark mode off"),
            speed is not None and f"animations {f'x{speed:g}' if speed else 'off'}",
            state.font_scale is not None and f"font scale {state.font_scale:g}",
        ),
    ]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _word(value: bool | None, yes: str, no: str) -> str:
    return "" if value is None else yes if value else no


def _join(*words: str | Literal[False] | None) -> str:
    return ", ".join(word for word in words if word)
