"""The device's general state (seed 001) as data and as one paragraph, read in one round trip.

A part that a device does not tell is None; what is read how is known by `state_parts`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from handrail.adb.shell import DeviceShell
from handrail.android import state_parts as parts
from handrail.android.display import parse_display
from handrail.android.foreground import parse_foreground
from handrail.android.settings import stands
from handrail.errors import AdbCommandError
from handrail.surface.values import Display
from handrail.tree.quote import clean, quoted

CLIPBOARD_SHOWN = 200


@dataclass(frozen=True, slots=True)
class DeviceState:
    """What seed 001's get_general_state tells, and whether the screen is on and locked."""

    package: str | None = None
    activity: str | None = None
    app_name: str | None = None
    """The package's own word for it: a shell can't read labels."""
    form: Literal["phone", "tablet"] | None = None
    orientation: Literal["portrait", "landscape"] | None = None
    width: int | None = None
    height: int | None = None
    density: int | None = None
    keyboard_shown: bool | None = None
    screen_on: bool | None = None
    locked: bool | None = None
    battery_percent: int | None = None
    charging: bool | None = None
    wifi: bool | None = None
    bluetooth: bool | None = None
    location: bool | None = None
    airplane_mode: bool | None = None
    auto_rotate: bool | None = None
    volume: int | None = None
    volume_max: int | None = None
    ringer: Literal["normal", "vibrate", "silent"] | None = None
    clipboard: str | None = None
    call: Literal["idle", "ringing", "active"] | None = None
    shade_open: bool | None = None
    dark_mode: bool | None = None
    animation_scale: float | None = None
    font_scale: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


async def read_state(shell: DeviceShell, *, clipboard: str | None = None) -> DeviceState:
    """One command on the device. The clipboard comes from whoever has a channel to it."""
    answer = await shell.run(parts.COMMAND, check=False)
    return parse_state(answer.text, clipboard)


def parse_state(text: str, clipboard: str | None = None) -> DeviceState:
    """The sections of the command's output, each read on its own."""
    told = parts.sections(text)
    front = parse_foreground(told["front"]) or parse_foreground(told["focus"])
    display = _display(told["display"])
    configuration = parts.configuration(told["focus"])
    settings = parts.settings(told["settings"])
    locked = parts.locked(told["policy"])
    volume, volume_max = parts.music_volume(told["audio"])
    percent, charging = parts.battery(told["battery"])
    return DeviceState(
        package=front.package if front else None,
        activity=front.activity if front else None,
        app_name=parts.spoken_name(front.package) if front else None,
        form=configuration.form,
        orientation=stands(display) if display else None,
        width=display.width if display else None,
        height=display.height if display else None,
        density=display.density if display else None,
        keyboard_shown=parts.flag(told["keyboard"], "mInputShown"),
        screen_on=parts.screen_on(told["power"]),
        locked=locked,
        battery_percent=percent,
        charging=charging,
        wifi=parts.switch(settings, "wifi_on"),
        bluetooth=parts.switch(settings, "bluetooth_on"),
        location=parts.switch(settings, "location_mode"),
        airplane_mode=parts.switch(settings, "airplane_mode_on"),
        auto_rotate=parts.switch(settings, "accelerometer_rotation"),
        volume=volume,
        volume_max=volume_max,
        ringer=parts.ringer(told["audio"], settings),
        clipboard=clipboard,
        call=parts.call(told["call"]),
        shade_open=parts.shade_open(told["focus"], locked),
        dark_mode=configuration.dark,
        animation_scale=parts.scale(settings, "animator_duration_scale"),
        font_scale=configuration.font_scale or parts.scale(settings, "font_scale"),
    )


def _display(text: str) -> Display | None:
    try:
        return parse_display(text)
    except AdbCommandError:
        return None


def paragraph(state: DeviceState) -> str:
    """The same for a reader; parts that are not known are left out."""
    sentences = [
        _front(state),
        _screen(state),
        _join(
            "", _word(state.screen_on, "Screen on", "Screen off"), _word(state.locked, "locked", "unlocked")
        ),
        _battery(state),
        _radios(state),
        _word(state.auto_rotate, "Auto-rotate on", "Auto-rotate off"),
        _sound(state),
        None if state.clipboard is None else f"Clipboard: {quoted(clean(state.clipboard)[:CLIPBOARD_SHOWN])}",
        None if state.call is None else {"idle": "No call"}.get(state.call, f"Call {state.call}"),
        _word(state.shade_open, "Notification shade open", "Notification shade closed"),
        _looks(state),
    ]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _word(value: bool | None, yes: str, no: str) -> str | None:
    return None if value is None else yes if value else no


def _join(lead: str, *words: str | None) -> str | None:
    known = [word for word in words if word]
    return lead + ", ".join(known) if known else None


def _front(state: DeviceState) -> str | None:
    if state.package is None:
        return None
    return f"{state.app_name} ({state.package}) is in front, activity {state.activity}"


def _screen(state: DeviceState) -> str | None:
    size = f"{state.width}x{state.height} @{state.density}dpi" if state.width else None
    shape = " in ".join(word for word in (state.form or "device", state.orientation) if word)
    keyboard = _word(state.keyboard_shown, "keyboard shown", "keyboard hidden")
    return _join("", shape.capitalize() if state.form or state.orientation else None, size, keyboard)


def _battery(state: DeviceState) -> str | None:
    level = None if state.battery_percent is None else f"{state.battery_percent} %"
    return _join("Battery ", level, _word(state.charging, "charging", "not charging"))


def _radios(state: DeviceState) -> str | None:
    named = {
        "Wi-Fi": state.wifi,
        "Bluetooth": state.bluetooth,
        "location": state.location,
        "airplane mode": state.airplane_mode,
    }
    return _join("", *(_word(value, f"{name} on", f"{name} off") for name, value in named.items()))


def _sound(state: DeviceState) -> str | None:
    volume = None if state.volume is None else f"volume {state.volume}/{state.volume_max}"
    joined = _join("", volume, f"ringer {state.ringer}" if state.ringer else None)
    return joined and joined[0].upper() + joined[1:]


def _looks(state: DeviceState) -> str | None:
    scale = state.animation_scale
    moving = None if scale is None else f"animations {f'x{scale:g}' if scale else 'off'}"
    font = None if state.font_scale is None else f"font scale {state.font_scale:g}"
    return _join("", _word(state.dark_mode, "Dark mode on", "Dark mode off"), moving, font)
