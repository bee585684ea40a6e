"""Phone and Approvals in a real browser: what a person sees, touches and decides, with an agent over MCP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from playwright.sync_api import Browser, Locator, Page, expect

from handrail.mcp_server.calls import McpState
from handrail.mcp_server.server import build_mcp_server
from handrail.safety.caller import Caller
from handrail.web_server.phone import screen_tree
from tests.scenario.people import PAY_RULE, at_checkout
from tests.web.apps_stage import Stage, stage

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
AGENT = Caller("mail-agent", "agent", "mcp")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("home"), caller=AGENT, policy=PAY_RULE) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(desk: Stage, browser: Browser) -> Iterator[Page]:
    with desk.visited(browser) as opened:
        yield opened


@pytest.fixture
def phone(desk: Stage, page: Page) -> Iterator[Locator]:
    """The app, with fresh settings on the phone."""
    desk.do(desk.world.session.surface.inner.device.shell.run(["am", "force-stop", SETTINGS]))
    desk.do(desk.world.open(SETTINGS))
    root = desk.open(page, "phone")
    root.locator(".phone-canvas[data-frames]").wait_for()
    yield root
    desk.close("phone")
    desk.do(desk.world.runtime.leases.hand_back(desk.world.serial))


def take(phone: Locator) -> None:
    phone.get_by_role("button", name="Take over").first.click()
    expect(phone.locator(".phone-holder")).to_have_text("Yours: agents wait")


def frames(phone: Locator) -> int:
    return int(phone.locator(".phone-canvas").get_attribute("data-frames") or 0)


def brightness(phone: Locator) -> Any:
    """What the canvas shows, as one number per picture."""
    return phone.locator(".phone-canvas").evaluate(
        "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
        ".reduce((sum, value, at) => (sum + value * (at % 97)) % 1000000007, 0)"
    )


def row(desk: Stage, type_: str) -> Any:
    """The newest action of this type that came from the desk, once it ended."""
    journal = desk.world.runtime.journal
    return desk.until(lambda: next((one for one in journal.actions(type=type_) if one.door == "desk"), None))


def click_on(phone: Locator, desk: Stage, label: str) -> None:
    """Where the phone shows this label."""
    desk.do(desk.world.session.get_ui_tree())
    tree = screen_tree(desk.world.session.screens, str)
    box = next(one["visible"] for one in tree["refs"] if one["label"].startswith(label))
    x, y = (box[0] + box[2]) / 2 / tree["width"], (box[1] + box[3]) / 2 / tree["height"]
    canvas = phone.locator(".phone-canvas")
    size = canvas.bounding_box()
    canvas.click(position={"x": x * size["width"], "y": y * size["height"]})


def test_the_picture_is_live_and_follows_what_an_agent_does(desk: Stage, phone: Locator) -> None:
    before, seen = frames(phone), brightness(phone)
    expect(phone.locator(".phone-holder")).to_contain_text("Held by mail-agent · just now")
    desk.do(desk.world.session.tap("Display", reason="I open the display settings"))
    expect(phone.locator(".phone-act").first).to_contain_text("tap “Display”")
    phone.page.wait_for_function(f"() => document.querySelector('.phone-canvas').dataset.frames > {before}")
    assert brightness(phone) != seen
    expect(phone.locator(".phone-app")).to_contain_text("DisplaySettings")


def test_a_first_touch_asks_and_a_touch_after_it_is_the_persons_own(desk: Stage, phone: Locator) -> None:
    touched = len(desk.world.inputs())
    click_on(phone, desk, "Display")
    banner = phone.get_by_role("alertdialog")
    expect(banner).to_contain_text("takes it over")
    assert len(desk.world.inputs()) == touched
    banner.get_by_role("button", name="Take over").click()
    expect(phone.locator(".phone-holder")).to_have_text("Yours: agents wait")
    busy = desk.do(desk.world.session.tap("Display"))
    assert busy.failure_code == "DEVICE_BUSY"
    click_on(phone, desk, "Display")
    tapped = row(desk, "tap")
    assert tapped.actor["kind"] == "person"
    expect(phone.locator(".phone-app")).to_contain_text("DisplaySettings")
    phone.get_by_role("button", name="Hand back").click()
    expect(phone.locator(".phone-holder")).to_contain_text("Held by mail-agent")
    done = desk.do(desk.world.session.press_key("back"))
    assert done.success, done.to_json()


def test_keys_of_the_keyboard_reach_the_field_that_has_the_focus(desk: Stage, phone: Locator) -> None:
    desk.do(desk.world.open(CONTACTS))
    desk.do(desk.world.session.tap("Create new contact"))
    desk.do(desk.world.session.tap("First name"))
    take(phone)
    phone.locator(".phone-canvas").focus()
    phone.page.keyboard.type("Ada Lovelace")
    field = desk.until(
        lambda: next((n for n in _fields(desk) if n.text == "Ada Lovelace"), None) or _look(desk)
    )
    assert field.role == "text_field"
    phone.page.keyboard.press("Backspace")
    desk.until(lambda: any(n.text == "Ada Lovelac" for n in _fields(desk)) or _look(desk))
    typed = row(desk, "type_text")
    assert typed.actor["kind"] == "person"


def _fields(desk: Stage) -> list[Any]:
    screen = desk.world.session.screens.registry.screen
    return [node for node in screen.nodes if node.role == "text_field"] if screen else []


async def _look(desk: Stage) -> None:
    await desk.world.session.get_ui_tree()


def test_the_overlay_is_the_compact_tree(desk: Stage, phone: Locator) -> None:
    phone.get_by_role("button", name="Elements").click()
    phone.locator(".phone-ref").first.wait_for(state="attached")
    told = desk.do(desk.world.session.get_ui_tree()).details
    refs = [line.split()[0] for line in told["text"].splitlines() if line.strip().startswith("@")]
    nodes = desk.world.session.screens.registry.refs
    drawn = phone.locator(".phone-ref").evaluate_all(
        "all => all.map(one => [one.dataset.ref, one.dataset.bounds])"
    )
    assert drawn == [[ref, ",".join(map(str, nodes[ref].bounds))] for ref in refs]
    assert phone.locator(".phone-tree").text_content() == told["text"]
    canvas = phone.locator(".phone-canvas").bounding_box()
    box = phone.locator(".phone-ref[data-label^='Display']").bounding_box()
    assert canvas
    assert box
    top = next(
        node.bounds.top for ref, node in nodes.items() if ref in refs and "Display" in _label(desk, ref)
    )
    assert abs((box["y"] - canvas["y"]) / canvas["height"] - top / 2400) < 0.005


def _label(desk: Stage, ref: str) -> str:
    registry = desk.world.session.screens.registry
    return registry.label_of(registry.refs[ref])


# approvals


async def pay(desk: Stage) -> Any:
    """What an agent's call over MCP comes back with."""
    state = McpState(desk.world.runtime, device=desk.world.serial)
    async with Client(build_mcp_server(state)) as agent:
        return await agent.call_tool("tap", {"target": {"id": "pay"}, "reason": "I pay for the order"})


