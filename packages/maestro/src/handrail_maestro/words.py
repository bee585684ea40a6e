"""Maestro's commands as a table: which options each takes, what kind of value each wants, and what it is for.

Reading, checking, running and converting all go by this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "text", "number", "whole", "switch", "word", "file", "files", "selector", "selectors", "commands",
    "condition", "env", "permissions", "arguments", "points", "point", "ends", "direction", "key",
    "orientation", "pattern", "script", "onoff", "traits", "link", "app",
]  # fmt: skip
"""What a value must look like; most may hold `${…}` and are judged when that is filled."""

SELECTOR: Mapping[str, Kind] = {
    "text": "pattern", "id": "pattern", "enabled": "switch", "checked": "switch", "focused": "switch",
    "selected": "switch", "width": "whole", "height": "whole", "tolerance": "whole", "traits": "traits",
    "below": "selector", "above": "selector", "leftOf": "selector", "rightOf": "selector",
    "containsChild": "selector", "containsDescendants": "selectors", "childOf": "selector",
    "index": "number", "css": "text", "point": "point", "optional": "switch", "label": "text",
    "retryTapIfNoChange": "switch", "waitUntilVisible": "switch", "repeat": "whole", "delay": "whole",
    "waitToSettleTimeoutMs": "whole", "start": "text", "end": "text",
}  # fmt: skip
"""What describes an element. Maestro takes all of it in every selector: what belongs to taps and to
`swipe.from` has no effect elsewhere, `start` and `end` nowhere."""
SELECTING = frozenset(SELECTOR) - {
    "optional", "label", "retryTapIfNoChange", "waitUntilVisible", "repeat", "delay", "waitToSettleTimeoutMs",
    "start", "end", "tolerance",
}  # fmt: skip
"""Fields by which an element or a place is chosen."""

CONDITION: Mapping[str, Kind] = {
    "platform": "word", "true": "script", "visible": "selector", "notVisible": "selector", "label": "text",
    "optional": "switch",
}  # fmt: skip

HEADER: Mapping[str, str] = {
    "appId": "text", "url": "text", "name": "text", "tags": "list", "env": "env", "onFlowStart": "commands",
    "onFlowComplete": "commands", "properties": "env", "jsEngine": "text", "androidWebViewHierarchy": "text",
}  # fmt: skip

CONFIG = (
    "flows", "includeTags", "excludeTags", "executionOrder", "testOutputDir", "platform", "baselineBranch",
    "notifications", "disableRetries", "local", "ai",
)  # fmt: skip
"""Keys of a workspace's config.yaml."""

KEYS: Mapping[str, str] = {
    "enter": "enter", "backspace": "delete", "back": "back", "home": "home", "lock": "KEYCODE_SLEEP",
    "volume up": "volume_up", "volume down": "volume_down", "power": "power", "tab": "tab",
    "escape": "escape", "remote dpad up": "dpad_up", "remote dpad down": "dpad_down",
    "remote dpad left": "dpad_left", "remote dpad right": "dpad_right",
    "remote dpad center": "dpad_center", "remote media play pause": "KEYCODE_MEDIA_PLAY_PAUSE",
    "remote media stop": "KEYCODE_MEDIA_STOP", "remote media next": "KEYCODE_MEDIA_NEXT",
    "remote media previous": "KEYCODE_MEDIA_PREVIOUS", "remote media rewind": "KEYCODE_MEDIA_REWIND",
    "remote media fast forward": "KEYCODE_MEDIA_FAST_FORWARD",
    "remote system navigation up": "KEYCODE_SYSTEM_NAVIGATION_UP",
    "remote system navigation down": "KEYCODE_SYSTEM_NAVIGATION_DOWN", "remote button a": "KEYCODE_BUTTON_A",
    "remote button b": "KEYCODE_BUTTON_B", "remote menu": "menu", "tv input": "KEYCODE_TV_INPUT",
    "tv input hdmi 1": "KEYCODE_TV_INPUT_HDMI_1", "tv input hdmi 2": "KEYCODE_TV_INPUT_HDMI_2",
    "tv input hdmi 3": "KEYCODE_TV_INPUT_HDMI_3",
}  # fmt: skip
"""Maestro's names of keys and Handrail's. Its Tab sends a space by mistake; here it is Tab."""

DIRECTIONS = ("up", "down", "left", "right")
ORIENTATIONS = {"portrait": "portrait", "landscapeleft": "landscape", "landscaperight": "landscape",
                "upsidedown": "portrait"}  # fmt: skip
PLATFORMS = ("android", "ios", "web")
TRAITS = ("text", "long-text", "square")


@dataclass(frozen=True, slots=True)
class Word:
    """One command."""

    options: Mapping[str, Kind] = field(default_factory=dict)
    short: str = ""
    """The option that a bare value fills; "selector" where it is a selector's text."""
    bare: bool = False
    """May stand as a word without options."""
    needs: tuple[str, ...] = ()
    """Options of which one must be there."""
    element: bool = False
    """The fields of a selector are options too."""
    loose: bool = False
    """Options that nobody knows are passed over, as Maestro does."""
    acts: bool = True
    """It touches the phone, or computes: look-up budgets count from its end."""
    why_not: str = ""
    """Why Handrail does not do it."""
    hint: str = ""


_APP: Mapping[str, Kind] = {"appId": "app", "url": "app"}
_AI = "asks a service of Maestro's cloud, which Handrail does not"
_USE = "Use assertVisible, or an agent's run."

