"""A phone's world: apps hold what they were given, on screens and in the state, also after a restore."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from handrail_sim.apps import APPS
from handrail_sim.clock import ManualClock
from handrail_sim.errors import BadSetting
from handrail_sim.phone import Phone

WORLD: dict[str, Any] = {
    "contacts": [{"name": "Ida Fell", "phone": "07700 900900", "company": "Fell Boats", "starred": True}],
    "messages": [
        {"from": "07700 900900", "text": "The mast is at berth 17."},
        {"to": "07700 900900", "text": "Thank you"},
    ],
    "notes": [{"title": "Berth", "body": "Ask Ida"}, {"title": "Oats", "body": "Two bags"}],
    "clock": [{"time": "05:50", "days": [1, 3], "enabled": False, "label": "Tide"}],
    "calendar": [{"title": "Caulking", "day": 2, "from": "10:30", "to": "11:45", "location": "Slipway"}],
    "shop": [{"name": "Copper funnel", "cents": 1234}, {"name": "Tin funnel", "cents": 950}],
    "bank": {
        "customer": "400500",
        "password": "driftwood",
        "accounts": [{"name": "Boat fund", "cents": 98765}],
        "entries": [{"account": "Boat fund", "words": "Varnish", "cents": -2150, "days_ago": 2}],
    },
    "browser": {
        "pages": {
            "tide.example/": {"title": "Tides", "blocks": [{"heading": "Tides"}, "High water at 13:07"]}
        },
        "books": [["Knots", "I. Fell", "lent"]],
    },
    "gallery": [{"place": "Slipway", "days_ago": 1}],
    "files": {"Download/list.txt": "oats"},
    "settings": {"global": {"bluetooth_on": 0}, "wifi": [{"name": "Fell Boats", "secured": True}]},
    "dialer": [{"number": "07700 900900", "kind": "missed", "seconds": 0}],
    "react_lab": [{"who": "Ida Fell", "text": "Low tide", "likes": 5}],
    "flutter_lab": ["Scrape the hull"],
}
SHOWN = {
    "contacts": "Ida Fell",
    "messages": "Ida Fell",
    "notes": "Two bags",
    "calendar": "Caulking",
    "shop": "€12.34",
    "react_lab": "Low tide",
    "dialer": "Call Ida Fell",
}


def phone(world: dict[str, Any] | None = None) -> Phone:
    return Phone(clock=ManualClock(), world=WORLD if world is None else world)


def app(of: Phone, name: str) -> Any:
    return of.state()["apps"][APPS[name].package]


def test_every_app_tells_what_it_was_given() -> None:
    given = phone()
    assert [one["name"] for one in app(given, "contacts")["contacts"]] == ["Ida Fell"]
    [thread] = app(given, "messages")["threads"]
    assert [(one["text"], one["kind"]) for one in thread["messages"]] == [
        ("The mast is at berth 17.", "received"),
        ("Thank you", "sent"),
    ]
    assert [one["title"] for one in app(given, "notes")["notes"]] == ["Berth", "Oats"]
    [alarm] = app(given, "clock")["alarms"]
    assert (alarm["hour"], alarm["minute"], alarm["days"], alarm["label"]) == (5, 50, [1, 3], "Tide")
    [event] = app(given, "calendar")["events"]
    assert (event["title"], event["from"], event["to"], event["location"]) == (
        "Caulking", "10:30", "11:45", "Slipway",
    )  # fmt: skip
    assert app(given, "bank")["accounts"] == [{"name": "Boat fund", "cents": 98765}]
    assert app(given, "files")["files"]["Download/list.txt"] == 4
    assert app(given, "dialer")["log"][0]["number"] == "07700 900900"
    assert app(given, "settings")["wifi"] == "Fell Boats"
    assert given.state()["settings"]["global"]["bluetooth_on"] == "0"


@pytest.mark.parametrize("name", SHOWN)
def test_a_screen_shows_it(name: str) -> None:
    given = phone()
    given.start_activity(package=APPS[name].package)
    assert SHOWN[name] in given.dump()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://tide.example/", "High water at 13:07"),
        ("https://harbour.example/results?q=knots", "Knots, I. Fell: lent"),
    ],
)
def test_the_web_has_a_page_and_a_book_that_were_given(url: str, words: str) -> None:
    async def story() -> str:
        clock = ManualClock()
        given = Phone(clock=clock, world=WORLD)
        given.start_activity(package=APPS["browser"].package, action="android.intent.action.VIEW", data=url)
        await clock.advance(5_000)
        return given.dump()

    assert words in asyncio.run(story())


def test_a_snapshot_brings_the_world_back() -> None:
    given = phone()
    given.snapshot()
    given.give({"shop": [{"name": "Rope", "cents": 10}], "notes": []})
    assert app(given, "notes")["notes"] == []
    given.restore()
    given.start_activity(package=APPS["shop"].package)
    assert "Copper funnel" in given.dump()
    assert len(app(given, "notes")["notes"]) == 2


def test_adding_keeps_what_is_there() -> None:
    given = phone({"contacts": {"add": [{"name": "Ida Fell"}]}})
    assert len(app(given, "contacts")["contacts"]) == 31


@pytest.mark.parametrize(
    "world",
    [
        {"nothing": []},
        {"trouble": []},
        {"notes": [{"titel": "Oats"}]},
        {"notes": "Oats"},
        {"clock": [{"time": "25:00"}]},
        {"clock": [{}]},
        {"shop": [{"name": "Rope"}]},
        {"browser": {"pages": {"a.example/": {"blocks": [{"marquee": "x"}]}}}},
    ],
)
def test_what_nobody_knows_is_refused(world: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match="world"):
        phone(world)


def test_the_same_world_and_seed_are_the_same_phone() -> None:
    one, other = phone(), phone()
    assert json.dumps(one.state(), default=str) == json.dumps(other.state(), default=str)


@pytest.mark.parametrize("named", [True, False])
def test_an_app_that_shows_pages_is_there_where_a_world_names_it(named: bool) -> None:
    pages = {"orders.example/": {"title": "Orders", "blocks": ["Order 12 has left"]}}
    lab = APPS["webview_lab"].package

    async def story() -> Phone:
        clock = ManualClock()
        given = Phone(clock=clock, world={"webview_lab": {"pages": pages}} if named else {})
        given.start_activity(package=lab)
        await clock.advance(5_000)
        return given

    given = asyncio.run(story())
    assert ("Order 12 has left" in given.dump()) == named
    assert (lab in given.state()["apps"]) == named
