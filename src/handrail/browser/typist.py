"""Text into the field that has the focus, read back from the page itself.

What a password field holds never leaves the page: it is compared there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from handrail.browser.eyes import Eyes, unless_dialog
from handrail.browser.files import NO_FILES, WebFiles, give, listed
from handrail.browser.keys import typed_key, web_key
from handrail.browser.mouse import INPUT_MS, key_events
from handrail.browser.page import WebPage
from handrail.browser.rest import PageRest
from handrail.browser.synthetic import FIELD
from handrail.browser.tabs import Tabs
from handrail.errors import ActionRejected, ElementNotInteractable
from handrail.page.reading import Place
from handrail.surface.values import SetControl, Typed

SET_KINDS = frozenset({"date", "time", "month", "week", "datetime-local", "color"})
"""Fields with parts of the browser's own: their value is set as a whole."""


class PageTypist:
    """`TextCapability` and `ValuesCapability` of a browser."""

    def __init__(self, tabs: Tabs, eyes: Eyes, rest: PageRest, files: WebFiles = NO_FILES) -> None:
        self._files = files
        self._tabs = tabs
        self._eyes = eyes
        self._rest = rest

    def reads_back_as(self, text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n")

    async def require_way(self, text: str) -> None:
        """A browser's field takes every character, or its own rules say afterwards what became of it."""

    async def type_text(self, text: str, *, blind: bool = False, into: str | None = None) -> Typed:
        page = self._tabs.front
        if page.dialog is not None:
            return self._into_prompt(page, text, keep=True)
        place, told = await self._aim(page)
        text = self.reads_back_as(text)
        if into is None:
            way = await self._insert(page, place, told, text)
        else:
            way = await self._insert_into(page, place, text, into)
        if blind:
            return Typed(way, None, None, None, is_hidden=True)
        return await self._read_back(page, place, told, text, way)

    async def _insert(self, page: WebPage, place: Place, told: Mapping[str, Any], text: str) -> str:
        self._rest.acted()
        await page.mark()
        if told["kind"] in SET_KINDS:
            await self._eval(page, place, f"handrail.putField({json.dumps(text)})")
            return "value"
        many = told["kind"] in ("area", "editable")
        lines = [text] if many else text.split("\n")
        for at, line in enumerate(lines):
            if at:
                await self._keys(page, key_events(web_key("ENTER")))
            if line:
                await self._send(page, "Input.insertText", {"text": line})
        found = await self._eval(page, place, f"handrail.typed({json.dumps(text)})")
        if found is not None and not found["changed"] and text and text.isprintable():
            for character in text:  # the page listens to keys alone
                await self._keys(page, key_events(typed_key(character)))
            return "keys"
        return "insert"

    async def _insert_into(self, page: WebPage, place: Place, text: str, origin: str) -> str:
        """Compared and inserted in one task of the page: nothing can move the focus in between."""
        self._rest.acted()
        await page.mark()
        asked = f"handrail.insertInto({json.dumps(text)}, {json.dumps(origin)})"
        if await self._eval(page, place, asked) is not True:
            raise ActionRejected(
                f"The field with the focus is not one of {origin} any more, so nothing was typed",
                hint="Look again, and give `target`.",
                delivery="not_delivered",
            )
        return "script"

    async def _read_back(
        self, page: WebPage, place: Place, told: Mapping[str, Any], text: str, way: str
    ) -> Typed:
        found = await self._eval(page, place, f"handrail.typed({json.dumps(text)})")
        if found is None:
            return Typed(way, told["value"], None, None)
        arrived = bool(found["arrived"]) or (way == "value" and found["value"] == text)
        if told["secret"]:
            return Typed(way, None, text if arrived else None, arrived)
        return Typed(way, told["value"], str(found["value"]), arrived)

    async def set_value(self, native_id: str, value: str) -> SetControl | None:
        """`ValuesCapability`."""
        page, (token, _, number) = self._tabs.front, native_id.partition(".")
        place = self._eyes.places.get(token)
        if page.dialog is not None or place is None or place[0] is not page or not number.isdigit():
            return None
        told = None
        if not await self._eval(page, place[1:], f"!!handrail.fileField({number})"):
            self._rest.acted()
            await page.mark()
            told = await self._eval(page, place[1:], f"handrail.setValue({number}, {json.dumps(value)})")
            if told is None and not page.wanted_files:
                return None
        if told is None:
            path = listed(value, self._files)
            self._rest.acted()
            return await give(page, *place[1:], int(number), path)
        return SetControl(str(told["value"]), bool(told["ok"]), tuple(map(str, told["offers"])))

    async def clear_text(self) -> Typed:
        page = self._tabs.front
        if page.dialog is not None:
            return self._into_prompt(page, "", keep=False)
        place, told = await self._aim(page)
        if told["empty"]:
            return Typed("none", "", "", True)
        self._rest.acted()
        await page.mark()
        if told["kind"] in SET_KINDS:
            await self._eval(page, place, "handrail.putField('')")
        else:
            await self._eval(page, place, "handrail.selectAll()")
            await self._keys(page, key_events(web_key("DEL")))
        after = await self._eval(page, place, "handrail.aim()")
        if after is None:
            return Typed("delete", told["value"], None, None)
        return Typed("delete", told["value"], "" if after["empty"] else after["value"], bool(after["empty"]))

    def _into_prompt(self, page: WebPage, text: str, *, keep: bool) -> Typed:
        """The field of a dialog holds what it was given until a button is pressed."""
        drawn, dialog = self._eyes.drawn, page.dialog
        if dialog is None or drawn is None or FIELD not in drawn.parts:
            raise ElementNotInteractable(
                "The page waits for an answer to its dialog, and takes no text",
                hint="Tap one of the dialog's buttons.",
                reason="covered",
                delivery="not_delivered",
            )
        before = dialog.default if self._eyes.typed is None else self._eyes.typed
        self._eyes.typed = before + text if keep else text
        return Typed("dialog", before, self._eyes.typed, True)

    async def _aim(self, page: WebPage) -> tuple[Place, Mapping[str, Any]]:
        """The field with the focus, in whichever document it is."""
        places: list[Place] = [(page.main, page.main.frame)]
        places += [(part, frame) for part in page.parts.values() for frame in part.worlds]
        for place in places:
            told = await self._eval(page, place, "document.hasFocus() ? handrail.aim() : null")
            if told is not None:
                return place, told
        raise ElementNotInteractable(
            "No field of the page has the focus",
            hint="Tap a field first, or give `target`.",
            reason="nothing focused",
            delivery="not_delivered",
        )

    async def _eval(self, page: WebPage, place: Place, expression: str) -> Any:
        return await unless_dialog(page, page.evaluate(expression, *place, timeout_ms=INPUT_MS))

    async def _keys(self, page: WebPage, events: Any) -> None:
        for method, told in events:
            await self._send(page, method, told)

    async def _send(self, page: WebPage, method: str, told: Mapping[str, Any]) -> None:
        await unless_dialog(page, page.session.call(method, told, timeout_ms=INPUT_MS))