WORDS: Mapping[str, Word] = {
    "tapOn": Word({}, "selector", element=True),
    "doubleTapOn": Word({}, "selector", element=True),
    "longPressOn": Word({}, "selector", element=True),
    "swipe": Word(
        {"direction": "direction", "start": "ends", "end": "ends", "from": "selector", "duration": "whole",
         "waitToSettleTimeoutMs": "whole"},
        needs=("direction", "start"), loose=True,
    ),
    "scroll": Word(bare=True),
    "scrollUntilVisible": Word(
        {"element": "selector", "direction": "direction", "timeout": "number", "speed": "number",
         "visibilityPercentage": "whole", "centerElement": "switch", "waitToSettleTimeoutMs": "whole"},
        needs=("element",),
    ),
    "inputText": Word({"text": "text"}, "text", needs=("text",), loose=True),
    "inputRandomText": Word({"length": "whole"}, bare=True),
    "inputRandomNumber": Word({"length": "whole"}, bare=True),
    "inputRandomEmail": Word(bare=True),
    "inputRandomPersonName": Word(bare=True),
    "inputRandomCityName": Word(bare=True),
    "inputRandomCountryName": Word(bare=True),
    "inputRandomColorName": Word(bare=True),
    "eraseText": Word({"charactersToErase": "whole"}, "charactersToErase", bare=True),
    "pressKey": Word({"key": "key"}, "key", needs=("key",)),
    "back": Word(bare=True),
    "hideKeyboard": Word(bare=True),
    "copyTextFrom": Word({}, "selector", element=True, acts=False),
    "setClipboard": Word({"text": "text"}, "text", needs=("text",), acts=False),
    "pasteText": Word(bare=True),
    "launchApp": Word(
        {**_APP, "clearState": "switch", "clearKeychain": "switch", "stopApp": "switch",
         "permissions": "permissions", "arguments": "arguments"},
        "appId", bare=True,
    ),
    "stopApp": Word(_APP, "appId", bare=True),
    "killApp": Word(_APP, "appId", bare=True),
    "clearState": Word(_APP, "appId", bare=True),
    "clearKeychain": Word(bare=True, acts=False),
    "setPermissions": Word({**_APP, "permissions": "permissions"}, needs=("permissions",), acts=False),
    "openLink": Word({"link": "link", "autoVerify": "switch", "browser": "switch"}, "link", needs=("link",)),
    "setAirplaneMode": Word({"value": "onoff"}, "value", needs=("value",), loose=True),
    "toggleAirplaneMode": Word(bare=True),
    "setDarkMode": Word({"value": "onoff"}, "value", needs=("value",), loose=True),
    "toggleDarkMode": Word(bare=True),
    "assertDarkMode": Word(bare=True, acts=False),
    "assertLightMode": Word(bare=True, acts=False),
    "setOrientation": Word(
        {"orientation": "orientation"}, "orientation", needs=("orientation",), loose=True
    ),
    "setLocation": Word({"latitude": "number", "longitude": "number"}, needs=("latitude",)),
    "travel": Word({"points": "points", "speed": "number"}, needs=("points",)),
    "addMedia": Word({"files": "files"}, "files", needs=("files",)),
    "assertVisible": Word({}, "selector", element=True, acts=False),
    "assertNotVisible": Word({}, "selector", element=True, acts=False),
    "extendedWaitUntil": Word(
        {"visible": "selector", "notVisible": "selector", "timeout": "number"},
        needs=("visible", "notVisible"), acts=False,
    ),
    "waitForAnimationToEnd": Word({"timeout": "number"}, bare=True),
    "assertTrue": Word({"condition": "script"}, "condition", needs=("condition",), loose=True, acts=False),
    "takeScreenshot": Word({"path": "text", "cropOn": "selector"}, "path", needs=("path",), acts=False),
    "assertScreenshot": Word(
        {"path": "text", "thresholdPercentage": "number", "cropOn": "selector"}, "path", needs=("path",),
        acts=False,
    ),
    "startRecording": Word({"path": "text"}, "path", needs=("path",), acts=False),
    "stopRecording": Word(bare=True, acts=False),
    "evalScript": Word({"script": "script"}, "script", needs=("script",), loose=True),
    "runScript": Word({"file": "file", "env": "env", "when": "condition"}, "file", needs=("file",)),
    "runFlow": Word(
        {"file": "file", "commands": "commands", "when": "condition", "env": "env"}, "file",
        needs=("file", "commands"),
    ),
    "repeat": Word({"times": "number", "while": "condition", "commands": "commands"}, needs=("commands",)),
    "retry": Word(
        {"maxRetries": "number", "file": "file", "commands": "commands", "env": "env"},
        needs=("file", "commands"),
    ),
    "assertWithAI": Word({"assertion": "text"}, "assertion", why_not=_AI, hint=_USE, acts=False),
    "assertNoDefectsWithAI": Word(bare=True, why_not=_AI, hint=_USE, acts=False),
    "extractTextWithAI": Word(
        {"query": "text", "outputVariable": "word"}, "query", why_not=_AI, acts=False,
        hint="Use copyTextFrom.",
    ),
    "openBrowser": Word(
        {"link": "link"}, "link", why_not="is a word that Maestro knows and can't run", hint="Use openLink."
    ),
}  # fmt: skip

SHARED: Mapping[str, Kind] = {"label": "text", "optional": "switch"}
"""What every command takes."""
OLD_ACTIONS = ("back", "hideKeyboard", "scroll", "clearKeychain", "pasteText")
"""`action: back`, the old form."""
AI = frozenset({"assertWithAI", "assertNoDefectsWithAI", "extractTextWithAI"})
"""Optional unless they say otherwise."""


def options_of(name: str) -> dict[str, Kind]:
    """Every option that this command takes."""
    word = WORDS[name]
    fields = SELECTOR if word.element else {}
    return {**fields, **word.options, **SHARED}


def short_of(name: str) -> str:
    """The option that a bare value after the command's name fills."""
    return {"selector": "text"}.get(WORDS[name].short, WORDS[name].short)
