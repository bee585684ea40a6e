"""Writes `docs/img/desk-*.png` (`make docs`): the desk as Chromium shows it, with an agent's work on it.

It serves a real desk with a simulated phone, lets a scripted agent act over HTTP, and photographs the page.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from PIL.ImageColor import getrgb
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from handrail.device_names import DeviceNames

IMAGES = Path(__file__).parent / "img"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 780}
LARGE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
MIDDLE = {"width": 1024, "height": 768}
SCHEMES = ("light", "dark")
PAUSE_MS = 1_500
"""For pictures of the phone to arrive."""
THOUGHT_S = 1.0
"""What a model needs at least between two actions; a picture of each is kept meanwhile."""
REPORT = """# Weekly shopping

I put the basket together and compared it with last week's.

| Item | Shop | Price |
|---|---|---|
| Oat milk | Corner | 1.99 |
| Coffee | Market | 7.49 |
| Apples | Market | 2.80 |

> Delivery is free above 10.00.

Next I go to the **checkout**; paying is up to you.
"""
ORDER: dict[str, Any] = {
    "components": [
        {"type": "text", "content": "Delivery", "variant": "heading"},
        {"type": "text", "content": "Check the address and choose a slot.", "color": "muted"},
        {"type": "input", "name": "address", "formId": "f", "label": "Address",
         "defaultValue": "4 Ferry Lane"},
        {"type": "select", "name": "slot", "formId": "f", "label": "Slot",
         "options": [{"value": "am", "label": "Tomorrow, 9 to 11"}]},
        {"type": "progress", "value": 72, "label": "Basket", "showValue": True, "variant": "success"},
        {"type": "button", "label": "Use this", "action": "deliver", "variant": "primary", "submitForm": "f"},
    ],
}  # fmt: skip


BAR = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 240 60'%3E"
    "%3Cpath d='M0 50 60 30 120 38 240 6' fill='none' stroke='%236c7cff' stroke-width='3'/%3E%3C/svg%3E"
)
EVERYTHING: dict[str, Any] = {
    "cols": 2,
    "components": [
        {"type": "text", "content": "Compare two offers", "variant": "heading"},
        {"type": "badge", "label": "2 left", "variant": "warning"},
        {"type": "text", "content": "The same phone, new and used.", "variant": "subheading"},
        {"type": "badge", "label": "checked", "variant": "success"},
        {"type": "text", "content": "Prices of the last year:", "color": "muted"},
        {"type": "image", "src": BAR, "height": "60px", "fit": "contain"},
        {"type": "input", "name": "limit", "formId": "f", "label": "At most", "variant": "number",
         "defaultValue": "250"},
        {"type": "select", "name": "state", "formId": "f", "label": "State",
         "options": [{"value": "used", "label": "As good as new"}]},
        {"type": "input", "name": "note", "formId": "f", "label": "Note for the shop", "rows": 2,
         "placeholder": "Please ring twice"},
        {"type": "progress", "value": 40, "label": "Reviews read", "showValue": True},
        {"type": "text", "content": "SKU 4006381", "variant": "code"},
        {"type": "text", "content": "Found 12 minutes ago", "variant": "caption"},
        {"type": "button", "label": "Take the used one", "action": "used", "variant": "primary",
         "submitForm": "f"},
        {"type": "button", "label": "Neither", "action": "none", "variant": "danger"},
    ],
}  # fmt: skip
OFFERS = {
    "headers": ["Offer", "State", "Price"],
    "rows": [["Corner", "new", "399"], ["Market", "used", "229"]],
}
FIELDS = {
    "name": "Ada Marrow",
    "street": "4 Ferry Lane",
    "city": "NW1 4AB Northwick",
    "email": "ada@example.org",
}
PERSON = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "ada")
PAY = {"type": "tap", "target": {"id": "pay"}, "reason": "I pay for the mug that you asked for"}


class Desk:
    """A served desk, and an agent that acts on it over HTTP."""

    def __init__(self, home: Path) -> None:
        said = json.loads((home / "config" / "desk.json").read_text())
        self.address, self._token, self._key = str(said["address"]), str(said["token"]), str(said["key"])

    def link(self) -> str:
        """Logs one more browser in."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.address}/api/login-links", b"{}", headers)  # noqa: S310
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            return str(json.load(answer)["url"])

    def act(self, action: dict[str, Any], agent: str = "shopper") -> None:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        headers["Handrail-Agent"] = agent
        body = json.dumps(action).encode()
        asked = urllib.request.Request(f"{self.address}/api/actions", body, headers)  # noqa: S310
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            answer.read()

    def serials(self) -> list[str]:
        asked = urllib.request.Request(  # noqa: S310
            f"{self.address}/api/devices", headers={"Authorization": f"Bearer {self._token}"}
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            return [one["serial"] for one in json.load(answer)["devices"]]

    def pay(self) -> None:
        """Asks the person, who will say no."""
        with suppress(urllib.error.HTTPError):
            self.act(PAY)

    def window(self, id_: str, title: str, content: dict[str, Any], x: int, y: int, w: int, h: int) -> None:
        bounds = {"x": x, "y": y, "w": w, "h": h}
        told = {"windowId": id_, "title": title, "content": content, "bounds": bounds}
        self.act({"type": "window.create", **told})


@contextmanager
def served(home: Path, phones: int = 1) -> Iterator[tuple[Desk, str]]:
    """The desk, and a link that logs one browser in."""
    command = [sys.executable, "-m", "handrail.cli.main", "serve", "--sim", str(phones), "--port", "0"]
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb"), **PERSON}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"  # as after an installation
    env["ANDROID_ADB_SERVER_PORT"] = "15801"  # where no server of this machine listens
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        link = ""
        for line in process.stdout or ():
            found = re.search(r"http\S+/login#code=\S+", line)
            link = found[0] if found else link
            if "Ctrl-C" in line:
                break
        try:
            yield Desk(home), link
        finally:
            process.terminate()


def shop(desk: Desk) -> None:
    """Up to the button that costs money."""
    desk.act({"type": "start_app", "package": "com.handrail.shop", "reason": "I do the weekly shopping"})
    time.sleep(THOUGHT_S)
    for target in ({"description": "Add Blue mug to cart"}, {"id": "cart"}, {"text": "Checkout"}):
        desk.act({"type": "tap", "target": target, "reason": "I fill the cart and go to the checkout"})
        time.sleep(THOUGHT_S)
    for field, text in FIELDS.items():
        desk.act({"type": "type_text", "target": {"id": field}, "text": text, "reason": "I fill in the form"})
        time.sleep(THOUGHT_S)


def furnish(desk: Desk) -> None:
    desk.window("phone", "Phone", {"renderer": "iframe", "data": "app:phone"}, 780, 20, 470, 700)
    desk.window("report", "Weekly shopping", {"renderer": "markdown", "data": REPORT}, 120, 24, 420, 480)
    desk.window("order", "Delivery", {"renderer": "component", "data": ORDER}, 450, 290, 310, 420)
    desk.act({"type": "window.lock", "windowId": "order", "agentId": "shopper"})


def enter(browser: Browser, link: str, scheme: Any) -> Page:
    page = browser.new_context(viewport=WIDE, color_scheme=scheme, reduced_motion="reduce").new_page()
    page.goto(link)
    page.locator(".desk-icon").first.wait_for()
    return page


def photograph(page: Page, name: str) -> None:
    path = IMAGES / f"desk-{name}.png"
    page.screenshot(path=path)
    Image.open(path).convert("RGB").save(path, optimize=True)
    print(f"{path.relative_to(IMAGES.parent.parent)}: {path.stat().st_size // 1024} KB")  # noqa: T201


def stories(page: Page, desk: Desk) -> None:
    furnish(desk)
    page.locator(".app-phone canvas").first.wait_for()
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "light")
    page.get_by_role("button", name="Use the dark theme").click()
    photograph(page, "dark")
    asking = threading.Thread(target=desk.pay, daemon=True)
    asking.start()
    page.get_by_role("button", name="Approve").and_(page.locator(":enabled")).wait_for()
    photograph(page, "approval")
    page.get_by_role("button", name="Reject").click()
    asking.join()
    page.get_by_role("button", name="Use the light theme").click()
    desk.act({"type": "window.minimize", "windowId": "order"})
    desk.window("journal", "Journal", {"renderer": "iframe", "data": "app:journal"}, 140, 40, 1000, 660)
    page.locator(".app-journal").get_by_text("tap", exact=False).first.click()
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "journal")
    page.get_by_role("tab", name="Runs").click()
    page.locator(".frame").nth(5).click()
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "film")
    desk.act({"type": "window.close", "windowId": "journal"})
    desk.act({"type": "window.focus", "windowId": "report"})
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "narrow")
    page.set_viewport_size(WIDE)
    taken_over(page, desk)
    second_monitor(page, desk)
    many_windows(page, desk)
    page.context.set_offline(True)
    page.get_by_role("button", name="Try now").wait_for()
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "offline")


