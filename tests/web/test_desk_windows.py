"""Windows in a real browser: what a hand on the mouse does, and what the state says afterwards."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.desk_person import Person

TEXT = {"renderer": "text", "data": "Hello"}


def test_a_dragged_window_is_where_it_was_dropped_in_the_state_too(person: Person) -> None:
    person.show("a", TEXT)
    x, y = person.title_bar("a")
    person.drag((x, y), (x + 120, y + 70))
    person.bounds_become("a", (320, 150, 480, 320))


def test_escape_takes_a_drag_back(person: Person) -> None:
    person.show("a", TEXT)
    x, y = person.title_bar("a")
    person.drag((x, y), (x + 120, y + 70), drop=False)
    person.page.keyboard.press("Escape")
    person.page.mouse.up()
    person.bounds_become("a", (200, 80, 480, 320))


def test_a_title_bar_can_not_be_dragged_out_of_reach(person: Person) -> None:
    person.show("a", TEXT)
    x, y = person.title_bar("a")
    person.drag((x, y), (x, y + 2000))
    person.bounds_become("a", (200, 684, 480, 320))


@pytest.mark.parametrize(
    ("edge", "bounds"),
    [
        ("n", (300, 130, 400, 270)), ("s", (300, 100, 400, 330)), ("e", (300, 100, 440, 300)),
        ("w", (340, 100, 360, 300)), ("ne", (300, 130, 440, 270)), ("nw", (340, 130, 360, 270)),
        ("se", (300, 100, 440, 330)), ("sw", (340, 100, 360, 330)),
    ],
)  # fmt: skip
def test_each_edge_and_corner_resizes_and_the_opposite_one_stays(
    person: Person, edge: str, bounds: tuple[int, int, int, int]
) -> None:
    person.show("a", TEXT, bounds={"x": 300, "y": 100, "w": 400, "h": 300})
    handle = person.window("a").locator(f".edge-{edge}").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    person.drag((x, y), (x + 40, y + 30))
    person.bounds_become("a", bounds)


def test_a_window_does_not_get_smaller_than_its_least_size(person: Person) -> None:
    person.show("a", TEXT, bounds={"x": 300, "y": 100, "w": 400, "h": 300})
    person.drag((700, 400), (310, 110))
    person.bounds_become("a", (300, 100, 200, 150))


def test_a_click_brings_a_window_to_the_front(person: Person) -> None:
    person.show("below", TEXT, bounds={"x": 200, "y": 100, "w": 400, "h": 300})
    person.show("above", TEXT, bounds={"x": 400, "y": 150, "w": 400, "h": 300})
    expect(person.window("above")).to_have_class("window is-focused")
    person.page.mouse.click(250, 300)
    expect(person.window("below")).to_have_class("window is-focused")
    over = "() => document.elementFromPoint(500, 300).closest('.window').dataset.key"
    assert person.page.evaluate(over) == "monitor-0/below"
    assert person.server.state()["monitors"][0]["order"][-1] == "monitor-0/below"


def test_widgets_stay_below_standard_windows_even_when_clicked(person: Person) -> None:
    person.show("widget", TEXT, variant="widget", bounds={"x": 200, "y": 100, "w": 300, "h": 200})
    person.show("standard", TEXT, bounds={"x": 300, "y": 120, "w": 300, "h": 200})
    person.page.mouse.click(230, 250)
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/widget")
    over = "() => document.elementFromPoint(400, 200).closest('.window').dataset.key"
    assert person.page.evaluate(over) == "monitor-0/standard"
    expect(person.button("Minimise", person.window("widget"))).to_have_count(0)


@pytest.mark.parametrize(
    ("to", "bounds"), [((2, 300), (0, 0, 640, 720)), ((1278, 300), (640, 0, 640, 720))], ids=["left", "right"]
)
def test_a_window_dropped_at_a_side_takes_that_half(
    person: Person, to: tuple[float, float], bounds: tuple[int, int, int, int]
) -> None:
    person.show("a", TEXT)
    person.drag(person.title_bar("a"), to, drop=False)
    expect(person.page.locator("#snap")).to_be_visible()
    person.page.mouse.up()
    person.bounds_become("a", bounds)
    expect(person.page.locator("#snap")).to_be_hidden()


def test_a_window_dropped_at_the_top_is_maximised_and_dragged_off_gets_its_size_back(person: Person) -> None:
    person.show("a", TEXT)
    person.drag(person.title_bar("a"), (640, 2))
    person.until(lambda: person.server.seen("a")["maximized"])
    person.until(lambda: person.box("a") == (0, 0, 1280, 720))
    person.drag((640, 18), (640, 200))
    person.until(lambda: not person.server.seen("a")["maximized"])
    person.until(lambda: person.box("a")[2:] == (480, 320))


def test_the_buttons_maximise_restore_minimise_and_close(person: Person) -> None:
    person.show("a", TEXT)
    a = person.window("a")
    person.button("Maximise", a).click()
    person.until(lambda: person.box("a") == (0, 0, 1280, 720))
    person.button("Restore", a).click()
    person.bounds_become("a", (200, 80, 480, 320))
    person.button("Minimise", a).click()
    expect(a).to_be_hidden()
    task = person.page.locator(".task", has_text="a")
    expect(task).to_have_attribute("aria-pressed", "false")
    task.click()
    expect(a).to_be_visible()
    person.button("Close", a).click()
    expect(a).to_have_count(0)
    assert person.server.state()["windows"] == {}


def test_a_double_click_on_the_title_maximises(person: Person) -> None:
    person.show("a", TEXT)
    person.page.mouse.dblclick(*person.title_bar("a"))
    person.until(lambda: person.server.seen("a")["maximized"])


def test_the_arrows_move_and_resize_a_window_until_enter_or_escape(person: Person) -> None:
    person.show("a", TEXT)
    person.window("a").focus()
    keys = person.page.keyboard
    for key in ("Alt+Shift+KeyM", "ArrowRight", "ArrowDown", "Shift+ArrowDown", "Enter"):
        keys.press(key)
    person.bounds_become("a", (216, 97, 480, 320))
    for key in ("Alt+Shift+KeyR", "ArrowLeft", "ArrowDown", "Enter"):
        keys.press(key)
    person.bounds_become("a", (216, 97, 464, 336))
    for key in ("Alt+Shift+KeyM", "ArrowRight", "Escape"):
        keys.press(key)
    person.bounds_become("a", (216, 97, 464, 336))


def test_the_keyboard_snaps_maximises_and_restores(person: Person) -> None:
    person.show("a", TEXT)
    person.window("a").focus()
    person.page.keyboard.press("Alt+Shift+ArrowRight")
    person.bounds_become("a", (640, 0, 640, 720))
    person.page.keyboard.press("Alt+Shift+ArrowLeft")
    person.bounds_become("a", (0, 0, 640, 720))
    person.page.keyboard.press("Alt+Shift+ArrowUp")
    person.until(lambda: person.server.seen("a")["maximized"])
    expect(person.window("a")).to_have_class("window is-focused is-maximized")
    person.page.keyboard.press("Alt+Shift+ArrowDown")
    person.bounds_become("a", (0, 0, 640, 720))


def test_a_frameless_window_has_no_title_bar_and_can_still_be_closed(person: Person) -> None:
    person.show("a", TEXT, frameless=True)
    body = person.window("a").locator(".window-body").bounding_box()
    assert round(body["height"]) == 318, "the content fills the frame but for its border"
    person.window("a").hover()
    person.button("Close", person.window("a")).click()
    expect(person.window("a")).to_have_count(0)


@pytest.mark.parametrize("edge", ["top", "bottom"])
def test_a_panel_lies_on_its_edge_above_all_windows(person: Person, edge: str) -> None:
    panel = {"variant": "panel", "dockEdge": edge, "bounds": {"x": 0, "y": 300, "w": 1280, "h": 90}}
    person.show("panel", TEXT, **panel)
    person.show("big", TEXT, bounds={"x": 0, "y": 0, "w": 1280, "h": 720})
    person.until(lambda: person.box("panel") == (0, 0 if edge == "top" else 630, 1280, 90))
    y = 20 if edge == "top" else 650
    over = f"() => document.elementFromPoint(1000, {y}).closest('.window')?.dataset.key"
    person.until(lambda: person.page.evaluate(over) == "monitor-0/panel")
    assert person.page.locator(".task").all_inner_texts() == ["big"]


def test_a_locked_window_names_its_holder_and_a_person_can_take_the_lock(person: Person) -> None:
    person.show("a", TEXT)
    person.server.act({"type": "window.lock", "windowId": "a", "agentId": "agent-1"})
    expect(person.window("a").locator(".window-lock")).to_have_text("agent-1")
    person.button("Menu of a", person.window("a")).click()
    person.page.get_by_role("menuitem", name="Take the lock from agent-1").click()
    person.until(lambda: person.server.seen("a")["lockedBy"] is None)
    expect(person.window("a").locator(".window-lock")).to_have_count(0)


def test_a_message_about_a_window_reaches_its_agent(person: Person) -> None:
    person.show("a", TEXT)
    person.button("Menu of a", person.window("a")).click()
    person.page.get_by_role("menuitem", name="Write to agent-1").click()
    person.page.get_by_role("textbox").fill("Please add the totals")
    person.button("Send").click()
    letter = person.letter()
    assert (letter["content"], letter["window_id"]) == ("Please add the totals", "a")


def test_the_titles_of_agents_are_renamed_at_once(person: Person) -> None:
    person.show("a", TEXT)
    person.server.act({"type": "window.setTitle", "windowId": "a", "title": "Second name"})
    expect(person.window("a").locator(".window-title")).to_have_text("Second name")
    expect(person.page.locator(".task")).to_have_text("Second name")


def test_a_window_style_changes_looks_and_never_place_or_layer(person: Person) -> None:
    style = {"background": "#102030", "borderRadius": 20, "zIndex": 999999, "position": "fixed", "inset": "0"}
    person.show("a", TEXT, windowStyle=style)
    names = ["backgroundColor", "borderRadius", "position", "zIndex"]
    look = person.window("a").evaluate("(e, names) => names.map(n => getComputedStyle(e)[n])", names)
    assert look == ["rgb(16, 32, 48)", "20px", "absolute", "1"]


def test_monitors_are_switched_and_made_and_their_windows_with_them(person: Person) -> None:
    person.show("here", TEXT)
    person.button("New monitor").click()
    expect(person.window("here")).to_be_hidden()
    person.until(lambda: person.server.state()["activeMonitor"] == "monitor-1")
    person.show("there", TEXT, monitorId="monitor-1")
    expect(person.window("there", "monitor-1")).to_be_visible()
    person.button("Monitor 1").click()
    expect(person.window("here")).to_be_visible()
    expect(person.window("there", "monitor-1")).to_be_hidden()
