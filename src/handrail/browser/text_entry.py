"""Types and clears text in the focused field of a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from handrail.browser.files import NO_FILES, WebFiles, give, listed
from handrail.browser.idle import PageIdle
from handrail.browser.input import INPUT_MS, key_events, typed_key, web_key
from handrail.browser.page import WebPage
from handrail.browser.screen_reader import FIELD, PageScreenReader, unless_dialog
from handrail.browser.tabs import Tabs
from handrail.errors import ActionRejected, ElementNotInteractable
from handrail.page.reading import Place
from handrail.surface.values import SetControl, Typed

SET_KINDS = frozenset({"date", "time", "month", "week", "datetime-local", "color"})
"""Fields with parts of the browser's own, whose value is set as a whole."""


class PageTextInput:
    """`TextInput` and `ControlValues` of a browser."""

    def __init__(
        self, tabs: Tabs, screen_reader: PageScreenReader, idle: PageIdle, files: WebFiles = NO_FILES
    ) -> None:
        self._files = files
        self._tabs = tabs
        self._screen_reader = screen_reader
        self._idle = idle

    def reads_back_as(self, text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n")

    async def require_way(self, text: str) -> None:
        """A browser's field accepts every character."""

    async def type_text(self, text: str, *, blind: bool = False, into: str | None = None) -> Typed:
        page = self._tabs.front
        if page.dialog is not None:
            return self._into_prompt(page, text, keep=True)
        place, field = await self._aim(page)
        text = self.reads_back_as(text)
        if into is None:
            way = await self._insert(page, place, field, text)
        else:
            way = await self._insert_into(page, place, text, into)
        if blind:
            return Typed(way, None, None, None, is_hidden=True)
        return await self._read_back(page, place, field, text, way)

    async def _insert(self, page: WebPage, place: Place, field: Mapping[str, Any], text: str) -> str:
        self._idle.acted()
        await page.mark()
        if field["kind"] in SET_KINDS:
            await self._eval(page, place, f"handrail.putField({json.dumps(text)})")
            return "value"
        many = field["kind"] in ("area", "editable")
        lines = [text] if many else text.split("\n")
        for at, line in enumerate(lines):
            if at:
                await self._keys(page, key_events(web_key("ENTER")))
            if line:
                await self._send(page, "Input.insertText", {"text": line})
        typed = await self._eval(page, place, f"handrail.typed({json.dumps(text)})")
        if typed is not None and not typed["changed"] and text and text.isprintable():
            for character in text:  # the page handles only key events
                await self._keys(page, key_events(typed_key(character)))
            return "keys"
        return "insert"

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

    async def set_value(self, native_id: str, value: str) -> SetControl | None:
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
            path = listed(value, self._files)
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
            await self._keys(page, key_events(web_key("DEL")))
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

    async def _keys(self, page: WebPage, events: Any) -> None:
        for method, params in events:
            await self._send(page, method, params)

    async def _send(self, page: WebPage, method: str, params: Mapping[str, Any]) -> None:
        await unless_dialog(page, page.session.call(method, params, timeout_ms=INPUT_MS))
