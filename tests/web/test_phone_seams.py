"""Phone, Flows and questions as their users met them: each test is named after what they saw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from handrail.protocol.read import action_from
from handrail.safety.caller import Caller
from handrail.web_server.phone import screen_tree
from tests.scenario.people import PAY_RULE, at_checkout
from tests.web.apps_stage import Stage, stage

SETTINGS = "com.android.settings"
SHOPPER = Caller("shopper", "agent", "mcp", patience_ms=30_000)
FLOW = """
name: Add Ada
steps:
  - start_app: com.google.android.contacts
  - tap: Create new contact
  - when: First name
    then:
      - press_key: back
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    flows = tmp_path_factory.mktemp("flows")
    (flows / "ada.yaml").write_text(FLOW)
    home = tmp_path_factory.mktemp("home")
    with stage(home, flows=flows, caller=Caller("desk", "agent", "http"), policy=PAY_RULE) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(desk: Stage, browser: Browser) -> Iterator[Page]:
    with desk.visited(browser) as opened:
        yield opened


def run(desk: Stage, action: dict[str, Any], caller: Caller = SHOPPER) -> Any:
    return desk.world.session.run(action, caller=caller)


@pytest.fixture
def phone(desk: Stage, page: Page) -> Iterator[Locator]:
    desk.do(desk.world.session.surface.inner.device.shell.run(["am", "force-stop", SETTINGS]))
    desk.do(run(desk, {"type": "start_app", "package": SETTINGS}))
    root = desk.open(page, "phone")
    root.locator(".phone-canvas[data-frames]").wait_for()
    yield root
    desk.close("phone")
    desk.do(desk.world.runtime.leases.hand_back(desk.world.serial))


def take(phone: Locator) -> None:
    phone.get_by_role("button", name="Take over").first.click()
    expect(phone.locator(".phone-holder")).to_contain_text("Yours")


def place(phone: Locator, desk: Stage, label: str) -> tuple[float, float]:
    """Where on the page the phone shows this label."""
    desk.do(desk.world.session.get_ui_tree())
    tree = screen_tree(desk.world.session.screens, str)
    box = next(one["visible"] for one in tree["refs"] if one["label"].startswith(label))
    canvas = phone.locator(".phone-canvas").bounding_box()
    x = canvas["x"] + canvas["width"] * (box[0] + box[2]) / 2 / tree["width"]
    return x, canvas["y"] + canvas["height"] * (box[1] + box[3]) / 2 / tree["height"]


def downs(desk: Stage) -> int:
    return sum(event.get("action") == "down" for event in desk.world.inputs())


def test_during_take_over_ones_own_drag_on_pay_shows_no_question(desk: Stage, phone: Locator) -> None:
    desk.do(at_checkout(desk.world))
    take(phone)
    x, y = place(phone, desk, "Pay")
    before, mouse = downs(desk), phone.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 60, steps=3)
    mouse.up()
    desk.until(lambda: downs(desk) == before + 1)
    assert desk.do(desk.world.runtime.approvals.pending()) == []
    assert phone.page.locator("dialog.approval").count() == 0


FRAME = """<h1>Hello</h1><script>
const tap = { type: "tap", target: { id: "pay" } };
const words = [{ type: "PHONE_INPUT", device: "%s", action: tap }, { type: "send", text: "x" }, tap];
for (const one of words) for (const to of [parent, top]) to.postMessage({ handrail: 1, ...one }, "*");
for (const where of ["%s", "ws" + "%s".slice(4) + "/ws"]) {
  try {
    const socket = new WebSocket(where.replace("http", "ws"));
    socket.onopen = () => socket.send(JSON.stringify(words[0]));
  } catch {}
}
fetch("%s/api/actions", { method: "POST", body: JSON.stringify(tap), mode: "no-cors" }).catch(() => {});
setTimeout(() => { document.body.dataset.done = "1"; }, 400);
</script>"""


