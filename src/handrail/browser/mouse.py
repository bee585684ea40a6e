"""Fingers and keys of a browser: a mouse, a wheel, a keyboard, and the buttons around a page.

Everything goes to the page's own session, in CSS pixels of its viewport. What is pressed may open a dialog,
which stops the page: the press has arrived then, although its call does not return.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.browser.eyes import Eyes, unless_dialog
from handrail.browser.keys import (
    COMMANDS,
    EDITING,
    HISTORY,
    MODIFIERS,
    RELOAD,
    chord_of,
    constant_of,
    web_key,
)
from handrail.browser.page import WebPage
from handrail.browser.rest import PageRest
from handrail.browser.synthetic import CANCEL, FIELD, OK
from handrail.browser.synthetic import RELOAD as RELOAD_PAGE
from handrail.browser.tabs import Tabs
from handrail.browser.wall import refusal
from handrail.clock import Clock
from handrail.errors import BrowserCommandError, ElementNotInteractable, Unsupported

INPUT_MS = 8_000.0
"""A page that takes no input for so long is busy; what was sent may still arrive."""
STEPS = 8
"""Places that a mouse passes on its way."""
FRAME_MS = 16.0
FAST = 8_000
"""Pixels per second of a scroll."""


class Mouse:
    """`TouchCapability` and `KeysCapability`."""

    def __init__(self, tabs: Tabs, eyes: Eyes, rest: PageRest, clock: Clock) -> None:
        self._tabs = tabs
        self._eyes = eyes
        self._rest = rest
        self._clock = clock

    # the mouse

    async def tap(self, x: int, y: int) -> None:
        if not await self._pressed_instead(x, y):
            await self._click(x, y, 1)

    async def double_tap(self, x: int, y: int) -> None:
        if not await self._pressed_instead(x, y):
            await self._click(x, y, 1)
            await self._click(x, y, 2)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        """A button that is held; then the menu of what lies there, as a long press on a phone opens it."""
        if await self._pressed_instead(x, y):
            return
        page = await self._begin()
        await self._send(page, [_mouse("mouseMoved", x, y), _mouse("mousePressed", x, y, count=1)])
        await self._clock.sleep_ms(duration_ms)
        await self._send(page, [_mouse("mouseReleased", x, y, count=1)])

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        """Content that scrolls follows the finger; a control that is moved by it, a slider, is moved."""
        page = self._page()
        kind = await unless_dialog(page, page.evaluate(f"handrail.drags({x1}, {y1})"))
        if kind is None:
            raise _stopped()
        if kind:
            await self._drag(x1, y1, x2, y2, duration_ms, hold_ms=0)
            return
        page = await self._begin()
        gesture = {
            "x": x1, "y": y1, "xDistance": x2 - x1, "yDistance": y2 - y1, "speed": FAST,
            "preventFling": True, "gestureSourceType": "mouse",
        }  # fmt: skip
        await self._send(page, [("Input.synthesizeScrollGesture", gesture)])

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._drag(x1, y1, x2, y2, duration_ms, hold_ms=50)

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

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        page = await self._begin()
        (x1, y1), *rest = points
        await self._send(page, [_mouse("mouseMoved", x1, y1), _mouse("mousePressed", x1, y1, count=1)])
        for x, y in rest:
            await self._clock.sleep_ms(min(duration_ms / len(rest), 1_000.0))
            await self._send(page, [_mouse("mouseMoved", x, y, held=True)])
        await self._send(page, [_mouse("mouseReleased", *points[-1], count=1)])

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        page = await self._begin()
        scale = max(0.1, end_radius / max(1, start_radius))
        speed = max(200, round(abs(end_radius - start_radius) * 1000 / max(1, duration_ms)))
        gesture = {"x": cx, "y": cy, "scaleFactor": scale, "relativeSpeed": speed}
        await self._send(page, [("Input.synthesizePinchGesture", gesture)])

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        del cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms
        raise Unsupported("A mouse can't turn two fingers", delivery="not_delivered")

    async def _click(self, x: int, y: int, count: int) -> None:
        page = await self._begin()
        await self._send(
            page,
            [
                _mouse("mouseMoved", x, y),
                _mouse("mousePressed", x, y, count=count),
                _mouse("mouseReleased", x, y, count=count),
            ],
        )

    # what is drawn instead of a page

    async def _pressed_instead(self, x: int, y: int) -> bool:
        """Whether a dialog or a crash is the screen, whose buttons are pressed here."""
        page, drawn = self._page(), self._eyes.drawn
        if page.dialog is None and not page.crashed:
            if drawn is not None:
                raise _gone()
            return await self._pressed_tab(x, y)
        part = drawn.part_at(x, y) if drawn is not None else ""
        if page.crashed and part == RELOAD_PAGE:
            await page.session.call("Page.navigate", {"url": page.url}, timeout_ms=INPUT_MS)
        elif page.dialog is not None and part in (OK, CANCEL):
            answer: dict[str, Any] = {"accept": part == OK}
            if page.dialog.kind == "prompt":
                answer["promptText"] = page.dialog.default if self._eyes.typed is None else self._eyes.typed
            self._rest.acted()
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
        """Whether a tab was meant, which comes to the front or is closed."""
        press = self._eyes.tab_at(x, y)
        page = self._tabs.pages.get(press.id) if press is not None else None
        if press is None:
            return False
        if page is None:
            raise _gone()
        self._rest.acted()
        await (self._tabs.drop(page) if press.closes else self._tabs.show(page))
        return True

    # keys

    async def key(self, key: str | int) -> None:
        constant = constant_of(key)
        page = self._page()
        if page.dialog is not None:
            await self._answer_by_key(constant)
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
            await self._send(page, key_events(web_key(constant)))

    async def chord(self, keys: Sequence[str]) -> None:
        """A modifier that is held is told with each event; editing commands are the page's own."""
        modifiers, struck = chord_of(keys)
        page = await self._begin()
        for constant in struck:
            command = EDITING.get(constant) if modifiers == MODIFIERS["CTRL"] else None
            [(name, down), up] = key_events(web_key(constant)._replace(text=""), modifiers)
            more = {"commands": [command]} if command else {}
            await self._send(page, [(name, {**down, **more}), up])

    async def _answer_by_key(self, constant: str) -> None:
        """Enter says yes and Escape says no, as in a browser."""
        wanted = {"ENTER": (OK,), "ESCAPE": (CANCEL, OK), "BACK": (CANCEL, OK)}.get(constant, ())
        drawn = self._eyes.drawn
        boxes = [drawn.parts[name] for name in wanted if name in drawn.parts] if drawn is not None else []
        if not boxes:
            raise _stopped()
        await self._pressed_instead(*boxes[0].center)

    async def _history(self, page: WebPage, step: int) -> None:
        told = await page.session.call("Page.getNavigationHistory")
        at = int(told["currentIndex"]) + step
        if 0 <= at < len(told["entries"]):
            if why := self._tabs.wall.why_never(str(told["entries"][at]["url"])):
                raise refusal("the page in the history", why)
            page = await self._begin()
            entry = {"entryId": told["entries"][at]["id"]}
            await self._call(page, "Page.navigateToHistoryEntry", entry)

    # sending

    def _page(self) -> WebPage:
        return self._tabs.front

    async def _begin(self) -> WebPage:
        """The page that takes it, told that something is about to be done."""
        page = self._page()
        if page.dialog is not None:
            raise _stopped()
        self._rest.acted()
        return page

    async def _send(self, page: WebPage, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """In order, without waiting for each answer. A dialog that opens meanwhile has heard them."""
        calls = [page.session.call(name, told, timeout_ms=INPUT_MS) for name, told in events]
        await unless_dialog(page, _all([page.mark(), *calls]))

    async def _call(self, page: WebPage, method: str, told: Mapping[str, Any]) -> None:
        await unless_dialog(page, page.session.call(method, told, timeout_ms=INPUT_MS))


async def _all(calls: Sequence[Any]) -> None:
    """A later failure does not hide an earlier one; if only the first was refused, nothing has arrived."""
    told = (await asyncio.gather(*calls, return_exceptions=True))[1:]  # the first is only a mark
    failures = [one for one in told if isinstance(one, BaseException)]
    if not failures:
        return
    if len(failures) < len(told) and isinstance(failures[0], BrowserCommandError):
        error = failures[0]
        raise BrowserCommandError(error.message, hint=error.hint, **{**error.details, "delivery": "unknown"})
    raise failures[0]


def key_events(key: Any, modifiers: int = 0) -> list[tuple[str, Mapping[str, Any]]]:
    """Down and up."""
    told = {
        "key": key.key, "code": key.code, "windowsVirtualKeyCode": key.number, "modifiers": modifiers,
    }  # fmt: skip
    down = {**told, "type": "keyDown" if key.text else "rawKeyDown"} | (
        {"text": key.text} if key.text else {}
    )
    return [("Input.dispatchKeyEvent", down), ("Input.dispatchKeyEvent", {**told, "type": "keyUp"})]


def _mouse(
    kind: str, x: float, y: float, *, count: int = 0, held: bool = False
) -> tuple[str, Mapping[str, Any]]:
    """In the middle of a pixel, where the look has asked what is there."""
    told: dict[str, Any] = {"type": kind, "x": x + 0.5, "y": y + 0.5}
    if count:
        told |= {"button": "left", "clickCount": count}
    if held:
        told |= {"button": "left", "buttons": 1}
    return "Input.dispatchMouseEvent", told


def _stopped() -> ElementNotInteractable:
    return ElementNotInteractable(
        "A dialog of the page waits for an answer, and the page takes nothing else",
        hint="Look, and tap one of the dialog's buttons.",
        reason="covered",
        delivery="not_delivered",
    )


def _gone() -> ElementNotInteractable:
    return ElementNotInteractable(
        "What was shown there is not there any more",
        hint="Look again.",
        reason="covered",
        delivery="not_delivered",
    )
