"""The on-screen keyboard: a window with real keys. What it types goes through `editing`."""

from __future__ import annotations

from handrail_sim.input.editing import Editing
from handrail_sim.screen.shown import Shown
from handrail_sim.view import View, column, row
from handrail_sim.view.view import Handler, Style
from handrail_sim.view.windows import Window

PACKAGE = "com.android.inputmethod.latin"
LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SYMBOLS = ("1234567890", "@#$_&-+()/", "*\"':;!?")
DIGITS = ("123", "456", "789", "*0#")


class Ime:
    """Open or closed, which layer, shifted or not; all plain data."""

    def __init__(self, phone: Shown, editing: Editing) -> None:
        self.phone = phone
        self._editing = editing
        self.layer = "letters"
        self.shift = False
        self.action = "done"
        self.window = Window("InputMethod", PACKAGE, "ime", self._build, placement="fill", focusable=False)

    @property
    def visible(self) -> bool:
        return self.phone.keyboard_shown

    @visible.setter
    def visible(self, shown: bool) -> None:
        self.phone.keyboard_shown = shown

    def show(self, field: View) -> None:
        if not self.visible:
            self.phone.window_opened(PACKAGE, 200.0)
        self.visible = True
        self.layer = "digits" if field.input_type in ("number", "phone", "decimal") else "letters"
        self.shift = not field.text and field.input_type == "text" and not field.password
        self.action = (
            "enter" if field.multiline and field.ime_action in ("done", "none") else field.ime_action
        )
        self.window.invalidate()
        self.phone.layout_changed()

    def hide(self) -> bool:
        """True if it was there."""
        if not self.visible:
            return False
        self.visible = False
        self.phone.window_closed(PACKAGE)
        self.phone.layout_changed()
        return True

    def _press(self, character: str) -> None:
        self.phone.type_key(character)
        self.typed()

    def typed(self) -> None:
        if self.shift:
            self._set(self.layer)

    def _set(self, layer: str, shift: bool = False) -> None:
        self.layer, self.shift = layer, shift
        self.window.invalidate()

    def _build(self) -> View:
        rows = self._digits() if self.layer == "digits" else self._letters()
        return column(
            *rows,
            cls="android.widget.FrameLayout",
            id="keyboard_view",
            height="fill",
            padding=(2.0, 6.0),
            gap=4.0,
            style=Style(kind="keyboard", background="keyboard"),
        )

    def _digits(self) -> list[View]:
        rows = [self._row([self._key(character) for character in line]) for line in DIGITS]
        foot = [
            self._special("ABC", "Letters", lambda: self._set("letters"), 1.5),
            self._key(" ", "Space", 2.0),
        ]
        return [*rows, self._row([*foot, self._delete(), self._enter()])]

    def _letters(self) -> list[View]:
        lines = SYMBOLS if self.layer == "symbols" else LETTERS
        upper = self.shift and self.layer == "letters"
        keys = [[self._key(name.upper() if upper else name) for name in line] for line in lines]
        if self.layer == "letters":
            shift = self._special("⇧", "Shift", lambda: self._set("letters", not self.shift), 1.5)
            other = self._special("?123", "Symbols", lambda: self._set("symbols"), 1.5)
        else:
            shift = self._special("=\\<", "More symbols", lambda: None, 1.5)
            other = self._special("ABC", "Letters", lambda: self._set("letters"), 1.5)
        foot = [other, self._key(","), self._key(" ", "Space", 4.0), self._key("."), self._enter()]
        third = [shift, *keys[2], self._delete()]
        return [self._row(keys[0]), self._row(keys[1]), self._row(third), self._row(foot)]

    def _row(self, keys: list[View]) -> View:
        return row(*keys, weight=1.0, gap=3.0)

    def _key(self, character: str, desc: str = "", weight: float = 1.0) -> View:
        return View(
            cls="android.view.View",
            text="" if character == " " else character,
            desc=desc or character,
            key=f"key:{desc or character}",
            weight=weight,
            height="fill",
            style=Style(kind="key", size=22.0, radius=5.0, align="center"),
            on_click=lambda: self._press(character),
        )

    def _special(self, label: str, desc: str, run: Handler, weight: float) -> View:
        return View(
            text=label,
            desc=desc,
            key=f"key:{desc}",
            weight=weight,
            height="fill",
            style=Style(kind="key", role="special", size=16.0, radius=5.0, align="center"),
            on_click=run,
        )

    def _delete(self) -> View:
        return self._special("⌫", "Delete", self._editing.delete, 1.5)

    def _enter(self) -> View:
        names = {"enter": "Enter", "next": "Next", "search": "Search", "send": "Send", "go": "Go"}
        desc = names.get(self.action, "Done")
        sign = {"Enter": "⏎", "Search": "🔍", "Send": "➤", "Next": "→", "Go": "→"}.get(desc, "✓")
        return self._special(sign, desc, self._editing.submit, 1.5)