def test_a_frame_of_an_agent_is_no_hand_while_a_person_has_the_phone(desk: Stage, phone: Locator) -> None:
    desk.do(at_checkout(desk.world))
    take(phone)
    origin, before = desk.door.origin, downs(desk)
    page = FRAME % (desk.world.serial, origin, origin, origin)

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        bounds = {"x": 40, "y": 40, "w": 400, "h": 300}
        content = {"renderer": "iframe", "data": f"http://127.0.0.1:{site.server_port}/"}
        create = {
            "type": "window.create",
            "windowId": "f",
            "title": "F",
            "bounds": bounds,
            "content": content,
        }
        desk.do(desk.door.desk.apply(action_from(create), "shopper", is_person=False))
        phone.page.get_by_role("button", name="Show it").click()
        inside = phone.page.locator("iframe.page").content_frame
        inside.locator("body[data-done]").wait_for()
        site.shutdown()
    assert downs(desk) == before
    desk.close("f")


def test_yours_agents_wait_names_who_waits_and_the_holder_is_the_agent(desk: Stage, phone: Locator) -> None:
    expect(phone.locator(".phone-holder")).to_contain_text(
        re.compile(r"Held by shopper · (just now|\d+ seconds? ago)")
    )
    take(phone)
    waiting = desk.begin(run(desk, {"type": "tap", "target": "Display"}))
    expect(phone.locator(".phone-holder")).to_have_text("Yours: shopper waits")
    expect(phone.locator(".phone-now")).to_contain_text("shopper: tap waits until you hand the phone back")
    phone.get_by_role("button", name="Hand back").click()
    assert waiting.result(30).success
    expect(phone.locator(".phone-app")).to_contain_text("DisplaySettings")


def test_the_mark_of_a_tap_does_not_stay_on_the_next_screen(desk: Stage, phone: Locator) -> None:
    phone.evaluate(
        """(root) => {
          window.marked = [];
          const mark = root.querySelector(".phone-last");
          new MutationObserver(() => window.marked.push(!mark.hidden && mark.innerText))
            .observe(mark, { attributes: true, childList: true, subtree: true });
        }"""
    )
    done = desk.do(run(desk, {"type": "tap", "target": "Display"}))
    assert done.success
    expect(phone.locator(".phone-act").first).to_contain_text("tap “Display”")
    expect(phone.locator(".phone-last")).to_be_hidden()
    assert "tap" in phone.page.evaluate("window.marked")  # while it happened it was there


def test_a_cancelled_pay_is_not_marked_and_while_it_waits_the_list_says_so(
    desk: Stage, phone: Locator
) -> None:
    desk.do(at_checkout(desk.world))
    asking = desk.begin(run(desk, {"type": "tap", "target": {"id": "pay"}}))
    dialog = phone.page.locator("dialog.approval")
    dialog.wait_for()
    expect(phone.locator(".phone-now")).to_contain_text("tap waits for your answer")
    expect(dialog.get_by_role("heading")).to_contain_text("May the agent tap “Pay")
    dialog.get_by_role("button", name="Reject").click()
    assert asking.result(30).failure_code == "ACTION_REJECTED"
    expect(phone.locator(".phone-act").first).to_contain_text("not allowed")
    expect(phone.locator(".phone-last")).to_be_hidden()
    assert "ACTION_REJECTED" not in phone.inner_text()
    assert phone.locator(".phone-act .dot").first.get_attribute("class") == "dot dot-warning"


def test_after_a_reload_the_list_of_actions_is_there(desk: Stage, phone: Locator) -> None:
    desk.do(run(desk, {"type": "tap", "target": "Display"}))
    desk.do(run(desk, {"type": "press_key", "key": "back"}))
    expect(phone.locator(".phone-act").first).to_contain_text("press key")
    before = phone.locator(".phone-act").evaluate_all("all => all.map((one) => one.dataset.action)")
    assert len(before) > 2
    phone.page.reload()
    phone.locator(".phone-act").first.wait_for()
    after = phone.locator(".phone-act").evaluate_all("all => all.map((one) => one.dataset.action)")
    assert after[: len(before)] == before
    expect(phone.locator(".phone-act").first).to_contain_text("press key")