def waiting(desk: Stage, page: Page) -> tuple[Any, Locator]:
    """The call under way, and its card in the Approvals app."""
    desk.do(at_checkout(desk.world))
    call = desk.begin(pay(desk))
    later = page.get_by_role("button", name="Later")
    later.wait_for()
    later.click()  # the dialog steps aside; the app has the same question
    card = desk.open(page, "approvals").locator(".question")
    card.wait_for()
    return call, card


def presses(desk: Stage) -> int:
    return sum(event.get("action") == "down" for event in desk.world.inputs())


def test_a_risky_tap_over_mcp_waits_with_picture_and_reason_and_a_no_ends_it(desk: Stage, page: Page) -> None:
    call, card = waiting(desk, page)
    expect(card.get_by_role("heading")).to_contain_text("Pay")
    expect(card).to_contain_text("I pay for the order")
    expect(card).to_contain_text("it costs money")
    expect(card.locator(".question-clock")).to_contain_text("left")
    expect(card.locator("img")).to_have_js_property("complete", True)
    expect(card.locator("img")).not_to_have_js_property("naturalWidth", 0)
    touched = presses(desk)
    card.get_by_label("Note to the agent").fill("too expensive")
    card.get_by_role("button", name="Reject").click()
    told = call.result(30)
    assert told.is_error
    assert "ACTION_REJECTED" in told.content[0].text
    assert "too expensive" in told.content[0].text
    assert presses(desk) == touched
    root = page.locator(".app-approvals")
    expect(root).to_contain_text("Nothing waits for you")
    root.get_by_role("tab", name="History").click()
    expect(root.locator(".past").first).to_contain_text("refused")
    expect(root.locator(".past").first).to_contain_text("too expensive")
    desk.close("approvals")


def test_a_yes_runs_it_and_one_that_is_remembered_counts_until_it_is_revoked(desk: Stage, page: Page) -> None:
    call, card = waiting(desk, page)
    touched = presses(desk)
    card.get_by_role("checkbox").check()
    card.get_by_role("button", name="Approve").click()
    told = call.result(30)
    assert not told.is_error, told
    assert presses(desk) == touched + 1
    known = json.loads(desk.world.runtime.config.permissions.read_text())
    assert [(key.partition(":")[0], answer) for key, answer in known.items()] == [("tap", "allow")]
    root = page.locator(".app-approvals")
    root.get_by_role("tab", name="Remembered").click()
    expect(root.locator(".permission")).to_have_count(1)
    root.get_by_role("button", name="Revoke").click()
    expect(root).to_contain_text("No answer is remembered")
    assert desk.world.runtime.permissions.all() == {}
    desk.close("approvals")


def test_a_yes_for_a_time_is_told_as_a_sentence_counted_down_and_revoked_with_one_click(
    desk: Stage, page: Page
) -> None:
    call, card = waiting(desk, page)
    touched = presses(desk)
    card.get_by_label("Allow for a time").select_option("15/5")
    card.get_by_role("button", name="Approve").click()
    assert not call.result(30).is_error
    assert presses(desk) == touched + 1
    root = page.locator(".app-approvals")
    root.get_by_role("tab", name="Remembered").click()
    shown = root.locator(".permission")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("5 of 5 times left")
    expect(shown).to_contain_text("may tap 'Pay")
    shown.get_by_role("button", name="Revoke").click()
    expect(root).to_contain_text("No answer is remembered")
    desk.close("approvals")


