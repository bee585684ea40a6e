"""A phone that can be touched: fingers, keys and text, on top of all that it shows and runs.

Time comes from the clock it is given; timers run when somebody calls, so an idle phone costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

from handrail_sim.clock import Clock
from handrail_sim.input import gestures, keys
from handrail_sim.input.editing import Editing
from handrail_sim.input.ime import Ime
from handrail_sim.input.touch import Touch
from handrail_sim.screen.shown import Shown
from handrail_sim.system.display import Display
from handrail_sim.view.hit import drawn_around
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window


class Handset(Shown):
    """The whole phone except its apps and the servers that can be started on it."""

    def __init__(self, clock: Clock, seed: int, serial: str, display: Display) -> None:
        super().__init__(clock, seed, serial, display)
        self.editing = Editing(self)
        self.touch = Touch(self, self.editing)
        self.ime = Ime(self, self.editing)

    # input

    def pointer(
        self, action: Literal["down", "move", "up", "cancel"], x: float, y: float, pointer: int = 0
    ) -> None:
        self.catch_up()
        self.record_input(action=action, x=x, y=y, pointer=pointer)
        if self.awake:
            self.touch.pointer(action, x, y, pointer)

    async def tap(self, x: float, y: float) -> None:
        await gestures.tap(self, x, y)

    async def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_ms: float = 300.0) -> None:
        await gestures.swipe(self, (x1, y1), (x2, y2), duration_ms)

    async def long_press(self, x: float, y: float, duration_ms: float = 600.0) -> None:
        await gestures.long_press(self, x, y, duration_ms)

    async def drag(self, x1: float, y1: float, x2: float, y2: float, duration_ms: float = 500.0) -> None:
        await gestures.drag(self, (x1, y1), (x2, y2), duration_ms)

    async def pinch(
        self, x: float, y: float, start_radius: float, end_radius: float, duration_ms: float
    ) -> None:
        await gestures.pinch(self, (x, y), start_radius, end_radius, duration_ms)

    async def rotate_gesture(
        self, x: float, y: float, radius: float, angle: float, duration_ms: float
    ) -> None:
        await gestures.rotate(self, (x, y), radius, angle, duration_ms)

    def key(self, code: int, *, long_press: bool = False, meta: int = 0) -> None:
        self.catch_up()
        self.record_input(action="key", code=code, meta=meta, long_press=long_press)
        for _ in range(self.chances()):
            keys.press(self, self.editing, code, held=long_press, meta=meta)

    def type_ascii(self, text: str) -> None:
        """What `input text` does: key events; a character without a key raises before anything is typed."""
        self.catch_up()
        unknown = next((name for name in text if not " " <= name <= "~" and name not in "\n\t"), None)
        if unknown is not None:
            raise keys.NoKeyFor(unknown)
        self.record_input(action="text", text=text)
        for _ in range(self.chances()):
            for character in text:
                keys.strike(self, self.editing, character)

    def type_key(self, character: str) -> bool:
        if self.faults.get("ime_swallows") is not None:
            return True
        if character == "\n":
            return self.editing.submit()
        return self.editing.insert(character)

    def commit_text(self, text: str) -> None:
        """What an input method does: any Unicode at the cursor of the focused field."""
        self.catch_up()
        self.record_input(action="commit", text=text)
        saved = "".join(name for name in text if self.faults.get("ime_swallows") is None)
        for _ in range(self.chances()):
            self.editing.insert(saved)

    def set_text(self, view: View, text: str) -> bool:
        """ACTION_SET_TEXT on a field: all of it is replaced; no keyboard needed."""
        self.catch_up()
        window = self.screen.window_of(view)
        if (away := drawn_around(view)) is not None:
            return away.set_text(view, text)
        if window is None or not view.editable or not view.enabled:
            return False
        for _ in range(self.chances()):
            self.editing.set_text(window, view, text)
        return True

    def scroll(self, view: View, forward: bool = True) -> bool:
        """ACTION_SCROLL_FORWARD or _BACKWARD: by the view's length; false at the end."""
        self.catch_up()
        window = self.screen.window_of(view)
        return window is not None and self.motion.step(window, view, 1 if forward else -1)

    def chances(self) -> int:
        """How often an input really arrives: faults lose it or deliver it twice."""
        if self.faults.get("input_lost") is not None:
            return 0
        return 2 if self.faults.get("input_twice") is not None else 1

    # what input leads to

    def click(self, window: Window, view: View, x: float, y: float) -> None:
        self.emit("TYPE_VIEW_CLICKED", view.package or window.package, view.text or view.desc)
        if view.editable:
            self.editing.tap(window, view, x, y)
        if view.on_click is not None:
            self.run(window, view.on_click)

    def focus_field(self, window: Window, name: str) -> None:
        self.editing.focus(window, name)

    def edit(self, what: Literal["cut", "copy", "paste", "select_all"]) -> bool:
        match what:
            case "cut":
                return self.editing.copy(cut=True)
            case "copy":
                return self.editing.copy()
            case "paste":
                return self.editing.paste()
            case "select_all":
                return self.editing.select_all()

    # the keyboard on the screen

    def keyboard(self) -> Window:
        return self.ime.window

    def show_keyboard(self, field: View) -> None:
        self.ime.show(field)

    def hide_keyboard(self) -> bool:
        return self.ime.hide()

    def keyboard_typed(self) -> None:
        self.ime.typed()

    # what ends when the screen becomes another

    def front_changed(self) -> None:
        self.ime.hide()
        self.touch.cancel()
        self.text_toolbar.hide()
        self.systemui.recents_open = False

    def activities_recreated(self) -> None:
        self.systemui.invalidate()
        self.ime.window.invalidate()
        self.text_toolbar.hide()
        self.touch.cancel()
        self.motion.flings.clear()

    # state

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All of it as JSON-able data."""

    @abstractmethod
    def give(self, world: Mapping[str, Any]) -> None:
        """What its apps hold from now on."""

    @abstractmethod
    def snapshot(self, name: str = "default") -> None:
        """Save the whole phone under a name."""

    @abstractmethod
    def restore(self, name: str = "default") -> None:
        """KeyError if there is no such snapshot."""

    @abstractmethod
    def reboot(self) -> None:
        """Everything that runs ends; what is on disk stays."""
