"""Asks a page what an input would activate, and has it compare the answer when the input arrives."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from handrail.errors import ActionRejected, BrowserCommandError, HandrailError
from handrail.page.reading import PageReader, Place
from handrail.protocol.envelope import Delivery
from handrail.protocol.keys import HELD, KeyEffect, effect_of_chord, is_editing
from handrail.surface.capabilities import ControlValue
from handrail.surface.values import Activated, ActivatedElement

_KEY_EVENTS = frozenset({"keydown", "keypress", "keyup"})
_ENTER_EVENTS = _KEY_EVENTS | {"beforeinput", "change", "search"}
"""What Enter in a field causes besides; `input` too where it breaks the line."""
_COPY_EVENTS = frozenset({"copy", "cut", "paste"})
_CHOICE_EVENTS = frozenset({"change", "input", "click", "search"})
_KINDS = {KeyEffect.PRESSES: "press", KeyEffect.MOVES: "move", KeyEffect.TYPES: "type"}
_DIRECTIONS = ("up", "down", "left", "right", "tab")
_SHIFT = frozenset({"shift", "KEYCODE_SHIFT_RIGHT"})
MOST_ROOTS = 8
"""Closed roots inside each other."""
_UNREAD = "Something in an embedded document that can't be read"

Evaluate = Callable[[str, Place], Awaitable[Any]]
"""Evaluates a script in our world of a document; None if a dialog keeps it from answering."""


@dataclass
class PageActivation:
    """One question to one page, and what it answered."""

    page: PageReader
    evaluate: Evaluate
    gets_every_key: bool = False
    """A browser's tab gets keys also when none of its documents has the focus; a view in an app does not."""
    is_open: bool = field(default=False, init=False)
    """Everything counted as pressed."""
    activated: Activated | None = field(default=None, init=False)
    """The answer about keys."""
    _judged: list[tuple[Place, dict[str, Any], str]] = field(default_factory=list, init=False)
    """By document: the question and its answer."""

    async def activated_by_keys(self, keys: Sequence[str], native_id: str = "") -> Activated | None:
        """Returns None if no document has the focus. `native_id`: what will have it."""
        kind = _KINDS.get(effect_of_chord(keys))
        if kind is None:
            return Activated()
        place, number = self._locate(native_id) if native_id else (None, 0)
        if native_id and place is None:
            return None
        direction = next((key for key in keys if key in _DIRECTIONS), "")
        held = bool((set(keys) & HELD) - _SHIFT) and not is_editing(keys)
        question = {"kind": kind, "key": direction, "held": held}
        parts = [
            await self._with_handlers(each, answer, kind)
            for each, answer in await self._ask(question, native_id, place, number)
        ]
        if parts and len([key for key in keys if key not in HELD]) > 1:
            parts.append(Activated(is_unknown=True))  # after the first of them the focus may be anywhere
        if parts:
            self.activated = await self._joined(parts)
        return self.activated

    async def activated_by_points(self, points: Sequence[tuple[float, float]]) -> Activated:
        """Takes points in the page's own pixels."""
        return await self._joined([await self._at(self._main, list(points))])

    async def activated_by_value(self, native_id: str, value: ControlValue) -> Activated:
        place, number = self._locate(native_id)
        if place is None:
            return await self.anything()
        script = f"JSON.stringify(handrail.activatedByValue({number}, {json.dumps(value)}))"
        answer = await self.evaluate(_if_same(native_id, script), place)
        if not answer:
            return await self.anything()
        return await self._joined([await self._with_handlers(place, json.loads(answer), "type")])

    async def anything(self) -> Activated:
        """Nobody can tell: the document that would get it was not read, or was replaced."""
        self.activated = await self._joined([Activated(is_unknown=True, asks=_UNREAD)])
        return self.activated

    @asynccontextmanager
    async def guard(self, *, of_a_text: bool = False) -> AsyncIterator[None]:
        """An input inside does not reach the page if its answer is another one by then.

        `of_a_text`: the keys of a text, of which only Enter presses something. Raises `ActionRejected`.
        """
        for place, question, answer in self._judged:
            question["text"] = of_a_text
            script = f"handrail.arm({json.dumps(question)}, {json.dumps(answer)}, {json.dumps(self.is_open)})"
            try:
                await self.evaluate(script, place)
            except BrowserCommandError:
                raise changed_error() from None
        others: list[Place] = []
        if not self.is_open and not of_a_text:
            judged = [place for place, _, _ in self._judged]
            parts = [(part, part.frame) for part in self.page.parts.values()]
            others = [place for place in {*self.page.documents(), *parts} if place not in judged]
            for place in others:
                with suppress(HandrailError):
                    await self.evaluate("handrail.bar()", place)
        try:
            yield
        finally:
            is_refused = False
            for place in (*(place for place, _, _ in self._judged), *others):
                with suppress(HandrailError):  # another page is there
                    is_refused |= bool(await self.evaluate("handrail.disarm()", place))
        if is_refused:
            raise changed_error("unknown" if of_a_text else "not_delivered")

    async def guard_hover(self) -> None:
        """For a moment, what the pointer brings up under itself does not hear of it.

        Raises `ActionRejected` if what was judged has changed.
        """
        for place, question, answer in self._judged:
            judged = json.dumps([question, answer, self.is_open, True])
            if await self.evaluate(f"handrail.arm(...{judged})", place):
                raise changed_error()

    @property
    def _main(self) -> Place:
        return self.page.main, self.page.main.frame

    def _locate(self, native_id: str) -> tuple[Place | None, int]:
        """The document of an element, and its number there."""
        token, _, number = native_id.partition(".")
        return (self.page.looked.get(token), int(number)) if number.isdigit() else (None, 0)

    async def _ask(
        self, question: dict[str, Any], native_id: str, place: Place | None, number: int, depth: int = 0
    ) -> list[tuple[Place, Mapping[str, Any]]]:
        """What each document with the focus answers; the main one for those that it can reach.

        If none has it, as after a Tab behind the last field, the main one of a browser's tab gets the key.
        """
        arguments = json.dumps([*question.values(), number])[1:-1]
        script = f"JSON.stringify(handrail.activatedByKey({arguments}))"
        if native_id:
            requests = [(place or self._main, _if_same(native_id, script))]
        else:
            requests = [(each, f"document.hasFocus() ? {script} : null") for each in self.page.documents()]
            requests += [(self._main, script)] if self.gets_every_key else []
        answers: list[tuple[Place, Mapping[str, Any]]] = []
        was_replaced = False
        for each, expression in requests:
            if expression == script and (answers or was_replaced):
                break
            try:
                answer = await self.evaluate(expression, each)
            except BrowserCommandError:  # if it had the focus, no other document answers
                was_replaced = True
                continue
            if isinstance(answer, str) and answer != "null":
                parsed = json.loads(answer)
                if parsed.get("host") and depth < MOST_ROOTS and await self.page.open_roots(each, ""):
                    return await self._ask(question, native_id, place, number, depth + 1)
                answers.append((each, parsed))
                if not native_id:
                    self._judged.append((each, question, answer))
        return answers

    async def _with_handlers(self, place: Place, answer: Mapping[str, Any], kind: str) -> Activated:
        """Adds what the page's own handlers may do."""
        if answer.get("unread"):
            return Activated(is_unknown=True, asks=_UNREAD)
        events = await self.page.event_types(place, int(answer["listens"]), up_to_window=bool(answer["top"]))
        decisive = _ENTER_EVENTS if kind == "press" else _KEY_EVENTS | _COPY_EVENTS
        if answer["breaks"] and kind == "press":
            decisive |= {"input"}
        activated, is_unknown = list(answer["elements"]), bool(events & decisive) and not answer["sure"]
        if events & _CHOICE_EVENTS and kind != "press" and answer["at"]:
            form = await self._form(place, answer["at"])
            activated += form
            is_unknown = is_unknown or not form
        if answer["at"] and kind == "press":
            activated.append({"id": answer["at"], "texts": (), "rid": "", "named": True})
        return Activated(await self._elements(place, activated), is_unknown)

    async def _at(self, place: Place, points: list[Any], depth: int = 0) -> Activated:
        """Frames of other sites are requests themselves."""
        script = f"JSON.stringify(handrail.activatedAt({json.dumps(points)}))"
        answer = await self.evaluate(script, place)
        if not isinstance(answer, str) or depth > len(self.page.looked) + MOST_ROOTS:
            return Activated(is_unknown=True)
        answers_by_point = json.loads(answer)
        is_host = any(part.get("host") for part in answers_by_point) and depth < MOST_ROOTS
        if is_host and await self.page.open_roots(place, json.dumps(points)):
            return await self._at(place, points, depth + 1)
        self._judged.append((place, {"points": points}, answer))
        parts = []
        for part in answers_by_point:
            if "frame" not in part:
                elements = await self._elements(place, part["elements"])
                token = (await self.page.world(*place)).token
                asks = _UNREAD if part["unread"] else ""
                parts.append(Activated(elements, asks=asks, reached=(f"{token}.{part['reached']}",)))
                parts += [await self._chosen(place, number) for number in part["choices"]]
            elif inner := self.page.document_in(f"{(await self.page.world(*place)).token}.{part['frame']}"):
                parts.append(await self._at(inner, [(part["x"], part["y"])], depth + 1))
            else:
                parts.append(Activated(asks=_UNREAD))
        return Activated.joined(parts)

    async def _chosen(self, place: Place, number: int) -> Activated:
        """A checkbox, a radio or a slider whose own handler may submit its form."""
        form = await self._form(place, number)
        events = await self.page.event_types(place, 1, up_to_window=False) if form else set()
        return Activated(await self._elements(place, form)) if events & _CHOICE_EVENTS else Activated()

    async def _form(self, place: Place, number: int) -> list[dict[str, Any]]:
        """What the form of an element is sent by, which may be pressed then: it is judged as well."""
        for judged, question, _ in self._judged:
            if judged == place:
                question["form"] = True
        form: list[dict[str, Any]] = await self.page.evaluate(f"handrail.formOf({number})", *place)
        return form

    async def _elements(
        self, place: Place, elements: Sequence[Mapping[str, Any]]
    ) -> tuple[ActivatedElement, ...]:
        token = (await self.page.world(*place)).token
        return tuple(
            ActivatedElement(f"{token}.{each['id']}", tuple(each["texts"]), each["rid"], each["named"])
            for each in elements
        )

    async def _joined(self, parts: Sequence[Activated]) -> Activated:
        """If nobody can tell what is pressed, what no look tells counts as well."""
        activated = Activated.joined(parts)
        elements, asks = list(activated.elements), activated.asks
        if activated.is_unknown:
            self.is_open = True
            for place in self.page.documents():
                unseen = None
                with suppress(BrowserCommandError):
                    unseen = await self.evaluate("handrail.unseen()", place)
                if unseen is None:
                    asks = asks or "Something that is not on the screen"
                else:
                    elements += await self._elements(place, unseen)
        self.is_open = self.is_open or bool(asks)
        return Activated(tuple(elements), activated.is_unknown, asks, activated.reached)


def _if_same(native_id: str, script: str) -> str:
    """Numbers of elements are of one document, which may have been replaced."""
    return f"handrail.token === {json.dumps(native_id.partition('.')[0])} ? {script} : null"


def changed_error(delivery: Delivery = "not_delivered") -> ActionRejected:
    return ActionRejected(
        "What the input would press changed after it was judged, so the page did not get it",
        hint="Look again.",
        delivery=delivery,
    )
