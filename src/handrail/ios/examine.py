"""`handrail doctor` for iPhones: what is missing on this computer, and a recording for those who build this.

The recording holds shapes and times, no words: nothing in it tells whose phone it is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from handrail import __version__
from handrail.clock import Clock
from handrail.config import wda_port
from handrail.errors import HandrailError, IosConnectionError
from handrail.ios.discovery import EXPERIMENTAL, QUICKSTART, dial, place_of
from handrail.ios.surface import open_iphone
from handrail.ios.usbmux import Usbmux
from handrail.ios.wda import LOOK_MS, Wda
from handrail.screen.node import ScreenPoint
from handrail.surface.capabilities import Apps, ScreenReader, Touch
from handrail.surface.gesture import swipe

Line = tuple[Literal["ok", "note", "warning"], str, str]
"""State, what is so, and what mends it."""
WIFI_MS = 1_000.0
SYSFS = Path("/sys/bus/usb/devices")
SETTINGS_APP = "com.apple.Preferences"
_UNMASKED_KEYS = frozenset({
    "type", "traits", "isEnabled", "isVisible", "isAccessible", "isFocused", "enabled", "visible", "error",
    "state", "ready", "device", "version", "sdkVersion", "time", "testmanagerdVersion", "userInterfaceStyle",
    "thermalState", "model", "frame", "productBundleIdentifier",
})  # fmt: skip
"""Keys whose words are Apple's or WebDriverAgent's own."""
_READS = (
    "/status", "/wda/screen", "/window/size", "/orientation", "/rotation", "/wda/activeAppInfo",
    "/wda/locked", "/wda/device/info", "/source?format=json",
    "/source?format=json&excluded_attributes=visible",
    "/source?format=xml", "/screenshot",
)  # fmt: skip
_PLAIN = frozenset({
    "PORTRAIT", "LANDSCAPE", "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT",
    "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN", "iOS", "auto", "WebDriverAgent is ready to accept commands",
})  # fmt: skip
"""Words of WebDriverAgent's own that tell nothing of a person."""
_SESSION_READS = ("/appium/settings", "/wda/batteryInfo", "/wda/alert/buttons", "/element/active")
_WORDS = re.compile(r'(?<=\s)(name|label|value|placeholderValue|bundleId|rawIdentifier)="[^"]*"')
"""Attributes of XML trees that hold somebody's words."""
_ROUNDS = 6


async def check_iphones(clock: Clock, env: Mapping[str, str]) -> list[Line]:
    """What iPhones need of this computer. None of it is essential to anybody who has none."""
    usb = Usbmux(env, clock)
    lines: list[Line] = []
    try:
        phones = await usb.iphones()
    except IosConnectionError as error:
        if named := iphones_on_usb():
            return [("warning", f"{named[0]} is on a cable. {error.message}", error.hint)]
        return [("note", f"{error.message}; only for iPhones on a cable", error.hint)]
    lines.append(("ok", f"usbmuxd at {usb.address}: {len(phones)} on a cable; {EXPERIMENTAL}", ""))
    if phones and shutil.which("ios", path=env.get("PATH")) is None:
        text = "go-ios is not installed; only for lists of apps and installs on iPhones"
        lines.append(("note", text, "github.com/danielpaulus/go-ios"))
    for phone in phones:
        name = f"ios:{phone.udid}"
        wda = Wda((await place_of(name, clock, env)).dial, clock, name)
        try:
            network = (await wda.status()).get("ios")
        except HandrailError:
            continue  # the list of devices says why
        finally:
            await wda.close()
        address = network.get("ip") if isinstance(network, dict) else None
        if isinstance(address, str) and await _answers(address, wda_port(env), clock):
            lines.append(
                (
                    "warning",
                    f"{name}: WebDriverAgent answers everybody in the network at {address}, no password",
                    f"{QUICKSTART}, Who can reach it",
                )
            )
    return lines


def iphones_on_usb(sysfs: Path = SYSFS) -> list[str]:
    """Apple's phones and tablets that the kernel sees, whether or not a usbmuxd runs. Linux only."""
    names = []
    for vendor in sysfs.glob("*/idVendor"):
        with suppress(OSError, UnicodeDecodeError):
            name = (vendor.parent / "product").read_text().strip()
            names += [name] if vendor.read_text().strip() == "05ac" and name.startswith("iP") else []
    return names


async def _answers(host: str, port: int, clock: Clock) -> bool:
    """Whether a WebDriverAgent is there: some networks take every connection."""
    wda = Wda(partial(dial, host, port), clock, host)
    try:
        return "state" in await wda.status(WIFI_MS)
    except HandrailError:
        return False
    finally:
        await wda.close()


async def record_iphone(
    name: str, clock: Clock, env: Mapping[str, str], tell: Callable[[str], object]
) -> dict[str, Any]:
    """Harmless calls and how they were answered: reads, and swipes in the Settings app, which is ended."""
    surface = await open_iphone(name, clock, env)
    wda, reader = surface.wda, surface.need(ScreenReader)
    calls: list[dict[str, Any]] = []

    async def timed(what: str, work: Awaitable[Any]) -> None:
        began = clock.monotonic_ms()
        try:
            answer: Any = without_words(await work)
        except HandrailError as error:
            answer = {"code": error.code, "error": error.details.get("error"), "delivery": error.delivery}
        calls.append({"call": what, "ms": round(clock.monotonic_ms() - began), "answer": answer})
        tell(f"{what}: {calls[-1]['ms']} ms")

    try:
        for turn in range(_ROUNDS):
            for path in _READS:
                await timed(f"GET {path}", wda.get(path, timeout_ms=LOOK_MS))
            for path in _SESSION_READS:
                await timed(f"GET /session/ID{path}", wda.read(path))
            if turn == 0:
                await timed("start Settings", surface.need(Apps).start(SETTINGS_APP, None))
            screen = await reader.look()
            x, y = screen.width // 2, screen.height // 2
            up, down = ScreenPoint(x, y + y // 3), ScreenPoint(x, y - y // 3)
            ends = (up, down) if turn % 2 == 0 else (down, up)
            await timed("swipe", surface.need(Touch).perform(swipe(*ends, 300)))
        await timed("stop Settings", surface.need(Apps).stop(SETTINGS_APP))
    finally:
        await surface.close()
    about = {"handrail": __version__, "kind": surface.place.kind}
    return {**about, "note": f"{EXPERIMENTAL}; words are replaced by their shapes", "calls": calls}


def without_words(answer: Any, key: str = "") -> Any:
    """The answer without anybody's words: letters become x, digits 0, and pictures their first bytes."""
    if isinstance(answer, dict):
        return {name: without_words(value, name) for name, value in answer.items()}
    if isinstance(answer, list):
        return [without_words(value, key) for value in answer]
    if not isinstance(answer, str) or key in _UNMASKED_KEYS:
        return answer
    if len(answer) > 20_000 and " " not in answer[:200] and "<" not in answer[:9]:
        return {"base64": len(answer), "begins": answer[:12]}
    if answer.startswith("<"):
        return _WORDS.sub(_masked, answer)
    return _mask_words(answer)


def _masked(attribute: re.Match[str]) -> str:
    name, _, words = attribute[0].partition("=")
    return f"{name}={_mask_words(words)}"


def _mask_words(words: str) -> str:
    """Leaves only spaces and ASCII's marks as they are."""
    return words if words in _PLAIN else re.sub(r"[^\W\d_]|[^\x00-\x7f]", "x", re.sub(r"\d", "0", words))
