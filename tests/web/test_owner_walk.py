"""The owner's walk: reload, a second phone, an agent at work, Stop, hand back, a yes on a small screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.safety.caller import Caller
from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer

AGENT = Caller("shopper", "agent", "mcp")
CONTACTS = "com.google.android.contacts"
PATIENCE_MS = 40_000
"""Pages look for phones, holders and stops every few seconds; a busy machine takes its time."""


@pytest.fixture
def owner(browser: Browser, own_server: DeskServer) -> Iterator[Person]:
    person = Person.enter(browser, own_server, viewport={"width": 1440, "height": 900})
    yield person
    person.leave()


def plug_in(server: DeskServer) -> str:
    return server.run(server.context.added_phones.start_simulated)


def agent(server: DeskServer, serial: str, **action: Any) -> Envelope:
    async def act() -> Envelope:
        session = await server.context.phones.session(serial)
        return await session.run(action_from(action), reason="I do my work", caller=AGENT)

    return server.run(act)


def window(owner: Person) -> Locator:
    return owner.page.locator(".app-phone")


def shows(owner: Person, serial: str) -> None:
    expect(window(owner).get_by_role("combobox", name="Phone")).to_have_value(serial, timeout=PATIENCE_MS)
    window(owner).locator(".phone-canvas[data-frames]").wait_for()


def test_the_window_keeps_its_phone_and_stop_acts_there_and_holds(owner: Person) -> None:
    server, page = owner.server, owner.page
    first = plug_in(server)
    page.locator(".desk-icon", has_text="Phone").first.click()
    shows(owner, first)
    second = plug_in(server)
    picker = window(owner).get_by_role("combobox", name="Phone")
    expect(picker.locator(f"option[value='{second}']")).to_have_count(1, timeout=PATIENCE_MS)
    shows(owner, first)

    picker.select_option(second)
    shows(owner, second)
    name = server.context.phones.name(second)
    expect(page.locator(".window-title")).to_have_text(f"Phone · {name}", timeout=PATIENCE_MS)
    page.reload()
    shows(owner, second)

    assert agent(server, first, type="start_app", package=CONTACTS).success
    assert agent(server, second, type="start_app", package=CONTACTS).success
    expect(page.locator(".window-title")).to_have_text(f"Phone · {name} · shopper", timeout=PATIENCE_MS)
    shows(owner, second)  # it was chosen, so no agent moves it

    window(owner).get_by_role("button", name=f"Stop {name}").click()
    banner = page.locator("#stopped")
    expect(banner).to_contain_text(f"Stopped. {name}: no agent acts there", timeout=PATIENCE_MS)
    assert agent(server, second, type="press_key", key="back").failure_code == "DEVICE_BUSY"
    assert agent(server, first, type="press_key", key="back").success
    page.reload()
    expect(banner).to_be_visible(timeout=PATIENCE_MS)  # a stop outlives the page
    banner.get_by_role("button", name="Hand back").click()
    expect(banner).to_be_hidden(timeout=PATIENCE_MS)
    assert agent(server, second, type="press_key", key="back").success


def test_a_window_that_nobody_pinned_follows_the_agent(owner: Person) -> None:
    server = owner.server
    first, second = plug_in(server), plug_in(server)
    owner.page.locator(".desk-icon", has_text="Phone").first.click()
    window(owner).locator(".phone-canvas[data-frames]").wait_for()
    away = second if window(owner).get_by_role("combobox", name="Phone").input_value() == first else first
    assert agent(server, away, type="start_app", package=CONTACTS).success
    shows(owner, away)
    expect(owner.page.locator(".window-title")).to_contain_text("shopper", timeout=PATIENCE_MS)


def test_a_yes_is_given_and_a_stop_is_handed_back_on_a_small_screen(
    browser: Browser, own_server: DeskServer
) -> None:
    serial = plug_in(own_server)
    person = Person.enter(browser, own_server, viewport={"width": 390, "height": 844}, has_touch=True)
    page = person.page

    async def ask(page_name: str) -> Envelope:
        session = await own_server.context.phones.session(serial)
        action = action_from({"type": "open_url", "url": f"https://{page_name}.example/help"})
        return await session.run(action, reason="I read the help", caller=AGENT)

    asking = own_server.begin(lambda: ask("one"))
    page.goto(own_server.link().replace("/login#", "/approve#"))
    page.locator(".pocket-yes:enabled").click()
    assert asking.result(60).failure_code != "ACTION_REJECTED"

    again = own_server.begin(lambda: ask("two"))
    page.get_by_role("button", name="Next question").click()
    page.get_by_role("button", name="Stop all agents").click()
    assert not again.result(60).success
    banner = page.locator("#stopped")
    expect(banner).to_contain_text("Stopped. All phones", timeout=PATIENCE_MS)
    box = banner.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    banner.get_by_role("button", name="Hand back").click()
    expect(banner).to_be_hidden(timeout=PATIENCE_MS)
    person.leave()
