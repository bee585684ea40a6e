"""Keys as a browser takes them: from the vocabulary's names to `key`, `code` and the number behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from handrail.errors import Unsupported
from handrail.protocol.keys import NAMES, code_of


class WebKey(NamedTuple):
    """One key of a keyboard."""

    key: str
    code: str
    number: int
    text: str = ""


_NAMED: dict[str, WebKey] = {
    "ENTER": WebKey("Enter", "Enter", 13, "\r"), "NUMPAD_ENTER": WebKey("Enter", "NumpadEnter", 13, "\r"),
    "DPAD_CENTER": WebKey("Enter", "Enter", 13, "\r"), "TAB": WebKey("Tab", "Tab", 9),
    "ESCAPE": WebKey("Escape", "Escape", 27), "SPACE": WebKey(" ", "Space", 32, " "),
    "DEL": WebKey("Backspace", "Backspace", 8), "FORWARD_DEL": WebKey("Delete", "Delete", 46),
    "DPAD_UP": WebKey("ArrowUp", "ArrowUp", 38), "DPAD_DOWN": WebKey("ArrowDown", "ArrowDown", 40),
    "DPAD_LEFT": WebKey("ArrowLeft", "ArrowLeft", 37), "DPAD_RIGHT": WebKey("ArrowRight", "ArrowRight", 39),
    "MOVE_HOME": WebKey("Home", "Home", 36), "MOVE_END": WebKey("End", "End", 35),
    "PAGE_UP": WebKey("PageUp", "PageUp", 33), "PAGE_DOWN": WebKey("PageDown", "PageDown", 34),
    "INSERT": WebKey("Insert", "Insert", 45), "MENU": WebKey("ContextMenu", "ContextMenu", 93),
    "PLUS": WebKey("+", "Equal", 187, "+"), "AT": WebKey("@", "Digit2", 50, "@"),
    "STAR": WebKey("*", "Digit8", 56, "*"), "POUND": WebKey("#", "Digit3", 51, "#"),
    **{f"F{number}": WebKey(f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)},
    **{str(digit): WebKey(str(digit), f"Digit{digit}", 48 + digit, str(digit)) for digit in range(10)},
    **{
        f"NUMPAD_{digit}": WebKey(str(digit), f"Numpad{digit}", 96 + digit, str(digit)) for digit in range(10)
    },
    **{
        chr(letter): WebKey(chr(letter + 32), f"Key{chr(letter)}", letter, chr(letter + 32))
        for letter in range(ord("A"), ord("Z") + 1)
    },
}  # fmt: skip
_SIGNS = {
    "COMMA": (",", "Comma", 188), "PERIOD": (".", "Period", 190), "GRAVE": ("`", "Backquote", 192),
    "MINUS": ("-", "Minus", 189), "EQUALS": ("=", "Equal", 187), "LEFT_BRACKET": ("[", "BracketLeft", 219),
    "RIGHT_BRACKET": ("]", "BracketRight", 221), "BACKSLASH": ("\\", "Backslash", 220),
    "SEMICOLON": (";", "Semicolon", 186), "APOSTROPHE": ("'", "Quote", 222), "SLASH": ("/", "Slash", 191),
}  # fmt: skip
_NAMED |= {name: WebKey(sign, code, number, sign) for name, (sign, code, number) in _SIGNS.items()}

COMMANDS = {"CUT": "cut", "COPY": "copy", "PASTE": "paste"}
"""Keys that a browser has as commands of editing."""
HISTORY = {"BACK": -1, "FORWARD": 1}
RELOAD = "REFRESH"


def constant_of(key: str | int) -> str:
    """The name of a key without Android's prefix; raises `Unsupported` for what no browser has."""
    code = code_of(key)
    name = NAMES.get(code, "") if code is not None else ""
    constant = name.removeprefix("KEYCODE_")
    if constant in _NAMED or constant in COMMANDS or constant in HISTORY or constant == RELOAD:
        return constant
    raise Unsupported(
        f"A browser has no key {key!r}",
        hint="It has back, KEYCODE_FORWARD, KEYCODE_REFRESH, and the keys of a keyboard.",
        delivery="not_delivered",
    )


MODIFIERS = {"ALT": 1, "CTRL": 2, "META": 4, "SHIFT": 8}
"""DevTools' bits of keys that are held."""
EDITING = {"A": "selectAll", "C": "copy", "X": "cut", "V": "paste", "Z": "undo", "Y": "redo"}
"""What ctrl and a letter do, as the browser's own menu does it."""


def chord_of(keys: Sequence[str]) -> tuple[int, list[str]]:
    """The bits of what is held, and the keys that are struck meanwhile."""
    names = [NAMES.get(code_of(key) or -1, "").removeprefix("KEYCODE_") for key in keys]
    held = {MODIFIERS.get(name.partition("_")[0], 0) for name in names}
    struck = [key for key, name in zip(keys, names, strict=True) if name.partition("_")[0] not in MODIFIERS]
    return sum(held), [constant_of(key) for key in struck]


def web_key(constant: str) -> WebKey:
    """Of a name that `constant_of` gave."""
    return _NAMED[constant]


def typed_key(character: str) -> WebKey:
    """The key that types one character; what no keyboard has is typed as itself."""
    name = _BY_TEXT.get(character.lower())
    if name is None:
        return WebKey(character, "", 0, character)
    known = _NAMED[name]
    return WebKey(character, known.code, known.number, character)


_BY_TEXT = {key.text: name for name, key in _NAMED.items() if len(key.text) == 1 and "NUMPAD" not in name}
