"""Approving from a pocket: push, notification, question and answer, in a real Chromium.

The subscription's keys are made, the message is opened and its sender's signature is checked by the browser's
own cryptography, which shares nothing with the library that has sealed and signed it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import handrail
from handrail.protocol.device import Tap
from handrail.safety.approval_request import AuthorizationRequest
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Caller
from handrail.web_server.auth import HostRules
from tests.scenario.people import PAY_RULE, asked, at_checkout
from tests.unit.web_server.push_service import HOST, PushService, Received, certificate, push_service
from tests.web.apps_stage import Stage, stage
from tests.web.conftest import QUIET, chromium
from tests.web.test_desk_access import checked

pytestmark = pytest.mark.slow
AGENT = Caller("shopper", "agent", "mcp")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WORKER = Path(handrail.__file__).parent / "web" / "worker.js"
REASON = "I pay for the mug that you asked for"
OTHER = AuthorizationRequest.of(
    Tap(target="Save"), device="emulator-5580", fingerprint="f", instruction="Tap “Save” in the other app"
)
RECEIVER = "() => {" + Path(__file__).with_name("push_receiver.js").read_text("utf-8") + "}"
JOIN = """async ([endpoint, keys]) => {
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
  const { api } = await import("/static/desk/api.js");
  const { key } = await api("/api/push");
  await api("/api/push", { method: "POST", body: { endpoint, keys, name: "Chrome on Android" } });
  return key;
}"""
NOTICES = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
  .map(({ title, body, tag, data, actions }) =>
    ({ title, body, tag, data, actions: actions.map((one) => one.title) }))"""