def taken_over(page: Page, desk: Desk) -> None:
    """The person has the phone, and the agent waits for it."""
    desk.act({"type": "window.focus", "windowId": "phone"})
    page.get_by_role("button", name="Take over").first.click()
    waiting = threading.Thread(target=desk.act, args=[{"type": "start_app", "package": "com.handrail.shop"}])
    waiting.start()
    page.get_by_text("Yours: shopper waits").wait_for()
    photograph(page, "taken-over")
    page.get_by_role("button", name="Hand back").click()
    waiting.join()


def second_monitor(page: Page, desk: Desk) -> None:
    """Another one, with a window of every component, and a table."""
    page.get_by_role("button", name="New monitor").click()
    page.get_by_role("button", name="Monitor 2").wait_for()
    desk.window("offers", "Two offers", {"renderer": "component", "data": EVERYTHING}, 130, 30, 620, 640)
    desk.window("table", "Offers", {"renderer": "table", "data": OFFERS}, 790, 60, 420, 260)
    page.get_by_text("Compare two offers").wait_for()
    photograph(page, "components")
    desk.act({"type": "window.close", "windowId": "offers"})
    desk.act({"type": "window.close", "windowId": "table"})
    page.get_by_role("button", name="Monitor 1").click()


def many_windows(page: Page, desk: Desk) -> None:
    """Twenty of them, in the dark."""
    page.get_by_role("button", name="Use the dark theme").click()
    for number in range(17):
        text = {"renderer": "text", "data": f"What was found at place {number}."}
        at = (120 + number % 6 * 190, 20 + number // 6 * 230)
        desk.window(f"note{number}", f"Note {number}", text, *at, 300, 210)
    page.get_by_role("button", name="All 20 windows").wait_for()
    page.wait_for_timeout(PAUSE_MS)
    photograph(page, "many-windows")
    for number in range(17):
        desk.act({"type": "window.close", "windowId": f"note{number}"})


def first_start(browser: Browser) -> None:
    """A desk to which no phone has come yet, and what its Settings say of the example's rules."""
    with tempfile.TemporaryDirectory() as home:
        rules = Path(home) / "config" / "policy.toml"
        rules.parent.mkdir(mode=0o700)
        rules.write_text((IMAGES.parent.parent / "examples" / "policy.toml").read_text())
        rules.chmod(0o600)
        with served(Path(home), 0) as (desk, _):
            for scheme in SCHEMES:
                page = enter(browser, desk.link(), scheme)
                page.set_viewport_size(LARGE)
                page.get_by_text("Give it to an agent").wait_for()
                photograph(page, f"first-start-{scheme}")
                page.get_by_role("button", name="Your rules").click()
                page.get_by_text("Defaults, by class").wait_for()
                page.mouse.move(0, 0)
                photograph(page, f"settings-{scheme}")
                page.get_by_role("button", name="Close", exact=True).click()
                page.context.close()


def pocket(browser: Browser, desk: Desk) -> None:
    """A question on a phone; both themes."""
    asking = threading.Thread(target=desk.pay, daemon=True)
    asking.start()
    pages = [enter(browser, desk.link(), scheme) for scheme in SCHEMES]
    for page, scheme in zip(pages, SCHEMES, strict=True):
        page.set_viewport_size(PHONE)
        page.goto(desk.link().replace("/login#", "/approve#"))
        page.locator(".pocket-yes:enabled").wait_for()
        photograph(page, f"pocket-{scheme}")
    pages[0].get_by_role("button", name="Reject").click()
    asking.join()
    for page in pages:
        page.context.close()


WORK = (
    ("Kitchen tablet", "com.android.settings", "settings-bot"),
    ("Mum's phone", "com.google.android.contacts", "mail-agent"),
    ("Test bench", "com.handrail.shop", "shopper"),
)


def wall(browser: Browser) -> None:
    """Four phones, three of them at work and with names."""
    with tempfile.TemporaryDirectory() as home, served(Path(home), phones=4) as (desk, link):
        names = DeviceNames(Path(home))
        for serial, (name, app, agent) in zip(desk.serials(), WORK, strict=False):
            names.give(serial, name)
            desk.act({"type": "start_app", "package": app, "device": serial, "reason": "I open it"}, agent)
        page = enter(browser, link, "dark")
        desk.window("wall", "All phones", {"renderer": "iframe", "data": "app:wall"}, 116, 16, 1148, 700)
        page.locator(".tile-canvas:visible").nth(3).wait_for()
        page.wait_for_timeout(PAUSE_MS)
        photograph(page, "wall")


RECORDED = """name: Add Ada
steps:
  - restart_app: com.google.android.contacts
  - tap: Create new contact
    expect: First name
  - expect_visible: First name
  - type_text: {target: {id: first}, text: Ada}
  - type_text: {target: {id: last}, text: Lovelace}
  - type_text: {target: {id: company}, text: Engines}
  - tap: {id: store_button}
    element:
      package: com.google.android.contacts
      class: Button
      role: button
      id: store_button
      text: Store
      bounds: [780, 134, 1016, 260]
      screen: [1080, 2400]
      neighbours: [Create contact, Cancel]
  - expect_visible: Ada Lovelace
"""


def studio(browser: Browser) -> None:
    """A flow whose app has changed: opened, run, failed and to be healed; an element is pointed at."""
    with tempfile.TemporaryDirectory() as home:
        flow = Path(home) / "flows" / "add-ada.yaml"
        flow.parent.mkdir(parents=True)
        flow.write_text(RECORDED)
        with served(Path(home)) as (desk, _):
            for scheme, size in (("light", LARGE), ("dark", LARGE), ("dark", PHONE), ("light", MIDDLE)):
                page = enter(browser, desk.link(), scheme)
                page.set_viewport_size(size)
                page.wait_for_timeout(PAUSE_MS)  # the server learns how large the page is
                page.locator(".desk-icon", has_text="Studio").click()
                app = page.locator(".app-studio")
                if size == PHONE:
                    app.get_by_role("tab", name="Phone").click()
                app.locator(".phone-canvas[data-frames]").wait_for()
                if size == PHONE:
                    app.get_by_role("tab", name="Steps").click()
                app.get_by_role("combobox", name="Open a flow").select_option("add-ada.yaml")
                app.locator(".editor-step").nth(7).wait_for()
                app.get_by_role("button", name="Run", exact=True).click()
                app.get_by_role("button", name="Report").wait_for()
                app.locator(".studio-heal").wait_for()
                page.wait_for_timeout(PAUSE_MS)
                name = {PHONE["width"]: "narrow", MIDDLE["width"]: "middle"}.get(size["width"], scheme)
                if name == "light":
                    app.get_by_role("button", name="Point").click()
                    app.locator(".studio-node").first.wait_for()
                    place = app.locator(".phone-canvas").bounding_box() or {}
                    page.mouse.click(place["x"] + place["width"] * 0.4, place["y"] + place["height"] * 0.13)
                    app.locator(".studio-ask").wait_for()
                    page.wait_for_timeout(PAUSE_MS)
                photograph(page, f"studio-{name}")
                desk.act({"type": "window.close", "windowId": "app-studio"})
                page.context.close()


DESK_PART = {"width": 1000, "height": 780}
FRAME_MS, LAST_MS = 700, 3_000
MOVING_WIDTH = 1_112
THUMB = "#f2a65a"


class Moving:
    """The desk and the owner's phone beside each other, frame by frame."""

    def __init__(self, desk: Page, pocket: Page) -> None:
        self.pages = (desk, pocket)
        self.frames: list[Image.Image] = []

    def add(self, thumb: Locator | None = None) -> None:
        """One more frame; `thumb` is what the owner presses in it."""
        pictures = [Image.open(io.BytesIO(page.screenshot())).convert("RGB") for page in self.pages]
        frame = Image.new("RGB", (sum(one.width for one in pictures), pictures[0].height))
        frame.paste(pictures[0], (0, 0))
        frame.paste(pictures[1], (pictures[0].width, 0))
        if thumb is not None and (box := thumb.bounding_box()):
            x, y = pictures[0].width + box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            drawing = ImageDraw.Draw(frame, "RGBA")
            for radius, opacity in ((34, 90), (20, 170)):
                drawing.ellipse((x - radius, y - radius, x + radius, y + radius), (*getrgb(THUMB), opacity))
        height = round(frame.height * MOVING_WIDTH / frame.width)
        self.frames.append(frame.resize((MOVING_WIDTH, height), Image.Resampling.LANCZOS))

    def save(self, path: Path) -> None:
        durations = [FRAME_MS] * (len(self.frames) - 1) + [LAST_MS]
        first, *rest = self.frames
        first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, quality=72, method=6)
        print(f"{path.relative_to(IMAGES.parent.parent)}: {path.stat().st_size // 1024} KB")  # noqa: T201


