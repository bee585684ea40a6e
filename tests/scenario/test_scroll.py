"""scroll_to: it finds what is there, knows where the content ends, stays in its container and never taps."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handrail_sim.phone import Phone
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, field, hscroll, item, lazy_list, row, scroll, toolbar
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
SHOP = "com.handrail.shop"
COMPOSE = "com.handrail.composelab"
REACT = "com.handrail.reactlab"
FLUTTER = "com.handrail.flutterlab"


class _Shelves(Activity):
    """Two lists side by side in a page, a carousel above them, and everything says when it is tapped."""

    title = "Shelves"

    def on_create(self) -> None:
        self.state["tapped"] = []

    def build(self) -> View:
        cards = (button(f"Card {n}", self.tap(f"Card {n}"), key=f"card:{n}") for n in range(1, 16))
        return column(
            toolbar("Shelves"),
            hscroll(row(*cards, width="wrap", gap=8.0), id="carousel"),
            row(self.list("Left"), self.list("Right"), height="wrap", weight=1.0),
            height="fill",
        )

    def list(self, side: str) -> View:
        return lazy_list(
            [f"{side} {number}" for number in range(1, 61)],
            lambda name: item(name, key=name, on_click=self.tap(name)),
            item_key=str,
            id=side.lower(),
            height="fill",
            width="wrap",
            weight=1.0,
        )

    def tap(self, name: str) -> partial[None]:
        return partial(self.tapped, name)

    def tapped(self, name: str) -> None:
        self.state["tapped"].append(name)


class _Form(Activity):
    """A long form that the keyboard lies upon, and an inner list that would take a finger for itself."""

    title = "Form"

    def build(self) -> View:
        inner = lazy_list([f"Inner {n}" for n in range(1, 41)], item, item_key=str, id="inner", height=420.0)
        rows = [item(f"Row {number}", key=f"row:{number}") for number in range(1, 31)]
        page = column(field("name", hint="Name"), inner, *rows)
        return scroll(page, id="page", height="fill")


class _Slippery(Activity):
    """A list of its own making: a quick finger moves it four times as far as itself goes."""

    title = "Slippery"

    def on_create(self) -> None:
        self.state["px"] = 0.0

    def build(self) -> View:
        first = round(self.state["px"] / _ROW_PX)
        rows = [
            item(f"Slip {number + 1}", key=f"slip:{number}") for number in range(first, first + _IN_SIGHT)
        ]
        return column(
            *rows,
            cls="androidx.recyclerview.widget.RecyclerView",
            id="slippery",
            scrollable=True,
            height="fill",
            on_drag=self.drag,
        )

    def drag(self, _: float, down: float) -> None:
        last = (80 - _IN_SIGHT) * _ROW_PX
        self.state["px"] = min(last, max(0.0, self.state["px"] - down * (4 if abs(down) > _QUICK_PX else 1)))


_ROW_PX, _IN_SIGHT, _QUICK_PX = 147, 14, 25


class _Shop(App):
    package = "com.example.shelves"
    label = "Shelves"
    version = "1"
    activities = {"MainActivity": _Shelves, "FormActivity": _Form, "SlipperyActivity": _Slippery}


SHELVES = _Shop.package


def _shelves(clock: FastClock) -> Phone:
    return Phone(clock=clock, apps=[_Shop])


def _tapped(w: World) -> Any:
    w.phone.catch_up()
    activity = w.phone.tasks.top
    assert activity
    return activity.state["tapped"]


async def test_what_is_in_sight_needs_no_swipe(w: World) -> None:
    await w.open(SETTINGS)
    touched = len(w.inputs())
    done = await w.session.scroll_to("Display")
    assert done.success, done.to_json()
    assert done.details["scrolls"] == 0
    assert len(w.inputs()) == touched
    assert done.target
    assert done.target.resolved
    assert done.target.resolved.ref


async def test_a_long_list_is_scrolled_down_and_up_again(w: World) -> None:
    await w.open(CONTACTS)
    down = await w.session.scroll_to({"text_contains": "Zebedee"}, max_scrolls=20)
    first = await w.session.expect_absent("Alba Thornquill", timeout_ms=0)
    up = await w.session.scroll_to("Alba Thornquill", direction="up")
    assert (down.success, first.success, up.success) == (True, True, True), down.to_json()
    assert up.verification
    assert up.verification.outcome == "verified"


async def test_the_end_of_the_content_is_known_and_the_nearest_words_are_told(w: World) -> None:
    await w.open(SETTINGS)
    done = await w.session.scroll_to("Abuot phnoe")
    assert (done.failure_code, done.delivery) == ("ELEMENT_NOT_FOUND", "delivered")
    assert done.details["reached_end"] is True
    assert done.details["scrolls"] < 10
    assert "About phone" in done.details["passed"]
    assert any(one["label"] == "About phone" for one in done.details["candidates"])
    assert "up" in (done.hint or "")
    assert (await w.session.expect_app(SETTINGS, timeout_ms=0)).success


async def test_max_scrolls_ends_the_search_and_says_that_there_may_be_more(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        await w.open(SHELVES)
        done = await w.session.scroll_to("Left 60", max_scrolls=2)
        assert done.failure_code == "ELEMENT_NOT_FOUND"
        assert (done.details["scrolls"], done.details["reached_end"]) == (2, False)
        assert "max_scrolls" in (done.hint or "")
        assert _tapped(w) == []


async def test_a_shelf_that_loads_more_at_its_end_is_followed(w: World) -> None:
    await w.open(SHOP)
    names = await _names(w, 30)
    done = await w.session.scroll_to(names[-1], max_scrolls=30)
    assert done.success, done.to_json()
    assert w.phone.tasks.top.state["pages"] > 1  # type: ignore[union-attr]


async def _names(w: World, count: int) -> list[str]:
    from handrail_sim.apps.shop import Catalogue  # noqa: PLC0415

    names = [product.name for product in Catalogue().shelf(count)]
    once = [name for name in names if names.count(name) == 1]
    assert (await w.session.expect_visible(once[0], timeout_ms=0)).success
    return once


async def test_one_of_two_lists_is_scrolled_and_the_other_stays(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        await w.open(SHELVES)
        done = await w.session.scroll_to("Right 40", within={"id": "right"}, max_scrolls=20)
        assert done.success, done.to_json()
        assert (await w.session.expect_visible("Left 1", timeout_ms=0)).success
        assert (await w.session.expect_absent("Right 1", timeout_ms=0)).success
        outside = await w.session.scroll_to("Left 1", within={"id": "right"}, max_scrolls=1)
        assert outside.failure_code == "ELEMENT_NOT_FOUND"
        assert _tapped(w) == []


async def test_a_carousel_in_a_page_is_scrolled_sideways(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        await w.open(SHELVES)
        done = await w.session.scroll_to("Card 14", direction="right")
        assert done.success, done.to_json()
        assert (await w.session.expect_visible("Left 1", timeout_ms=0)).success
        back = await w.session.scroll_to("Card 1", direction="left")
        assert back.success, back.to_json()
        assert _tapped(w) == []


async def test_where_nothing_scrolls_that_way_no_finger_moves(w: World) -> None:
    """A sideways swipe over rows may archive or delete one."""
    await w.open(CONTACTS)
    touched = len(w.inputs())
    done = await w.session.scroll_to("Nobody", direction="right")
    assert (done.failure_code, done.delivery) == ("ELEMENT_NOT_FOUND", "not_delivered")
    assert len(w.inputs()) == touched


async def test_an_inner_list_does_not_take_the_finger_of_the_page(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        w.phone.start_activity(f"{SHELVES}/.FormActivity")
        done = await w.session.scroll_to("Row 25", within={"id": "page"})
        assert done.success, done.to_json()
        up = await w.session.scroll_to("Inner 1", direction="up", within={"id": "page"})
        assert up.success, up.to_json()
        inner = await w.session.scroll_to("Inner 30", within={"id": "inner"}, max_scrolls=20)
        assert inner.success, inner.to_json()


async def test_what_lies_under_the_keyboard_is_not_in_sight_yet(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        w.phone.start_activity(f"{SHELVES}/.FormActivity")
        await w.session.tap({"id": "name"})
        done = await w.session.scroll_to("Row 6", within={"id": "page"})
        assert done.success, done.to_json()
        tapped = await w.session.tap("Row 6")
        assert tapped.failure_code is None, tapped.to_json()


async def test_a_swipe_that_jumped_over_rows_is_taken_back(tmp_path: Path) -> None:
    """A list that a quick finger throws over three screens: the rows between were never in sight."""
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=_shelves(clock)) as w:
        w.phone.start_activity(f"{SHELVES}/.SlipperyActivity")
        done = await w.session.scroll_to("Slip 20", max_scrolls=20)
        assert done.success, done.to_json()
        assert done.details["taken_back"] >= 1
        back = await w.session.scroll_to("Slip 3", direction="up", max_scrolls=20)
        assert back.success, back.to_json()


async def test_labs_of_other_toolkits_are_scrolled_too(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await w.open(COMPOSE)
        await w.session.tap("List")
        compose = await w.session.scroll_to("Item 39")
        assert compose.success, compose.to_json()
        await w.open(REACT)
        react = await w.session.scroll_to("Fog, day three.")
        assert react.success, react.to_json()
        await w.open(FLUTTER)
        flutter = await w.session.scroll_to("Buy stamps")
        assert flutter.success, flutter.to_json()


async def test_a_ref_that_is_gone_is_stale_before_anything_moves(w: World) -> None:
    await w.open(CONTACTS)
    ref = await w.ref("Alba Thornquill")
    await w.open(SETTINGS)
    touched = len(w.inputs())
    done = await w.session.scroll_to(ref)
    assert (done.failure_code, done.delivery) == ("STALE_REFERENCE", "not_delivered")
    assert len(w.inputs()) == touched


async def test_a_dialog_above_the_list_is_not_closed_by_a_finger_beside_it(w: World) -> None:
    await w.open(SETTINGS)
    await w.session.tap("Display")
    await w.session.tap("Screen timeout")
    done = await w.session.scroll_to("Screen saver")
    assert done.failure_code == "ELEMENT_NOT_FOUND"
    assert (await w.session.expect_visible("30 minutes", timeout_ms=0)).success


@pytest.mark.slow
async def test_a_toast_is_not_what_scrolls(w: World) -> None:
    await w.open("com.handrail.composelab")
    await w.session.tap("Save")
    await w.session.tap("List")
    assert w.phone.state()["toast"] == "Saved"
    found = await w.session.scroll_to("Item 40")
    assert found.success, found.message