COUNT = "async () => (await self.registration.getNotifications()).length"
DEVICE_LINK = """async () => {
  const { api } = await import("/static/desk/api.js");
  return (await api("/api/device-links", { method: "POST", body: {} })).url;
}"""
CLICK = """async (action) => {
  const [notification] = await self.registration.getNotifications();
  self.opened = [];
  self.clients.openWindow = async (address) => { self.opened.push(address); };
  const event = new NotificationEvent("notificationclick", { notification, action });
  self.dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("home"), caller=AGENT, policy=PAY_RULE) as opened:
        yield opened


@pytest.fixture
def service(desk: Stage, tmp_path: Path) -> Iterator[PushService]:
    opening = push_service(tmp_path)
    made = desk.do(opening.__aenter__())
    desk.door.context.subscriptions.network = made.network
    yield made
    desk.do(opening.__aexit__(None, None, None))
    for one in desk.door.context.subscriptions.all():
        desk.do(desk.door.context.subscriptions.revoke(one.id))


@pytest.fixture
def page(desk: Stage, browser: Browser) -> Iterator[Page]:
    """A phone whose owner is logged in on the page for questions."""
    yield from logged_in(desk, browser)


def logged_in(desk: Stage, browser: Browser, **more: Any) -> Iterator[Page]:
    context = browser.new_context(**{**PHONE, "reduced_motion": "reduce", **more})
    context.grant_permissions(["notifications"])
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(f"{desk.door.origin}/approve#code={desk.door.context.auth.link_code(120_000)}")
    opened.get_by_role("heading", name="Nothing waits for you").wait_for()
    yield opened
    context.close()
    assert complaints == []


def pay(desk: Stage, count: int = 1) -> tuple[Any, AskedApproval]:
    """An agent at the button that costs money, and the question that it raises as the last of so many."""
    desk.do(at_checkout(desk.world))
    running = desk.begin(desk.world.session.tap({"id": "pay"}, reason=REASON))
    return running, desk.do(asked(desk.world, count))[-1]


@contextmanager
def another_question(desk: Stage) -> Iterator[None]:
    """Of somebody else, who asked first."""
    running = desk.begin(desk.world.runtime.approvals.ask(OTHER))
    desk.do(asked(desk.world))
    yield
    running.cancel()


def test_a_push_opens_the_question_and_a_second_device_answers_it(
    desk: Stage, service: PushService, page: Page, browser: Browser
) -> None:
    page.evaluate(RECEIVER)
    keys = page.evaluate("() => receiver.keys()")
    key = page.evaluate(JOIN, [f"https://{HOST}/send/1", keys])
    touched = len(desk.world.inputs())
    with another_question(desk):
        running, question = pay(desk, 2)
        message = desk.until(lambda: service.received[1:])[0]
        told(desk, page, message, key, question)
        assert not running.done()
        answer_elsewhere(desk, browser, question)
        expect(page.get_by_role("heading", name="Approved")).to_be_visible()
    assert running.result(20).success
    assert len(desk.world.inputs()) > touched
    assert desk.do(desk.world.runtime.approvals.get(question.id)).state == "approved"


def told(desk: Stage, page: Page, message: Received, key: str, question: AskedApproval) -> None:
    """From the message that arrived to the question on the screen."""

    opened = page.evaluate("(body) => receiver.opened(body)", _packed(message.body))
    assert opened == {"mark": 2, "text": question.id}
    assert re.fullmatch(r"ap_[0-9a-f]{10}", question.id)
    signed = page.evaluate("(given) => receiver.signed(...given)", [message.headers["authorization"], key])
    assert (signed["good"], signed["isOurs"], signed["head"]) == (True, True, {"typ": "JWT", "alg": "ES256"})
    assert signed["claims"]["aud"] == f"https://{HOST}"

    expect(page.get_by_role("heading", name=OTHER.instruction)).to_be_visible()  # it was asked first
    [notice] = noticed(page, desk.door.origin, opened["text"])
    assert notice["data"] == {"id": question.id}
    words = json.dumps([notice["title"], notice["body"], notice["actions"]])
    assert notice["actions"] == ["Look at it"], "no answer is given in a notification"
    for secret in ("Pay", REASON, "shopper", desk.world.serial, "mug"):
        assert secret not in words

    [worker] = page.context.service_workers
    worker.evaluate(CLICK, "look")
    shown = page.locator(f'.pocket-question[data-id="{question.id}"]')
    shown.wait_for()
    expect(shown.locator("h1")).to_contain_text("Pay")
    expect(shown.locator("blockquote")).to_have_text(REASON)
    expect(shown.locator(".pocket-strip")).to_contain_text("shopper asks")
    desk_until(page, lambda: shown.locator("figure img").evaluate("(image) => image.naturalWidth > 0"))


def answer_elsewhere(desk: Stage, browser: Browser, question: AskedApproval) -> None:
    """On another device, let in by the code of a QR picture."""
    context = browser.new_context(**{**PHONE, "reduced_motion": "reduce"})
    opened = context.new_page()
    code = desk.door.context.auth.link_code(120_000)
    opened.goto(f"{desk.door.origin}/approve#code={code}")
    opened.locator(".pocket-question").wait_for()
    opened.goto(f"{desk.door.origin}/approve#id={question.id}")  # as the notification there does
    opened.locator(f'.pocket-question[data-id="{question.id}"]').wait_for()
    opened.get_by_role("button", name="Approve").click()
    expect(opened.get_by_role("heading", name="Approved")).to_be_visible()
    context.close()


def test_a_notification_opens_a_page_where_none_is_open(
    desk: Stage, service: PushService, page: Page
) -> None:
    page.evaluate(RECEIVER)
    page.evaluate(JOIN, [f"https://{HOST}/send/1", page.evaluate("() => receiver.keys()")])
    page.goto(f"{desk.door.origin}/healthz")
    [worker] = page.context.service_workers
    delivered(page, desk.door.origin, "ap_0123456789", lambda: worker.evaluate(COUNT))
    worker.evaluate(CLICK, "")
    assert desk_until(page, lambda: worker.evaluate("() => self.opened")) == ["/approve#id=ap_0123456789"]


@pytest.mark.parametrize(
    "data", ["", "https://evil.example/", "ap_1#x", '{"id":"ap_0123456789"}', "x" * 4000]
)
def test_a_message_that_is_no_id_leads_nowhere(
    desk: Stage, service: PushService, page: Page, data: str
) -> None:
    page.evaluate(RECEIVER)
    page.evaluate(JOIN, [f"https://{HOST}/send/1", page.evaluate("() => receiver.keys()")])
    [notice] = noticed(page, desk.door.origin, data)
    assert (notice["data"], notice["tag"]) == ({"id": None}, "handrail")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_contrast_and_names_in_both_themes(desk: Stage, browser: Browser, scheme: str) -> None:
    for page in logged_in(desk, browser, color_scheme=scheme):
        page.get_by_role("button", name="Turn on").wait_for()
        checked(page)
        running, _ = pay(desk)
        page.locator(".pocket-yes:enabled").wait_for()
        checked(page)
        page.get_by_role("button", name="Reject").click()
        page.get_by_role("heading", name="Rejected").wait_for()
        checked(page)
        running.result(20)


@pytest.mark.parametrize(("width", "height"), [(360, 560), (320, 568), (844, 390), (667, 375), (1440, 900)])
def test_picture_sentence_and_buttons_are_all_to_be_seen_at_every_size(
    desk: Stage, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    running, _ = pay(desk)
    page.locator(".pocket-yes:enabled").wait_for()
    for one in ("figure img", "h1", ".pocket-yes", ".pocket-stop", ".btn-danger"):
        box = page.locator(f".pocket-question {one}").bounding_box()
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width, one
        assert box["y"] + box["height"] <= height, one
        assert min(box["width"], box["height"]) >= 20, one
    page.get_by_role("button", name="Reject").click()
    running.result(20)


def test_a_phone_can_install_the_page(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    told = json.loads(manifest["data"])
    assert (told["start_url"], told["display"]) == ("/approve", "standalone")
    for one in told["icons"]:
        answer = page.request.get(page.url.split("/approve")[0] + one["src"])
        assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, one["type"])


def test_the_worker_stands_between_nobody_and_the_server() -> None:
    """It hears of three things, and requests are none of them."""
    text = WORKER.read_text("utf-8")
    heard = re.findall(r'addEventListener\("(\w+)"', text)
    assert heard == ["install", "activate", "push", "notificationclick"]
    assert not re.search(r"\b(fetch|caches|indexedDB|importScripts|localStorage)\b", text)


def test_reject_and_stop_do_what_they_say(desk: Stage, page: Page) -> None:
    running, _ = pay(desk)
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Rejected")).to_be_visible()
    assert running.result(20).failure_code == "ACTION_REJECTED"
    running, _ = pay(desk)
    page.get_by_role("button", name="Next question").click()
    page.get_by_role("button", name="Stop all agents").click()
    expect(page.get_by_role("heading", name="Stopped")).to_be_visible()
    assert running.result(20).failure_code == "CANCELLED"
    assert desk.do(desk.world.runtime.approvals.pending()) == []
    assert desk.do(desk.world.session.press_key("home")).failure_code == "DEVICE_BUSY"
    desk.do(desk.world.runtime.hand_back())


def test_a_code_that_is_asked_for_can_be_typed_and_a_payment_shows_no_field(desk: Stage, page: Page) -> None:
    session = desk.world.session
    running = desk.begin(session.request_human_auth(capability="2fa", instruction="Type the bank's code."))
    field = page.get_by_role("textbox", name="The code")
    expect(field).to_have_attribute("type", "password")
    expect(page.get_by_label("The agent may read this")).not_to_be_checked()
    field.fill("493817")
    page.get_by_role("button", name="Approve").click()
    done = running.result(20)
    assert done.success, done.to_json()
    assert "493817" not in done.to_json()
    running = desk.begin(session.request_human_auth(capability="payment", instruction="Pay on the phone."))
    page.get_by_role("button", name="Next question").click()
    expect(page.get_by_role("heading", name="Pay on the phone.")).to_be_visible()
    assert page.locator("input").count() == 0
    page.get_by_role("button", name="Reject").click()
    running.result(20)


def test_a_question_that_was_answered_elsewhere_says_by_whom(desk: Stage, page: Page) -> None:
    running, one = pay(desk)
    page.locator(".pocket-question").wait_for()
    desk.do(desk.world.runtime.approvals.answer(one.id, False, "lena"))
    page.goto(f"{desk.door.origin}/approve#id={one.id}")
    expect(page.get_by_text("It was refused by lena")).to_be_visible()
    running.result(20)


def test_a_device_whose_login_is_over_says_so_and_shows_nothing(desk: Stage, page: Page) -> None:
    running, one = pay(desk)
    page.locator(".pocket-question").wait_for()
    for login in list(desk.door.context.auth.logins._hosts):
        desk.door.context.auth.logins.end(login)
    expect(page.get_by_role("heading", name="This device is not logged in")).to_be_visible()
    assert page.locator(".pocket-question").count() == 0
    desk.do(desk.world.runtime.approvals.answer(one.id, False, "lena"))
    running.result(20)


def test_over_tls_a_device_logs_in_by_the_qr_code_and_stays_in_when_its_page_was_closed(
    browser: Browser, tmp_path: Path
) -> None:
    """A notification opens a page when no other is open: there is nobody to hand it a token."""
    rules = "--host-resolver-rules=MAP desk.ferry-lane.net 127.0.0.1"
    own = browser.browser_type.launch(executable_path=chromium(), args=[*QUIET, rules])
    with served_by_tls(tmp_path) as link:
        desk = own.new_context(ignore_https_errors=True).new_page()
        desk.goto(link)
        steps = desk.get_by_role("region", name="First steps")
        steps.get_by_role("button", name="Notifications").click()
        desk.get_by_role("button", name="Show the QR code").click()
        desk.get_by_alt_text("QR code that logs one device in").wait_for()
        made = desk.evaluate(DEVICE_LINK)
        phone = own.new_context(ignore_https_errors=True, **PHONE)
        page = phone.new_page()
        page.goto(made)
        page.get_by_role("heading", name="Nothing waits for you").wait_for()
        assert page.evaluate("() => location.href") == made.partition("#")[0]
        page.close()
        page = phone.new_page()
        page.goto(made.partition("#")[0])
        page.get_by_role("heading", name="Nothing waits for you").wait_for()
        stranger = own.new_context(ignore_https_errors=True, **PHONE).new_page()
        stranger.goto(made)
        stranger.get_by_role("heading", name="This device is not logged in").wait_for()
    own.close()


@contextmanager
def served_by_tls(folder: Path) -> Iterator[str]:
    """`handrail serve` for others to reach; the link that it prints."""
    cert, key = certificate(folder, "desk.ferry-lane.net")
    options = [
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--token",
        "x" * 20,
        "--cert",
        str(cert),
        "--key",
        str(key),
    ]
    command = [sys.executable, "-m", "handrail.cli.main", "serve", "--no-mcp", *options]
    env = {**os.environ, "HANDRAIL_HOME": str(folder / "home"), "HANDRAIL_ADB": str(folder / "no")}
    env |= {"ANDROID_ADB_SERVER_PORT": "15799", "HANDRAIL_NO_DAEMON": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        said = iter(process.stdout or ())
        try:
            yield next(one[0] for line in said if (one := re.search(r"https://\S+/login#code=\S+", line)))
        finally:
            process.terminate()


def test_an_address_that_is_no_secure_context_says_so_and_offers_ntfy(
    desk: Stage, browser: Browser, tmp_path: Path
) -> None:
    """A browser that is told another name for the machine: pages there may send no notifications."""
    rules = "--host-resolver-rules=MAP desk.ferry-lane.net 127.0.0.1"
    own = browser.browser_type.launch(executable_path=chromium(), args=[*QUIET, rules])
    host = f"desk.ferry-lane.net:{desk.door.port}"
    with served_as(desk, host):
        page = own.new_page(viewport=PHONE["viewport"])
        page.goto(f"http://{host}/approve#code={desk.door.context.auth.link_code()}")
        assert page.evaluate("() => window.isSecureContext") is False
        card = page.get_by_role("region", name="Notifications")
        expect(card).to_contain_text("only over https")
        expect(card).to_contain_text("HANDRAIL_NOTIFY_URL=https://ntfy.sh/")
        assert card.get_by_role("button").count() == 0
    own.close()


@contextmanager
def served_as(desk: Stage, host: str) -> Iterator[None]:
    """Under one more name, as a tunnel without TLS would bring it."""
    [guard] = [one for one in desk.door.app.user_middleware if "rules" in one.kwargs]
    rules: HostRules = guard.kwargs["rules"]
    before = rules.hosts
    object.__setattr__(rules, "hosts", (before or frozenset()) | {host})
    yield
    object.__setattr__(rules, "hosts", before)


def noticed(page: Page, origin: str, data: str) -> Any:
    """The notifications that this message brings."""
    return delivered(page, origin, data, lambda: page.evaluate(NOTICES))


def delivered(page: Page, origin: str, data: str, look: Callable[[], Any]) -> Any:
    """As the browser's own push service would: to the worker itself, once more where it was just stopping."""
    devtools = page.context.new_cdp_session(page)
    active: list[str] = []

    def updated(event: dict[str, Any]) -> None:
        active.extend(one["registrationId"] for one in event["versions"] if one["status"] == "activated")

    devtools.on("ServiceWorker.workerVersionUpdated", updated)
    devtools.send("ServiceWorker.enable")
    desk_until(page, lambda: active)
    message = {"origin": origin, "registrationId": active[-1], "data": data}
    for _ in range(5):
        devtools.send("ServiceWorker.deliverPushMessage", message)
        with suppress(AssertionError):
            return desk_until(page, look, 100)
    raise AssertionError("no message reached the worker")


def desk_until(page: Page, look: Callable[[], Any], times: int = 400) -> Any:
    for _ in range(times):
        if found := look():
            return found
        page.wait_for_timeout(25)
    raise AssertionError("never true")


def _packed(data: bytes) -> str:
    return b64encode(data).decode()