def moving(browser: Browser) -> None:
    """An agent fills a cart, the payment waits, and a thumb on the owner's phone lets it through."""
    with tempfile.TemporaryDirectory() as home, served(Path(home)) as (desk, link):
        page = enter(browser, link, "dark")
        page.set_viewport_size(DESK_PART)
        desk.window("phone", "Phone", {"renderer": "iframe", "data": "app:phone"}, 560, 16, 420, 690)
        desk.window("journal", "Journal", {"renderer": "iframe", "data": "app:journal"}, 110, 16, 436, 690)
        pocket_page = enter(browser, desk.link(), "dark")
        pocket_page.set_viewport_size({"width": PHONE["width"], "height": DESK_PART["height"]})
        pocket_page.goto(desk.link().replace("/login#", "/approve#"))
        page.locator(".app-phone canvas").first.wait_for()
        film = Moving(page, pocket_page)

        def act(action: dict[str, Any]) -> None:
            desk.act(action)
            page.wait_for_timeout(PAUSE_MS / 2)
            film.add()

        act({"type": "start_app", "package": "com.handrail.shop", "reason": "I do the weekly shopping"})
        for target in ({"description": "Add Blue mug to cart"}, {"id": "cart"}, {"text": "Checkout"}):
            act({"type": "tap", "target": target, "reason": "I fill the cart"})
        for field, text in FIELDS.items():
            act({"type": "type_text", "target": {"id": field}, "text": text, "reason": "I fill in the form"})
        paying = threading.Thread(target=desk.pay, daemon=True)
        paying.start()
        yes = pocket_page.locator(".pocket-yes:enabled")
        yes.wait_for()
        page.wait_for_timeout(PAUSE_MS)
        for thumb in (None, None, yes):
            film.add(thumb)
        yes.click()
        paying.join()
        for _ in range(3):
            page.wait_for_timeout(PAUSE_MS / 2)
            film.add()
        film.save(IMAGES / "desk-moving.webp")
        pocket_page.context.close()
        page.context.close()


STORIES = {"moving": moving, "studio": studio, "first_start": first_start, "wall": wall}
"""By the words of the command line; without one, everything."""


def main() -> None:
    path = os.environ.get("CHROME_BIN") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit("no Chromium found: install it, or name it in CHROME_BIN")
    if sys.argv[1:]:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            for name in sys.argv[1:]:
                STORIES[name](browser)
            browser.close()
        return
    with (
        tempfile.TemporaryDirectory() as home,
        served(Path(home)) as (desk, link),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        desk.act({"type": "notification.show", "id": "n", "title": "Basket ready", "body": "Three items."})
        shop(desk)
        pocket(browser, desk)
        stories(enter(browser, link, "light"), desk)
        first_start(browser)
        wall(browser)
        studio(browser)
        moving(browser)
        browser.close()


if __name__ == "__main__":
    main()