# the rest of the hands


@pytest.mark.slow
def test_dragging_holding_and_the_buttons_are_gestures_and_keys(desk: Stage, phone: Locator) -> None:
    take(phone)
    canvas = phone.locator(".phone-canvas")
    box = canvas.bounding_box()
    assert box
    mouse = phone.page.mouse
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.7
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - box["height"] * 0.4, steps=4)
    mouse.up()
    assert row(desk, "swipe").actor["kind"] == "person"
    canvas.click(delay=700, position={"x": box["width"] / 2, "y": box["height"] * 0.9})
    assert row(desk, "long_press").actor["kind"] == "person"
    phone.get_by_role("button", name="Home").click()
    expect(phone.locator(".phone-app")).to_contain_text("launcher")
    assert row(desk, "press_key").actor["kind"] == "person"


@pytest.mark.slow
def test_stop_ends_an_agents_long_wait_and_holds_the_phone_until_it_is_handed_back(
    desk: Stage, phone: Locator
) -> None:
    waiting: Future[Any] = desk.begin(desk.world.session.wait_for({"visible": "never"}, timeout_ms=60_000))
    desk.until(lambda: desk.world.session._queue)
    phone.get_by_role("button", name="Stop").click()
    assert waiting.result(20).failure_code == "CANCELLED"
    expect(phone.locator(".phone-holder")).to_contain_text("Stopped by")
    assert desk.do(desk.world.session.press_key("home")).failure_code == "DEVICE_BUSY"
    phone.get_by_role("button", name="Hand back").click()
    expect(phone.get_by_role("button", name="Take over")).to_be_visible()
    assert desk.do(desk.world.session.press_key("home")).success


@pytest.mark.slow
def test_elements_can_be_tapped_from_the_list_without_a_pointer(desk: Stage, phone: Locator) -> None:
    take(phone)
    phone.get_by_role("button", name="Elements").press("Enter")
    phone.get_by_role("button", name="Display").focus()
    phone.page.keyboard.press("Enter")
    expect(phone.locator(".phone-app")).to_contain_text("DisplaySettings")


@pytest.mark.slow
def test_a_browser_that_is_gone_watches_no_more(desk: Stage, phone: Locator, browser: Browser) -> None:
    other = desk.log_in(browser)
    other.locator(".phone-canvas[data-frames]").wait_for()  # the same window, on another screen
    phones = desk.door.context.phones
    assert phones.watcher_count(desk.world.serial) == 2
    other.context.close()
    desk.until(lambda: phones.watcher_count(desk.world.serial) == 1)
    before = frames(phone)
    desk.do(desk.world.session.tap("Display"))
    phone.page.wait_for_function(f"() => document.querySelector('.phone-canvas').dataset.frames > {before}")


@pytest.mark.slow
def test_a_page_that_lost_its_line_watches_again_when_it_is_back(desk: Stage, phone: Locator) -> None:
    phones, serial = desk.door.context.phones, desk.world.serial
    phone.page.context.set_offline(True)
    desk.until(lambda: phones.watcher_count(serial) == 0)
    desk.do(desk.world.session.tap("Display"))
    before = frames(phone)
    phone.page.context.set_offline(False)
    desk.until(lambda: phones.watcher_count(serial) == 1)
    phone.page.wait_for_function(f"() => document.querySelector('.phone-canvas').dataset.frames > {before}")
    expect(phone.locator(".phone-app")).to_contain_text("DisplaySettings")


@pytest.mark.slow
def test_two_windows_of_one_page_share_the_pictures(desk: Stage, phone: Locator) -> None:
    phones, serial = desk.door.context.phones, desk.world.serial
    desk.open(phone.page, "phone", window="phone-2", x=300).nth(1).wait_for()
    phone.page.wait_for_function("() => document.querySelectorAll('.phone-canvas[data-frames]').length === 2")
    assert phones.watcher_count(serial) == 1
    desk.close("phone-2")
    phone.page.wait_for_function("() => document.querySelectorAll('.phone-canvas').length === 1")
    before = frames(phone)
    desk.do(desk.world.session.tap("Display"))
    phone.page.wait_for_function(f"() => document.querySelector('.phone-canvas').dataset.frames > {before}")


@pytest.mark.slow
def test_without_a_phone_it_says_how_to_get_one(browser: Browser, tmp_path: Path) -> None:
    with stage(tmp_path) as other:
        other.do(_forget_phones(other))
        page = other.log_in(browser)
        root = other.open(page, "phone")
        expect(root).to_contain_text("No phone is connected")
        expect(root).to_contain_text("handrail serve --sim 1")
        page.context.close()


async def _forget_phones(other: Stage) -> None:
    for session in other.world.runtime._sessions.values():
        await session.close()
    other.world.runtime._sessions.clear()