def test_offline_is_not_live_and_nothing_can_be_pressed(desk: Stage, phone: Locator) -> None:
    phone.page.context.set_offline(True)
    try:
        expect(phone.locator(".phone-pace")).to_contain_text("offline · picture of")
        expect(phone.locator(".phone-holder")).to_have_text("Offline")
        for name in ("Take over", "Stop", "Back", "Home"):
            expect(phone.get_by_role("button", name=name).first).to_be_disabled()
        before = downs(desk)
        phone.locator(".phone-canvas").click(force=True)
        expect(phone.get_by_role("alertdialog")).to_be_hidden()
        assert downs(desk) == before
    finally:
        phone.page.context.set_offline(False)
    expect(phone.locator(".phone-pace")).to_contain_text("live")
    expect(phone.get_by_role("button", name="Take over").first).to_be_enabled()


def test_a_payment_question_has_no_box_for_text_and_a_code_has_one(desk: Stage, page: Page) -> None:
    for capability, boxes in (("payment", 0), ("permission", 0), ("2fa", 1)):
        action = {"type": "request_human_auth", "capability": capability, "instruction": "Pay 20 euros?"}
        asking = desk.begin(run(desk, action))
        dialog = page.locator("dialog.approval")
        dialog.wait_for()
        expect(dialog.locator("input:not([type=checkbox])")).to_have_count(boxes)
        dialog.get_by_role("button", name="Reject").click()
        asking.result(30)
        dialog.wait_for(state="detached")


def test_two_phones_of_a_kind_have_different_names(desk: Stage) -> None:
    phones = desk.door.context.phones
    first = phones.name("127.0.0.1:7001", "Pixel 7")
    second = phones.name("127.0.0.1:7002", "Pixel 7")
    assert first != second
    assert ":" not in first + second
    assert phones.name("127.0.0.1:7001") == first


def test_a_flow_that_never_ran_is_not_green_and_shows_its_steps_before_it_runs(
    desk: Stage, page: Page
) -> None:
    root = desk.open(page, "flows")
    row = root.locator(".row", has_text="Add Ada")
    expect(row.locator(".dot")).to_have_class("dot dot-none")
    expect(row).to_contain_text("never run")
    row.click()
    steps = root.get_by_role("list", name="Steps of this flow").locator("li")
    expect(steps.nth(0)).to_contain_text("com.google.android.contacts")
    expect(steps.nth(1)).to_contain_text("Create new contact")
    expect(root.get_by_role("list", name="Steps of this flow")).to_contain_text("back")
    root.get_by_role("button", name="Run", exact=True).click()
    root.locator(".flows-run[data-outcome=passed]").wait_for(timeout=30_000)
    expect(root.locator(".row[data-file]").locator(".dot")).to_have_class("dot dot-success")
    desk.close("flows")


def test_a_second_browser_has_to_take_the_phone_itself(desk: Stage, phone: Locator, browser: Browser) -> None:
    take(phone)
    other = desk.log_in(browser)
    there = other.locator(".app-phone")
    expect(there.locator(".phone-holder")).to_have_text("Yours, in another browser")
    there.get_by_role("button", name="Take over here").click()
    expect(there.locator(".phone-holder")).to_contain_text("Yours: agents wait")
    expect(phone.locator(".phone-holder")).to_have_text("Yours, in another browser")
    other.context.close()


def test_at_phone_size_the_phone_fits_and_can_be_taken(desk: Stage, phone: Locator) -> None:
    page = phone.page
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        box = phone.locator(".phone-glass").bounding_box()
        assert box["width"] > 150
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        take(phone)
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})
