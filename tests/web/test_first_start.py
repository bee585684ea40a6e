"""An empty desk and its Settings, in a real Chromium: what they say, and that their buttons do it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer
from tests.web.test_desk_access import checked

pytestmark = pytest.mark.slow
NARROW = {"viewport": {"width": 390, "height": 844}}
TABS = ("Notifications", "Rules", "Remembered", "Phones", "Agents", "Appearance", "About")
WIDER = "(root) => [...root.querySelectorAll('.settings-page, .settings-page > *')].filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.matches('.settings-scroll')).map((one) => one.className)"  # noqa: E501


@pytest.fixture
def newcomer(browser: Browser, own_server: DeskServer) -> Iterator[Person]:
    """Somebody at a desk that has no phone."""
    one = Person.enter(browser, own_server)
    yield one
    one.leave()
    assert one.take_complaints() == []


def steps(person: Person) -> Locator:
    found = person.page.get_by_role("region", name="First steps")
    found.get_by_text("Give it to an agent").wait_for()
    return found


def settings(person: Person) -> Locator:
    root = person.page.locator(".app-settings")
    root.locator(".settings-head").wait_for()
    return root


def tab(root: Locator, name: str) -> None:
    root.get_by_role("tab", name=name).click()
    expect(root.locator(".settings-head h2")).to_contain_text(name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_first_steps_and_settings_have_contrast_and_names_in_both_themes(
    browser: Browser, own_server: DeskServer, scheme: str
) -> None:
    person = Person.enter(browser, own_server, color_scheme=scheme)
    start = steps(person)
    checked(person.page)
    start.get_by_role("button", name="With a cable").click()
    root = settings(person)
    for name in TABS:
        tab(root, name)
        person.frame()
        checked(person.page)
    tab(root, "Notifications")
    root.get_by_role("button", name="Show the QR code").click()
    expect(root).to_contain_text("A tunnel")
    checked(person.page)
    person.leave()


def test_an_empty_desk_starts_a_simulated_phone_and_shows_it(newcomer: Person) -> None:
    start = steps(newcomer)
    expect(start).to_contain_text("1. Connect a phone")
    start.get_by_role("button", name="Start one").click()
    newcomer.page.locator(".app-phone .phone-canvas[data-frames]").wait_for()
    [session] = newcomer.server.context.runtime.sessions.values()
    assert session.facts.model == "Simulated Phone"
    expect(start).to_be_hidden()
    newcomer.server.act({"type": "window.close", "windowId": "app-phone"})
    expect(start).to_contain_text("Simulated Phone is here")


def test_the_line_for_an_agent_is_copied_as_it_stands(newcomer: Person) -> None:
    newcomer.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start = steps(newcomer)
    start.get_by_role("button", name="Copy claude mcp add handrail").click()
    copied = newcomer.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == newcomer.server.context.agent_line
    assert copied.startswith("claude mcp add handrail -- ")


def test_pairing_by_qr_begins_from_the_empty_desk_and_says_what_is_missing(newcomer: Person) -> None:
    """There is no adb on this desk's machine: the words of the failure name it."""
    steps(newcomer).get_by_role("button", name="Pair by QR code").click()
    card = settings(newcomer).get_by_role("region", name="Pair by QR code")
    expect(card).to_contain_text("No code can be shown")
    expect(card.get_by_role("button", name="Try again")).to_be_visible()
    newcomer.complaints.clear()  # the browser's own words about the refusal


def test_a_cable_is_explained_step_by_step(newcomer: Person) -> None:
    steps(newcomer).get_by_role("button", name="With a cable").click()
    expect(settings(newcomer).locator(".settings-cable li").first).to_be_visible()


def test_another_device_is_told_how_it_could_reach_this_desk(newcomer: Person) -> None:
    steps(newcomer).get_by_role("button", name="Notifications").click()
    card = settings(newcomer).get_by_role("region", name="Another device")
    card.get_by_role("button", name="Show the QR code").click()
    for words in ("Other devices can't reach this desk", "--cert", "tailscale serve", "--public"):
        expect(card).to_contain_text(words)
    newcomer.complaints.clear()


def test_a_remembered_answer_is_revoked_in_the_file(newcomer: Person) -> None:
    file = newcomer.server.context.runtime.config.permissions
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"open_url:example.org": "allow"}))
    file.chmod(0o600)
    steps(newcomer).get_by_role("button", name="Your rules").click()
    root = settings(newcomer)
    tab(root, "Remembered")
    root.get_by_role("button", name="Revoke open_url:example.org").click()
    expect(root).to_contain_text("No answer is remembered")
    assert json.loads(file.read_text()) == {}


def test_a_theme_is_chosen_and_the_system_decides_again(newcomer: Person) -> None:
    steps(newcomer).get_by_role("button", name="Your rules").click()
    root = settings(newcomer)
    tab(root, "Appearance")
    html = newcomer.page.locator("html")
    root.get_by_label("Dark").check()
    expect(html).to_have_attribute("data-theme", "dark")
    root.get_by_label("As the system").check()
    expect(html).to_have_attribute("data-theme", "light")


def test_every_page_of_settings_fits_a_phone_and_is_reached_by_keys(
    browser: Browser, own_server: DeskServer
) -> None:
    person = Person.enter(browser, own_server, **NARROW)
    steps(person).get_by_role("button", name="Your rules").click()
    root = settings(person)
    tab(root, "Notifications")
    for name in TABS:
        expect(root.locator(".settings-head h2")).to_contain_text(name)
        assert root.evaluate(WIDER) == [], name
        assert root.get_by_role("tab", name=name).get_attribute("aria-selected") == "true"
        person.page.keyboard.press("ArrowRight")
    expect(root.locator(".settings-head h2")).to_contain_text(TABS[0])
    assert person.take_complaints() == []
    person.leave()
