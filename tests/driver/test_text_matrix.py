"""Every nasty text into every kind of field, by every route and every single way: unchanged or declined."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from handrail.android.text_entry import TextEntry, TextMethod
from handrail.clock import SystemClock
from handrail.errors import InvalidAction, Unsupported
from handrail.surface.values import Typed
from tests.driver.nasty_text import NASTY, REFUSED, is_ascii_line
from tests.driver.typing_person import PLACES, Person, Place, person

ANY_SCRIPT = frozenset({"vendor clipboard", "u2 keyboard", "other keyboard", "u2"})
"""Routes that have more than keys."""
SINGLE_WAYS = [
    ("vendor clipboard", "cmd clipboard paste"),
    ("u2 keyboard", "keyboard app"),
    ("other keyboard", "keyboard app"),
    ("u2", "u2 paste"),
    ("u2", "u2 set_text"),
]
"""Which way is tried alone over which route; keys alone are what plain adb and the helper have anyway."""
LONG_BY_KEYS = {("adb", "single-line"), ("adb", "multi-line"), ("helper", "password")}
"""The simulator lays a screen out anew after every key: thousands of keys are pressed here only."""


def texts(route: str, kind: str) -> dict[str, str]:
    if route in ANY_SCRIPT or (route, kind) in LONG_BY_KEYS:
        return NASTY
    return {label: text for label, text in NASTY.items() if len(text) < 1_000}


def must_arrive(route: str, place: Place, text: str) -> bool:
    """A line break needs several lines; without more than keys, what has no key is declined."""
    if "\n" in text and not place.several_lines:
        return False
    return route in ANY_SCRIPT or is_ascii_line(text.replace("\n", ""))


Type = Callable[[Person, str], Awaitable[Typed]]


async def try_all(
    who: Person, type_text: Type, nasty: dict[str, str], expected: Callable[[str], bool]
) -> list[str]:
    """What went wrong, text by text."""
    wrong = []
    for label, text in nasty.items():
        who.start_over()
        try:
            typed = await type_text(who, text)
        except Unsupported as error:
            if expected(text) or who.value() or who.phone.input_log:
                wrong.append(f"{label}: declined: {error.message}")
            assert error.details["delivery"] == "not_delivered"
            continue
        if who.value() != text or typed.arrived is not True:
            wrong.append(f"{label}: {who.value()[:60]!r} by {typed.way}, said {typed.arrived}")
    return wrong


MATRIX = [
    pytest.param(route, kind, marks=[] if (route, kind) == ("u2", "multi-line") else [pytest.mark.slow])
    for route in ("adb", "u2", "helper")
    for kind in PLACES
]
"""u2 takes every text and is quick; the others belong to the long runs."""


@pytest.mark.parametrize(("route", "kind"), MATRIX)
async def test_every_text_arrives_unchanged_or_is_declined_before_anything_is_sent(
    route: str, kind: str
) -> None:
    place = PLACES[kind]
    async with person(route, place) as who:
        wrong = await try_all(
            who,
            lambda one, text: one.type_text(text),
            texts(route, kind),
            lambda text: must_arrive(route, place, text),
        )
        assert not wrong, "\n".join(wrong)
        assert len(texts(route, kind)) >= 60


async def by_one_way(who: Person, text: str, name: str) -> Typed:
    """The chain with a single link."""
    ways = [way for way in who.ways(text) if way.name == name]
    assert len(ways) == 1, name

    class OneWay(TextEntry):
        def ways(self, text: str) -> Sequence[TextMethod]:
            return ways

    return await OneWay(who.device.shell, who.look, SystemClock()).type_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize(("route", "name"), SINGLE_WAYS)
async def test_each_single_way_delivers_unchanged_or_declares_that_it_cannot(
    route: str, name: str, kind: str
) -> None:
    place = PLACES[kind]
    async with person(route, place) as who:
        wrong = await try_all(
            who,
            lambda one, text: by_one_way(one, text, name),
            NASTY,
            lambda text: must_arrive(route, place, text),
        )
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("label", REFUSED)
async def test_what_no_field_can_hold_is_refused(label: str) -> None:
    async with person("adb", PLACES["single-line"]) as who:
        with pytest.raises(InvalidAction) as refusal:
            await who.type_text(REFUSED[label])
        assert refusal.value.details["path"] == "text"
        assert who.value() == ""
