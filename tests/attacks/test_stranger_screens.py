# ruff: noqa: E501  (one shape, one line)
"""Screens of a phone, invented by somebody who had not read the code: nothing guarded is pressed unasked.

Judged by the simulated app, which notes what was done in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from handrail_sim.apps import DEFAULT
from handrail_sim.phone import Phone
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, checkbox, column, field, frame, icon, row, scroll, text, toolbar
from tests.scenario.world import World, play, until, usual_clock, world

ASYNC_RUNNER = play

PACKAGE = "com.example.stall"
RULES = "[[rule]]\npressed = true\nlabel = '*Launch*'\nverdict = 'deny'\n"
GO: dict[str, Any] = {"type": "tap", "target": {"id": "go"}}
LONG = "We are glad that you are here, and we tell you at length what happens next. " * 12
Build = Callable[["Stall", str], View]


class Stall(Activity):
    """Its views are those of the shape that is tried."""

    title = "Stall"

    def on_create(self) -> None:
        self.state.update(stage=0)

    def build(self) -> View:
        return column(toolbar("Stall"), Stand.shape(self, Stand.words), height="fill")

    def pay(self, *_: Any) -> None:
        Stand.paid.append(Stand.words)

    def later(self) -> None:
        self.state["stage"] += 1


class Stand(App):
    """com.example.stall"""

    package = PACKAGE
    label = "Stall"
    icon = "note"
    activities: ClassVar = {"Stall": Stall}
    paid: ClassVar[list[str]] = []
    shape: ClassVar[Build]
    words = ""

    def state(self) -> dict[str, Any]:
        return {}


def box(*inside: View, **more: Any) -> View:
    return row(*inside, id="go", padding=16.0, focusable=True, **more)


def many(here: Stall, words: str) -> View:
    return column(*(text(f"Line {number}") for number in range(9)), text(words), id="go", on_click=here.pay)


def own_scroll(here: Stall, words: str) -> View:
    return column(text("Card"), scroll(text(words), height=40.0), id="go", on_click=here.pay, width="fill")


def dialog(here: Stall, *words: str, beside: str = "") -> View:
    ask = button("OK", here.pay, id="go")
    return column(*map(text, words), row(text(beside), ask) if beside else ask)


def covered(here: Stall, words: str) -> View:
    cover = View(
        cls="android.view.View", width="fill", height=60.0, clickable=True, on_click=here.pay, desc=words
    )
    return frame(button("Help", here.later, id="go", width="fill", height=60.0), cover, width="fill")


def unnamed(here: Stall, words: str) -> View:
    return row(
        text(words), View(cls="android.widget.ImageView", id="go", width=60.0, height=60.0, on_click=here.pay)
    )


def staged(*kinds: str) -> Build:
    """What the first touch turns into the guarded thing."""

    def build(here: Stall, words: str) -> View:
        if not here.state["stage"]:
            return View(
                cls="android.widget.Button", text="Show more", id="go", width="fill", height=60.0,
                on_click=here.later, **dict.fromkeys(kinds, here.later),
            )  # fmt: skip
        return button(words, here.pay, id="go", width="fill", height=60.0)

    return build


def entered(here: Stall, words: str) -> View:
    return column(field("note", hint="Note", on_submit=here.pay), button(words, here.pay))


SHAPES: dict[str, tuple[Build, Sequence[dict[str, Any]]]] = {
    "ten texts in one box": (many, [GO]),
    "a part that scrolls by itself": (own_scroll, [GO]),
    "two texts": (lambda here, words: box(*map(text, words.split()), on_click=here.pay), [GO]),
    "a text and a description": (
        lambda here, words: button(words.split()[0], here.pay, id="go", desc=words), [GO]),
    "a letter each": (lambda here, words: box(*map(text, words.replace(" ", "")), on_click=here.pay), [GO]),
    "turned by a character": (lambda here, words: button(f"\u202e{words[::-1]}\u202c", here.pay, id="go"), [GO]),
    "turned in the middle": (
        lambda here, words: button(f"{words[0]}\u202e{words[:0:-1]}", here.pay, id="go"), [GO]),
    "zero-width joints": (lambda here, words: button("\u200b".join(words), here.pay, id="go"), [GO]),
    "a line each": (lambda here, words: button(words.replace(" ", "\n"), here.pay, id="go"), [GO]),
    "an OK under it": (lambda here, words: dialog(here, f"{words}?"), [GO]),
    "an OK beside a sign": (lambda here, words: dialog(here, f"{words}?", beside="ⓘ"), [GO]),
    "an OK beside a version": (lambda here, words: dialog(here, f"{words}?", beside="Version 2 of this app"), [GO]),
    "an OK under a long text": (lambda here, words: dialog(here, LONG, f"{words}?"), [GO]),
    "an OK under one long text": (lambda here, words: dialog(here, f"{LONG} {words}?"), [GO]),
    "a sign under it": (lambda here, words: column(text(f"{words}?"), button("✓", here.pay, id="go")), [GO]),
    "other words under it": (lambda here, words: column(text(f"{words}?"), button("Hold to confirm", here.pay, id="go")), [GO]),
    "an OK under a question with links": (
        lambda here, words: column(text(f"{words}?", on_click=here.later), button("OK", here.pay, id="go")), [GO]),
    "an OK under a text with links": (
        lambda here, words: column(text(f"{LONG[:62]}. {words}?", on_click=here.later), button("OK", here.pay, id="go")), [GO]),
    "an OK under a field that nobody writes into": (
        lambda here, words: column(View(cls="android.widget.EditText", text=f"{words}?", enabled=False, width="fill", height=60.0), button("OK", here.pay, id="go")), [GO]),
    "two keys, the first moves the focus": (
        lambda here, words: column(button("Show more", here.later, id="go"), button(words, here.pay, id="pay")),
        [{"type": "press_key", "key": "down"}, {"type": "press_keys", "keys": ["tab", "enter"]}, {"type": "press_keys", "keys": ["down", "enter"]}]),
    "two keys, the first changes what is there": (
        staged(), [{"type": "press_key", "key": "tab"}, {"type": "press_keys", "keys": ["enter", "space"]}, {"type": "press_keys", "keys": ["tab", "enter"]}]),
    "a cover": (covered, [GO, {"type": "tap", "target": {"x": 540, "y": 330}}]),
    "a picture beside it": (unnamed, [GO]),
    "a checkbox of that name": (
        lambda here, words: checkbox(words, False, here.pay, id="go"), [GO]),
    "an icon in a row of that name": (
        lambda here, words: box(icon("send"), text(words), on_click=here.pay), [{"type": "tap", "target": {"text": "@"}}]),
    "the second of two taps": (staged("on_double_tap"), [{**GO, "type": "double_tap"}]),
    "a tap after a long press": (staged("on_long_click"), [{**GO, "type": "long_press", "duration_ms": 2000}]),
    "Enter in a field": (entered, [{"type": "type_text", "text": "x", "target": {"id": "note"}, "submit": True}]),
    "a line break in a field": (entered, [{"type": "type_text", "text": "x\n", "target": {"id": "note"}}]),
    "Enter by a key": (entered, [{"type": "tap", "target": {"id": "note"}}, {"type": "press_key", "key": "enter"}]),
    "a box of that name around a button without one": (
        lambda here, words: box(View(cls="android.widget.Button", width=80.0, height=50.0, id="in", on_click=here.pay), desc=words),
        [{"type": "tap", "target": {"id": "in"}}]),
}  # fmt: skip


async def tried(w: World, name: str, words: str) -> tuple[bool, list[str | None]]:
    """Whether it was done, while whoever is asked says no."""
    build, acts = SHAPES[name]
    Stand.shape, Stand.words = staticmethod(build), words  # type: ignore[assignment]
    Stand.paid.clear()
    w.phone.force_stop(PACKAGE)
    w.phone.start_activity(f"{PACKAGE}/.Stall")
    codes = []
    for act in acts:
        aimed = {**act, "target": {"text": words}} if act.get("target") == {"text": "@"} else act
        task = asyncio.create_task(w.session.run(aimed))
        await until(lambda task=task: task.done() or w.runtime.approvals.pending())
        for one in [] if task.done() else await w.runtime.approvals.pending():
            await w.runtime.approvals.answer(one.id, False, "lena")
        codes.append((await task).failure_code)
    return bool(Stand.paid), codes


@pytest.mark.parametrize("words", ["Pay now", "Launch rocket"])
async def test_no_screen_of_a_stranger_gets_something_guarded_pressed(tmp_path: Path, words: str) -> None:
    clock = usual_clock()
    async with world(tmp_path, policy=RULES, phone=Phone(clock=clock, apps=(Stand, *DEFAULT))) as w:
        pressed = [name for name in SHAPES if (await tried(w, name, words))[0]]
    assert pressed == []


async def test_the_same_screens_are_pressed_where_nothing_is_guarded(tmp_path: Path) -> None:
    clock = usual_clock()
    async with world(tmp_path, policy=RULES, phone=Phone(clock=clock, apps=(Stand, *DEFAULT))) as w:
        left = {name: told for name in SHAPES if not (told := await tried(w, name, "Read more"))[0]}
    assert len(left) <= len(SHAPES) * 0.4, left
