"""Focus and the text in fields: cursor, selection, typing, deleting, clipboard. Knows no key codes."""

from __future__ import annotations

from typing import Any

from handrail_sim.screen.shown import Shown
from handrail_sim.view import metrics
from handrail_sim.view.memory import name_of
from handrail_sim.view.reuse import forget_written
from handrail_sim.view.units import edges
from handrail_sim.view.view import ExternalView, View
from handrail_sim.view.windows import Window

ENTER, DELETE, FORWARD_DELETE = 66, 67, 112
"""Keys that stand for an edit where somebody else has the field."""
ALLOWED = {"number": "0123456789", "decimal": "0123456789.", "phone": "0123456789+*#-() ,;N./"}


class Editing:
    """The field that has the cursor, wherever it is."""

    def __init__(self, phone: Shown) -> None:
        self.phone = phone

    def field(self) -> tuple[Window, View] | None:
        window = self.phone.focused_window()
        view = window.focused_view() if window is not None else None
        if window is None or view is None or not view.editable or not view.enabled:
            return None
        return window, view

    def away(self) -> ExternalView | None:
        window = self.phone.focused_window()
        view = window.focused_view() if window is not None else None
        return view.drawn if view is not None else None

    def has_lines(self) -> bool:
        matches = self.field()
        return matches is not None and matches[1].multiline

    # focus

    def focus(self, window: Window, name: str, *, keyboard: bool = True) -> None:
        """Give a view the focus; a field brings up the keyboard."""
        if window.focus != name:
            self._leave(window)
            window.focus = name
            window.invalidate()
        view = window.find(name)
        if view is None:
            return
        self.phone.emit("TYPE_VIEW_FOCUSED", window.package)
        if view.on_focus is not None:
            self.phone.run(window, view.on_focus, True)
        if view.editable and keyboard:
            self.phone.show_keyboard(view)

    def _leave(self, window: Window) -> None:
        old = window.find(window.focus) if window.focus is not None else None
        if old is not None:
            old.focused = False
            forget_written(old)
            if old.on_focus is not None:
                self.phone.run(window, old.on_focus, False)

    def tap(self, window: Window, view: View, x: float, y: float) -> None:
        """A tap in a field: focus, and the cursor where the finger was."""
        memory = view.memory
        self.phone.text_toolbar.hide()
        self.focus(window, name_of(view))
        if memory is not None:
            place = self.index_at(view, x, y)
            memory.update(start=place, end=place)
            window.invalidate()

    def long_press(self, window: Window, view: View, x: float, y: float) -> None:
        self.tap(window, view, x, y)
        memory = view.memory
        if memory is None:
            return
        words: str = memory["text"]
        start = end = memory["start"]
        while start > 0 and words[start - 1].isalnum():
            start -= 1
        while end < len(words) and words[end].isalnum():
            end += 1
        memory.update(start=start, end=end)
        self.phone.text_toolbar.show(window.package, view.bounds, start != end)

    def index_at(self, view: View, x: float, y: float) -> int:
        left, top, _, _ = edges(view.padding, self.phone.units.dp)
        size = view.style.size * self.phone.units.sp
        words = "•" * len(view.text) if view.password else view.text
        lines = list(view.lines) if view.multiline and view.text else [words]
        tall = metrics.line_height(size)
        number = int(max(0.0, y - view.y - top) // tall) if view.multiline else 0
        if number >= len(lines):
            return len(view.text)
        before = (
            sum(len(line) + 1 for line in lines[:number])
            if "\n" in view.text
            else sum(map(len, lines[:number]))
        )
        return min(len(view.text), before + metrics.index_at(lines[number], x - view.x - left, size))

    # text

    def insert(self, text: str) -> bool:
        """Type: replaces the selection, or goes in at the cursor. False without a field."""
        if (away := self.away()) is not None:
            away.insert(text)
            return True
        matches = self.field()
        if matches is None:
            return False
        window, view = matches
        memory = _memory(view)
        if not view.multiline:
            text = text.replace("\n", " ")
        text = _filtered(view, text)
        words, start, end = memory["text"], memory["start"], memory["end"]
        self._put(window, view, words[:start] + text + words[end:], start + len(text))
        return True

    def set_text(self, window: Window, view: View, text: str) -> None:
        """What ACTION_SET_TEXT does; the field's filters have their say."""
        text = _filtered(view, text)
        self._put(window, view, text, len(text))

    def delete(self, forward: bool = False) -> bool:
        """Backspace, or forward delete: the selection if there is one."""
        if (away := self.away()) is not None:
            return away.key(FORWARD_DELETE if forward else DELETE, 0)
        matches = self.field()
        if matches is None:
            return False
        window, view = matches
        memory = _memory(view)
        words, start, end = memory["text"], memory["start"], memory["end"]
        if start == end:
            start, end = (start, min(len(words), end + 1)) if forward else (max(0, start - 1), end)
        if start != end:
            self._put(window, view, words[:start] + words[end:], start)
        return True

    def _put(self, window: Window, view: View, text: str, cursor: int) -> None:
        memory = _memory(view)
        self.phone.text_toolbar.hide()
        changed = text != memory["text"]
        memory.update(text=text, start=cursor, end=cursor)
        window.invalidate()
        if changed:
            self.phone.keyboard_typed()
            self.phone.emit("TYPE_VIEW_TEXT_CHANGED", window.package)
            if view.on_change is not None:
                self.phone.run(window, view.on_change, text)

    # cursor

    def move(self, step: int, *, select: bool = False) -> bool:
        matches = self.field()
        if matches is None:
            return False
        memory = _memory(matches[1])
        place = min(len(memory["text"]), max(0, memory["end"] + step))
        self._cursor(matches[0], memory, place, select)
        return True

    def move_to(self, place: int, *, select: bool = False) -> bool:
        """To a place; -1 is the end."""
        matches = self.field()
        if matches is None:
            return False
        memory = _memory(matches[1])
        end = len(memory["text"])
        self._cursor(matches[0], memory, end if place < 0 else min(place, end), select)
        return True

    def _cursor(self, window: Window, memory: dict[str, Any], place: int, select: bool) -> None:
        memory["end"] = place
        if not select or memory["start"] > place:
            memory["start"] = place
        window.invalidate()
        self.phone.emit("TYPE_VIEW_TEXT_SELECTION_CHANGED", window.package)

    def select_all(self) -> bool:
        matches = self.field()
        if matches is None:
            return False
        memory = _memory(matches[1])
        memory.update(start=0, end=len(memory["text"]))
        matches[0].invalidate()
        return True

    def copy(self, *, cut: bool = False) -> bool:
        matches = self.field()
        if matches is None:
            return False
        memory = _memory(matches[1])
        chosen = memory["text"][memory["start"] : memory["end"]]
        if chosen:
            self.phone.clipboard = chosen
            if cut:
                self.delete()
        return True

    def paste(self) -> bool:
        return self.insert(self.phone.clipboard)

    def submit(self) -> bool:
        """The keyboard's action key: the app's own doing, or the next field, or the keyboard goes."""
        if (away := self.away()) is not None:
            return away.key(ENTER, 0)
        matches = self.field()
        if matches is None:
            return False
        window, view = matches
        if view.multiline and view.ime_action in ("done", "none"):
            return self.insert("\n")
        if view.on_submit is not None:
            self.phone.run(window, view.on_submit)
        elif view.ime_action == "next":
            self.next_field(window, view)
        if view.ime_action in ("done", "search", "go"):
            self.phone.hide_keyboard()
        return True

    def step_focus(self, window: Window, *, back: bool) -> None:
        """Tab and arrows: the next focusable view in reading order."""
        able = [view for view in window.views() if view.is_focusable and view.enabled and view.on_screen]
        able = [entry for entry in able if entry.is_clickable]
        if not able:
            return
        now = next((number for number, entry in enumerate(able) if entry.focused), None)
        place = (len(able) - 1 if back else 0) if now is None else (now + (-1 if back else 1)) % len(able)
        self.focus(window, name_of(able[place]), keyboard=False)

    def next_field(self, window: Window, view: View, back: bool = False) -> bool:
        """Focus goes to the field after (or before) this one; false when it is the last."""
        fields = [entry for entry in window.views() if entry.editable and entry.enabled and entry.visible]
        place = fields.index(view) + (-1 if back else 1) if view in fields else 0
        if not 0 <= place < len(fields):
            return False
        self.focus(window, name_of(fields[place]))
        return True


def _filtered(view: View, text: str) -> str:
    allowed = ALLOWED.get(view.input_type)
    return text if allowed is None else "".join(name for name in text if name in allowed)


def _memory(view: View) -> dict[str, Any]:
    if view.memory is None:
        raise LookupError(f"{view.id} was never part of a window")
    return view.memory
