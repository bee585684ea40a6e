"""Mouse gestures, key presses and text through CDP's Input domain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any, NamedTuple, assert_never

from handrail.browser.files import NO_FILES, WebFiles, give, listed
from handrail.browser.idle import HOVER_MS, QUIET_MS, PageIdle
from handrail.browser.page import WebPage
from handrail.browser.request_filter import refusal
from handrail.browser.screen_reader import CANCEL, FIELD, OK, RELOAD_PAGE, PageScreenReader, unless_dialog
from handrail.browser.tabs import Tabs
from handrail.clock import Clock
from handrail.errors import ActionRejected, BrowserCommandError, ElementNotInteractable, Unsupported
from handrail.page.activation import PageActivation, changed_error
from handrail.page.reading import Place
from handrail.protocol.keys import NAMES, name_of_key, number_of_key
from handrail.screen.node import ScreenPoint
from handrail.surface.capabilities import ControlValue, TypingWay
from handrail.surface.gesture import Gesture, Stroke
from handrail.surface.values import Activated, SetControl, Typed

INPUT_MS = 8_000.0
"""A page that takes no input for this long is busy; what was sent may still arrive."""
STEPS = 8
"""Points that a mouse passes on its way."""
FRAME_MS = 16.0


class PageInput:
    """`Touch`, `Mouse` and `KeyPresses` of a browser."""

    touched_keys = frozenset[str]()

    def __init__(self, tabs: Tabs, screen_reader: PageScreenReader, idle: PageIdle, clock: Clock) -> None:
        self._tabs = tabs
        self._screen_reader = screen_reader
        self._idle = idle
        self._clock = clock
        self._judged: tuple[object, WebPage, PageActivation] | None = None
        """The input that was judged last: its keys or points."""

    # the mouse

    async def perform(self, gesture: Gesture) -> None:
        is_free = gesture.kind in ("swipe", "pinch", "hover")
        async with nullcontext() if is_free else self._guard(gesture.ends):
            await self._perform(gesture)

    async def hover(self, point: ScreenPoint) -> None:
        """A page that has changed does not hear of it; what is pressed is judged afterwards."""
        with suppress(ActionRejected):
            await self._hover(point)

    async def _hover(self, point: ScreenPoint) -> None:
        page, judged = self._page(), self._judged
        if page.dialog is None and not page.crashed and not self._screen_reader.tab_at(*point):
            if judged is not None and judged[:2] == ((point,), page):
                await judged[2].guard_hover()
            await self._call(page, *_mouse("mouseMoved", *point))

    async def _perform(self, gesture: Gesture) -> None:
        x, y = gesture.start_point
        match gesture.kind:
            case "tap" | "double_tap":
                if not await self._pressed_drawn_dialog(x, y):
                    for count in (1, 2) if gesture.kind == "double_tap" else (gesture.count,):
                        await self._click(x, y, count, gesture)
            case "hover":
                self._idle.acted(HOVER_MS)
                await self._hover(gesture.start_point)
            case "long_press":
                await self._long_press(x, y, gesture.duration_ms)
            case "swipe":
                await self._swipe(x, y, *gesture.end_point, gesture.duration_ms)
            case "drag":
                await self._drag(x, y, *gesture.end_point, gesture.duration_ms, hold_ms=50)
            case "path":
                await self._follow(gesture.strokes[0], gesture.duration_ms)
            case "pinch":
                await self._pinch(gesture)
            case "rotate":
                raise Unsupported("A mouse can't turn two fingers", delivery="not_delivered")
            case kind:
                assert_never(kind)

    async def _long_press(self, x: int, y: int, duration_ms: int) -> None:
        """Holds the button, then opens the context menu, as a long press on a phone does."""
        if await self._pressed_drawn_dialog(x, y):
            return
        page = await self._begin()
        await self._send(page, [_mouse("mouseMoved", x, y), _mouse("mousePressed", x, y, count=1)])
        await self._clock.sleep_ms(duration_ms)
        await self._send(page, [_mouse("mouseReleased", x, y, count=1)])

    async def _swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        """Scrolls content; moves a control such as a slider."""
        page = self._page()
        kind = await unless_dialog(page, page.evaluate(f"handrail.drags({x1}, {y1})"))
        if kind is None:
            raise _stopped()
        if kind:
            await self._drag(x1, y1, x2, y2, duration_ms, hold_ms=0)
            return
        page = await self._begin()
        wheel = {"type": "mouseWheel", "x": x1, "y": y1, "deltaX": x1 - x2, "deltaY": y1 - y2}
        await self._send(page, [("Input.dispatchMouseEvent", wheel)])

    async def _drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, *, hold_ms: float) -> None:
        page = await self._begin()
        await self._send(page, [_mouse("mouseMoved", x1, y1), _mouse("mousePressed", x1, y1, count=1)])
        if hold_ms:
            await self._clock.sleep_ms(hold_ms)
        pause = min(max(0.0, duration_ms / STEPS), 100.0)
        for step in range(1, STEPS + 1):
            x, y = x1 + (x2 - x1) * step / STEPS, y1 + (y2 - y1) * step / STEPS
            await self._send(page, [_mouse("mouseMoved", x, y, held=True)])
            await self._clock.sleep_ms(pause)
        await self._send(page, [_mouse("mouseReleased", x2, y2, count=1)])

    async def _follow(self, points: Stroke, duration_ms: int) -> None:
        page = await self._begin()
        (x1, y1), *rest = points
        await self._send(page, [_mouse("mouseMoved", x1, y1), _mouse("mousePressed", x1, y1, count=1)])
        for x, y in rest:
            await self._clock.sleep_ms(min(duration_ms / len(rest), 1_000.0))
            await self._send(page, [_mouse("mouseMoved", x, y, held=True)])
        await self._send(page, [_mouse("mouseReleased", *points[-1], count=1)])

    async def _pinch(self, gesture: Gesture) -> None:
        left, right = gesture.strokes
        x, y = (left[0].x + right[0].x) // 2, left[0].y
        start_radius, end_radius = right[0].x - x, right[-1].x - x
        page = await self._begin()
        scale = max(0.1, end_radius / max(1, start_radius))
        speed = max(200, round(abs(end_radius - start_radius) * 1000 / max(1, gesture.duration_ms)))
        zoom = {"x": x, "y": y, "scaleFactor": scale, "relativeSpeed": speed}
        await self._send(page, [("Input.synthesizePinchGesture", zoom)])

    async def _click(self, x: int, y: int, count: int, gesture: Gesture) -> None:
        page = await self._begin()
        modifiers = sum(MODIFIERS[key.upper()] for key in gesture.modifiers)
        kinds = {"mouseMoved": 0, "mousePressed": count, "mouseReleased": count}
        await self._send(
            page,
            [
                _mouse(kind, x, y, count=clicks, button=gesture.button, modifiers=modifiers)
                for kind, clicks in kinds.items()
            ],
        )

    # what is drawn instead of a page

    async def _pressed_drawn_dialog(self, x: int, y: int) -> bool:
        """Whether a dialog or a crash is shown, whose buttons are handled here."""
        page, drawn = self._page(), self._screen_reader.drawn
        if page.dialog is None and not page.crashed:
            if drawn is not None:
                raise _no_longer_shown()
            return await self._pressed_tab(x, y)
        part = drawn.part_at(x, y) if drawn is not None else ""
        if page.crashed and part == RELOAD_PAGE:
            await page.session.call("Page.navigate", {"url": page.url}, timeout_ms=INPUT_MS)
        elif page.dialog is not None and part in (OK, CANCEL):
            answer: dict[str, Any] = {"accept": part == OK}
            if page.dialog.kind == "prompt":
                answer["promptText"] = (
                    page.dialog.default if self._screen_reader.typed is None else self._screen_reader.typed
                )
            self._idle.acted()
            answered = page.dialog
            await page.session.call("Page.handleJavaScriptDialog", answer, timeout_ms=INPUT_MS)
            if page.dialog is answered:  # the next one may be open already
                page.dialog_closed()
        elif part != FIELD:
            raise ElementNotInteractable(
                "The page waits for an answer to its dialog, and takes nothing else",
                hint="Tap one of the dialog's buttons.",
                reason="covered",
                delivery="not_delivered",
            )
        return True

    async def _pressed_tab(self, x: int, y: int) -> bool:
        """Whether a tab was pressed, which is then activated or closed."""
        press = self._screen_reader.tab_at(x, y)
        page = self._tabs.pages.get(press.id) if press is not None else None
        if press is None:
            return False
        if page is None:
            raise _no_longer_shown()
        self._idle.acted()
        await (self._tabs.drop(page) if press.closes else self._tabs.show(page))
        return True

    # keys

    async def key(self, key: str | int) -> None:
        constant = constant_of(key)
        page = self._page()
        if page.dialog is not None:
            # Enter confirms and Escape cancels, as in a browser.
            is_enter = constant in _NAMED and web_key(constant).key == "Enter"
            others = {"ESCAPE": (CANCEL, OK), "BACK": (CANCEL, OK)}.get(constant, ())
            wanted = (OK,) if is_enter else others
            drawn = self._screen_reader.drawn
            boxes = [drawn.parts[name] for name in wanted if name in drawn.parts] if drawn is not None else []
            if not boxes:
                raise _stopped()
            await self._pressed_drawn_dialog(*boxes[0].center)
            return
        if constant in HISTORY:
            await self._history(page, HISTORY[constant])
        elif constant == RELOAD:
            page = await self._begin()
            await self._call(page, "Page.reload", {})
        elif constant in COMMANDS:
            page = await self._begin()
            event = {"type": "rawKeyDown", "key": constant.title(), "commands": [COMMANDS[constant]]}
            await self._send(page, [("Input.dispatchKeyEvent", event)])
        else:
            page = await self._begin()
            async with self._guard((name_of_key(key),)):
                await self._send(page, key_events(web_key(constant)))

    async def chord(self, keys: Sequence[str]) -> None:
        """Held modifiers are part of each event; editing commands are the browser's own."""
        modifiers, struck = chord_of(keys)
        page = await self._begin()
        for constant in struck:
            command = EDITING.get(constant) if modifiers == MODIFIERS["CTRL"] else None
            [(name, down), up] = key_events(web_key(constant)._replace(text=""), modifiers)
            more = {"commands": [command]} if command else {}
            async with self._guard(tuple(map(name_of_key, keys))):
                await self._send(page, [(name, {**down, **more}), up])

    # what an input would activate

    async def activated_by_keys(self, keys: Sequence[str], field: str = "") -> Activated | None:
        self._judged = None
        page, (modifiers, struck) = self._page(), chord_of(keys)
        is_reload = bool(struck) and (struck[-1] in (RELOAD, "F5") or (struck[-1] == "R" and bool(modifiers)))
        if is_reload and (page.came_by_post or struck[-1] == RELOAD):
            return Activated(asks="Send the form of this page again" if page.came_by_post else "")
        if page.dialog is not None or page.crashed:  # its buttons are drawn in place of the page
            is_prompt = page.dialog is not None and page.dialog.kind == "prompt"
            return Activated(is_unknown=True) if is_prompt else None
        if not struck or struck[-1] in HISTORY:
            return Activated()
        question = _question(page)
        activated = await question.activated_by_keys(keys, field)
        if not field:
            self._judged = tuple(keys), page, question
        return activated if activated is not None else await question.anything()

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        self._judged = None
        page = self._page()
        if page.dialog is not None or page.crashed or any(self._screen_reader.tab_at(*at) for at in points):
            return None
        question = _question(page)
        activated = await question.activated_by_points(points)
        self._judged = tuple(points), page, question
        return activated

    async def activated_by_value(self, native_id: str, value: ControlValue) -> Activated:
        question = _question(page := self._page())
        return Activated() if page.dialog is not None else await question.activated_by_value(native_id, value)

    def _guard(self, judged_input: object) -> AbstractAsyncContextManager[None]:
        """Refuses what was judged if the page has changed it on the way."""
        judged, self._judged = self._judged, None
        if judged is None or judged[:2] != (judged_input, self._page()):
            return nullcontext()
        return judged[2].guard()

    def judged_enter(self) -> Activated | None:
        """What policy has judged of the Enter in a text that is about to be typed."""
        judged = self._judged
        return (
            judged[2].activated if judged is not None and judged[:2] == (("enter",), self._page()) else None
        )

    async def _history(self, page: WebPage, step: int) -> None:
        history = await page.session.call("Page.getNavigationHistory")
        at = int(history["currentIndex"]) + step
        if 0 <= at < len(history["entries"]):
            if why := self._tabs.request_filter.why_never(str(history["entries"][at]["url"])):
                raise refusal("the page in the history", why)
            page = await self._begin()
            entry = {"entryId": history["entries"][at]["id"]}
            await self._call(page, "Page.navigateToHistoryEntry", entry)

    # sending

    def _page(self) -> WebPage:
        return self._tabs.front

    async def _begin(self) -> WebPage:
        """The page that receives input, marked as acted on."""
        page = self._page()
        if page.dialog is not None:
            raise _stopped()
        self._idle.acted()
        return page

    async def _send(self, page: WebPage, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """In order, without waiting for each answer. A dialog that opens meanwhile has received them."""
        calls = [page.session.call(name, params, timeout_ms=INPUT_MS) for name, params in events]
        await unless_dialog(page, _all([page.mark(), *calls]))

    async def _call(self, page: WebPage, method: str, params: Mapping[str, Any]) -> None:
        await unless_dialog(page, page.session.call(method, params, timeout_ms=INPUT_MS))


async def _all(calls: Sequence[Any]) -> None:
    """Raises the first failure; if only the first call was refused, nothing has arrived."""
    outcomes = (await asyncio.gather(*calls, return_exceptions=True))[1:]  # the first is the mark
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if not failures:
        return
    if len(failures) < len(outcomes) and isinstance(failures[0], BrowserCommandError):
        error = failures[0]
        raise BrowserCommandError(error.message, hint=error.hint, **{**error.details, "delivery": "unknown"})
    raise failures[0]


def key_events(key: Any, modifiers: int = 0) -> list[tuple[str, Mapping[str, Any]]]:
    event = {
        "key": key.key, "code": key.code, "windowsVirtualKeyCode": key.number, "modifiers": modifiers,
    }  # fmt: skip
    down = {**event, "type": "keyDown" if key.text else "rawKeyDown"} | (
        {"text": key.text} if key.text else {}
    )
    return [("Input.dispatchKeyEvent", down), ("Input.dispatchKeyEvent", {**event, "type": "keyUp"})]


def _mouse(
    kind: str,
    x: float,
    y: float,
    *,
    count: int = 0,
    held: bool = False,
    button: str = "left",
    modifiers: int = 0,
) -> tuple[str, Mapping[str, Any]]:
    """Points at the middle of a pixel, which is where the look tested."""
    event: dict[str, Any] = {"type": kind, "x": x + 0.5, "y": y + 0.5, "modifiers": modifiers}
    if count:
        event |= {"button": button, "clickCount": count}
    if held:
        event |= {"button": "left", "buttons": 1}
    return "Input.dispatchMouseEvent", event


def _stopped() -> ElementNotInteractable:
    return ElementNotInteractable(
        "A dialog of the page waits for an answer, and the page takes nothing else",
        hint="Read the screen, and tap one of the dialog's buttons.",
        reason="covered",
        delivery="not_delivered",
    )


def _question(page: WebPage) -> PageActivation:
    def evaluate(script: str, place: Place) -> Awaitable[Any]:
        return unless_dialog(page, page.evaluate(script, *place, timeout_ms=INPUT_MS))

    return PageActivation(page, evaluate, gets_every_key=True)


def _no_longer_shown() -> ElementNotInteractable:
    return ElementNotInteractable(
        "What was shown there is not there any more",
        hint="Look again.",
        reason="covered",
        delivery="not_delivered",
    )


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
"""Keys that are editing commands in a browser."""
HISTORY = {"BACK": -1, "FORWARD": 1}
RELOAD = "REFRESH"


def constant_of(key: str | int) -> str:
    """A key's name without Android's prefix; raises `Unsupported` for keys that browsers do not have."""
    code = number_of_key(key)
    name = NAMES.get(code, "") if code is not None else ""
    constant = name.removeprefix("KEYCODE_")
    if constant in _NAMED or constant in COMMANDS or constant in HISTORY or constant == RELOAD:
        return constant
    raise Unsupported(
        f"A browser has no key {key!r}",
        hint="It has back, KEYCODE_FORWARD, KEYCODE_REFRESH, and the keys of a keyboard; Home is move_home.",
        delivery="not_delivered",
    )


MODIFIERS = {"ALT": 1, "CTRL": 2, "META": 4, "SHIFT": 8}
"""DevTools' bits of held keys."""
EDITING = {"A": "selectAll", "C": "copy", "X": "cut", "V": "paste", "Z": "undo", "Y": "redo"}
"""What ctrl and a letter do in the browser's own menu."""


def chord_of(keys: Sequence[str]) -> tuple[int, list[str]]:
    """Bits of the held keys, and the keys that are pressed meanwhile."""
    names = [NAMES.get(number_of_key(key) or -1, "").removeprefix("KEYCODE_") for key in keys]
    held = {MODIFIERS.get(name.partition("_")[0], 0) for name in names}
    struck = [key for key, name in zip(keys, names, strict=True) if name.partition("_")[0] not in MODIFIERS]
    return sum(held), [constant_of(key) for key in struck]


def web_key(constant: str) -> WebKey:
    """Returns how browsers name the Android key `constant`, which `constant_of` gave."""
    return _NAMED[constant]


def typed_key(character: str) -> WebKey:
    """The key that types a character; other characters are typed as themselves."""
    name = _BY_TEXT.get(character.lower())
    if name is None:
        return WebKey(character, "", 0, character)
    named = _NAMED[name]
    return WebKey(character, named.code, named.number, character)


_BY_TEXT = {key.text: name for name, key in _NAMED.items() if len(key.text) == 1 and "NUMPAD" not in name}


MOST_KEYS = 1_000
"""Characters that are typed key by key; a longer text is inserted."""
SET_KINDS = frozenset({"date", "time", "month", "week", "datetime-local", "color"})
"""Fields with parts of the browser's own, whose value is set as a whole."""


class PageTextInput:
    """`TextInput` and `ControlValues` of a browser."""

    def __init__(
        self,
        tabs: Tabs,
        screen_reader: PageScreenReader,
        idle: PageIdle,
        judged_enter: Callable[[], Activated | None],
        files: WebFiles = NO_FILES,
    ) -> None:
        self._files = files
        self._judged_enter = judged_enter
        self._tabs = tabs
        self._screen_reader = screen_reader
        self._idle = idle

    def reads_back_as(self, text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n")

    ways: frozenset[TypingWay] = frozenset({"keys", "value", "paste"})

    async def require_way(self, text: str) -> None:
        """A browser's field accepts every character."""

    async def type_text(
        self, text: str, *, blind: bool = False, into: str | None = None, how: TypingWay | None = None
    ) -> Typed:
        page = self._tabs.front
        if page.dialog is not None:
            return self._into_prompt(page, text, keep=True)
        text = self.reads_back_as(text)
        try:
            place, field = await self._aim(page)
        except ElementNotInteractable:
            if how != "keys":
                raise
            self._idle.acted()
            await page.mark()
            await self._type_keys(page, text)
            return Typed("keys", None, None, None)
        if into is None:
            way = await self._insert(page, place, field, text, how)
            if field["offers"]:  # an Enter before its list is filtered would choose from the old one
                await self._idle.wait_idle(2 * HOVER_MS)
        else:
            way = await self._insert_into(page, place, text, into)
        if blind:
            return Typed(way, None, None, None, is_hidden=True)
        return await self._read_back(page, place, field, text, way)

    async def _insert(
        self, page: WebPage, place: Place, field: Mapping[str, Any], text: str, how: TypingWay | None
    ) -> str:
        """By keys into a line, whose page may listen to them; into an editor as a whole, because editors
        complete brackets and indent lines while somebody types."""
        self._idle.acted(HOVER_MS if field["offers"] else QUIET_MS)  # lists filter a little later
        await page.mark()
        is_set, is_line = field["kind"] in SET_KINDS, field["kind"] not in ("area", "editable")
        if how in ("value", "paste") or (how is None and is_set):
            put = "putField" if is_set else f"{how}Into"
            await self._eval(page, place, f"handrail.{put}({json.dumps(text)})")
            return "value" if is_set else str(how)
        if how == "keys" or (is_line and len(text) <= MOST_KEYS):
            await self._type_keys(page, text)
            return "keys"
        await self._send(page, "Input.insertText", {"text": text})
        typed = await self._eval(page, place, f"handrail.typed({json.dumps(text)})")
        if typed is not None and not typed["changed"] and text:
            await self._type_keys(page, text)
            return "keys"
        return "insert"

    async def _type_keys(self, page: WebPage, text: str) -> None:
        """What no key types is inserted."""
        events: list[tuple[str, Mapping[str, Any]]] = []
        for character in text:
            if character == "\n":
                events += key_events(web_key("ENTER"))
            elif character.isascii() and character.isprintable():
                events += key_events(typed_key(character))
            else:
                events.append(("Input.insertText", {"text": character}))
        question, judged = _question(page), self._judged_enter()
        now = await question.activated_by_keys(("enter",) if "\n" in text else ("a",))
        if "\n" in text and judged is not None and not judged.includes(now):
            raise changed_error("unknown")
        async with question.guard(of_a_text=True):
            calls = [page.session.call(method, params, timeout_ms=INPUT_MS) for method, params in events]
            await unless_dialog(page, _all([page.mark(), *calls]))

    async def _insert_into(self, page: WebPage, place: Place, text: str, origin: str) -> str:
        """Compares and inserts in one task of the page, so that the focus can't move in between."""
        self._idle.acted()
        await page.mark()
        script = f"handrail.insertInto({json.dumps(text)}, {json.dumps(origin)})"
        if await self._eval(page, place, script) is not True:
            raise ActionRejected(
                f"The field with the focus is not one of {origin} any more, so nothing was typed",
                hint="Look again, and give `target`.",
                delivery="not_delivered",
            )
        return "script"

    async def _read_back(
        self, page: WebPage, place: Place, field: Mapping[str, Any], text: str, way: str
    ) -> Typed:
        typed = await self._eval(page, place, f"handrail.typed({json.dumps(text)})")
        if typed is None:
            return Typed(way, field["value"], None, None)
        arrived = bool(typed["arrived"]) or (way == "value" and typed["value"] == text)
        if field["secret"]:
            return Typed(way, None, text if arrived else None, arrived)
        return Typed(way, field["value"], str(typed["value"]), arrived)

    async def set_value(self, native_id: str, value: ControlValue) -> SetControl | None:
        """`ControlValues`."""
        page, (token, _, number) = self._tabs.front, native_id.partition(".")
        place = self._screen_reader.places.get(token)
        if page.dialog is not None or place is None or place[0] is not page or not number.isdigit():
            return None
        control = None
        if not await self._eval(page, place[1:], f"!!handrail.fileField({number})"):
            self._idle.acted()
            await page.mark()
            control = await self._eval(page, place[1:], f"handrail.setValue({number}, {json.dumps(value)})")
            if control is None and not page.wanted_files:
                return None
        if control is None:
            path = listed(value if isinstance(value, str) else ", ".join(value), self._files)
            self._idle.acted()
            return await give(page, *place[1:], int(number), path)
        return SetControl(str(control["value"]), bool(control["ok"]), tuple(map(str, control["offers"])))

    async def clear_text(self) -> Typed:
        page = self._tabs.front
        if page.dialog is not None:
            return self._into_prompt(page, "", keep=False)
        place, field = await self._aim(page)
        if field["empty"]:
            return Typed("none", "", "", True)
        self._idle.acted()
        await page.mark()
        if field["kind"] in SET_KINDS:
            await self._eval(page, place, "handrail.putField('')")
        else:
            await self._eval(page, place, "handrail.selectAll()")
            for method, params in key_events(web_key("DEL")):
                await self._send(page, method, params)
        after = await self._eval(page, place, "handrail.aim()")
        if after is None:
            return Typed("delete", field["value"], None, None)
        return Typed("delete", field["value"], "" if after["empty"] else after["value"], bool(after["empty"]))

    def _into_prompt(self, page: WebPage, text: str, *, keep: bool) -> Typed:
        """A dialog's field holds its text until a button is pressed."""
        drawn, dialog = self._screen_reader.drawn, page.dialog
        if dialog is None or drawn is None or FIELD not in drawn.parts:
            raise ElementNotInteractable(
                "The page waits for an answer to its dialog and accepts no text",
                hint="Tap one of the dialog's buttons.",
                reason="covered",
                delivery="not_delivered",
            )
        before = dialog.default if self._screen_reader.typed is None else self._screen_reader.typed
        self._screen_reader.typed = before + text if keep else text
        return Typed("dialog", before, self._screen_reader.typed, True)

    async def _aim(self, page: WebPage) -> tuple[Place, Mapping[str, Any]]:
        """The focused field, in whichever document it is."""
        places: list[Place] = [(page.main, page.main.frame)]
        places += [(part, frame) for part in page.parts.values() for frame in part.worlds]
        for place in places:
            field = await self._eval(page, place, "document.hasFocus() ? handrail.aim() : null")
            if field is not None:
                return place, field
        raise ElementNotInteractable(
            "No field of the page has the focus",
            hint="Tap a field first, or give `target`.",
            reason="nothing focused",
            delivery="not_delivered",
        )

    async def _eval(self, page: WebPage, place: Place, expression: str) -> Any:
        return await unless_dialog(page, page.evaluate(expression, *place, timeout_ms=INPUT_MS))

    async def _send(self, page: WebPage, method: str, params: Mapping[str, Any]) -> None:
        await unless_dialog(page, page.session.call(method, params, timeout_ms=INPUT_MS))
