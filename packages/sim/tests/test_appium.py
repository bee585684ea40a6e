"""Appium's server on the phone, asked as its driver asks it; what it did is checked on the phone."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import pytest

from handrail_sim.channels.appium import Http
from handrail_sim.channels.appium.server import ELEMENT, Server
from handrail_sim.channels.http import HelperLife, Request
from tests.hand import Hand

CONTACTS, NOTES, SETTINGS = "com.google.android.contacts", "com.handrail.notes", "com.android.settings"


class Driver:
    def __init__(self, *apps: str) -> None:
        self.hand = Hand(apps=list(apps))
        self.server = Server(self.hand.phone)
        self.hand.phone.on_event(self.server.automator.on_accessibility_event)
        self.http = Http(self.server, HelperLife(self.hand.phone.faults))

    async def ask(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        request = Request(method, path, {}, {}, json.dumps(body).encode() if body else b"")
        answer = await self.hand.run(self.http.answer(request))
        return answer.status, json.loads(answer.body)["value"]

    async def value(self, method: str, path: str, **body: Any) -> Any:
        if not self.server.session:
            await self.ask("POST", "/session", capabilities={"firstMatch": [{}], "alwaysMatch": {}})
        status, value = await self.ask(method, f"/session/{self.server.session}{path}", **body)
        assert status == 200, value
        return value

    async def problem(self, method: str, path: str, **body: Any) -> tuple[int, str]:
        await self.value("GET", "/orientation")
        status, value = await self.ask(method, f"/session/{self.server.session}{path}", **body)
        return status, value["error"]

    async def find(self, strategy: str, selector: str) -> str:
        found = await self.value("POST", "/element", strategy=strategy, selector=selector)
        return str(found[ELEMENT])

    async def all(self, strategy: str, selector: str) -> list[str]:
        found = await self.value("POST", "/elements", strategy=strategy, selector=selector)
        return [one[ELEMENT] for one in found]


def test_a_contact_is_created_by_locators_clicks_and_text() -> None:
    async def story() -> None:
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        await driver.value(
            "POST", f"/element/{await driver.find('accessibility id', 'Create new contact')}/click"
        )
        first, *_ = await driver.all("class name", "android.widget.EditText")
        await driver.value("POST", f"/element/{first}/value", text="Zoë")
        await driver.value("POST", f"/element/{first}/value", text=" Zanzibar")
        assert await driver.value("GET", f"/element/{first}/text") == "Zoë Zanzibar"
        await driver.value("POST", f"/element/{first}/value", text="Zoe", replace=True)
        save = await driver.find("-android uiautomator", 'new UiSelector().textMatches("(?i)save")')
        await driver.value("POST", f"/element/{save}/click")
        names = json.dumps(driver.hand.app_state(CONTACTS), ensure_ascii=False)
        assert "Zoe" in names
        assert "Zanzibar" not in names

    asyncio.run(story())


def test_the_source_has_classes_as_tags_and_is_what_xpath_walks() -> None:
    async def story() -> None:
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        root = ElementTree.fromstring((await driver.value("GET", "/source")).encode())
        assert root.tag == "hierarchy"
        buttons = list(root.iter("android.widget.ImageButton"))
        found = await driver.all("xpath", "//android.widget.ImageButton")
        assert len(buttons) == len(found) > 0
        name = buttons[0].attrib["content-desc"]
        one = await driver.find("xpath", f'//*[@content-desc="{name}"]')
        assert await driver.value("GET", f"/element/{one}/attribute/content-desc") == name
        box = await driver.value("GET", f"/element/{one}/rect")
        assert buttons[0].attrib["bounds"].startswith(f"[{box['x']},{box['y']}]")

    asyncio.run(story())


def test_locators_of_every_kind_and_their_errors() -> None:
    async def story() -> None:
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        listed = await driver.all("xpath", "//*[@scrollable='true']")
        below = await driver.value(
            "POST", f"/element/{listed[0]}/elements", using="class name", value="android.widget.TextView"
        )
        assert 0 < len(below) <= len(await driver.all("class name", "android.widget.TextView"))
        ids = [seen.id for seen in driver.hand.see() if seen.id.startswith(f"{CONTACTS}:id/")]
        assert await driver.find("id", ids[0].rpartition("/")[2]) == await driver.find("id", ids[0])
        assert await driver.all("id", "nothing") == []
        ask = driver.problem
        assert await ask("POST", "/element", strategy="id", selector="no") == (404, "no such element")
        assert await ask("POST", "/element", strategy="xpath", selector="//*[") == (400, "invalid selector")
        for wrong in (
            "new UiSelector().dance()",
            "new UiSelector().text(",
            "UiScrollable(1)",
            'x("',
            ".text(3)",
        ):
            told = await ask("POST", "/element", strategy="-android uiautomator", selector=wrong)
            assert told == (400, "invalid selector"), wrong
        assert await ask("POST", "/element", strategy="name", selector="x") == (400, "invalid selector")
        assert await ask("POST", "/element", strategy="id") == (400, "invalid argument")
        assert await ask("GET", "/element/none/text") == (404, "no such element")
        assert await ask("GET", "/dance") == (404, "unknown command")

    asyncio.run(story())


def test_an_element_is_stale_once_its_screen_is_gone() -> None:
    async def story() -> None:
        driver = Driver("contacts", "notes")
        await driver.hand.open(CONTACTS)
        button = await driver.find("accessibility id", "Create new contact")
        await driver.hand.open(NOTES)
        assert await driver.problem("GET", f"/element/{button}/text") == (404, "stale element reference")

    asyncio.run(story())


def test_a_row_is_stale_when_it_was_scrolled_away_and_not_another_row() -> None:
    async def story() -> None:
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        names = [
            seen for seen in driver.hand.see() if seen["class"] == "android.widget.TextView" and seen.text
        ]
        row = await driver.find("xpath", f'//*[@text="{names[4].text}"]')
        group = await driver.find("xpath", "//*[@scrollable='true']")
        await driver.value(
            "POST", "/appium/gestures/scroll", origin={ELEMENT: group}, direction="down", percent=1.0
        )
        assert not driver.hand.sees(names[4].text)
        assert (await driver.problem("GET", f"/element/{row}/text"))[1] == "stale element reference"

    asyncio.run(story())


def test_scrolling_brings_what_is_far_into_sight() -> None:
    async def story() -> None:
        driver = Driver("settings", "contacts")
        await driver.hand.open(SETTINGS)
        last = "About phone"
        assert not driver.hand.sees(last)
        text = (
            "new UiScrollable(new UiSelector().scrollable(true).instance(0))"
            f'.scrollIntoView(new UiSelector().text("{last}"))'
        )
        found = await driver.find("-android uiautomator", text)
        assert driver.hand.sees(last)
        await driver.value("POST", f"/element/{found}/click")
        assert driver.hand.sees("Navigate up")
        await driver.value("POST", "/back")
        missing = text.replace(last, "No such row")
        told = await driver.problem("POST", "/element", strategy="-android uiautomator", selector=missing)
        assert told == (404, "no such element")

    asyncio.run(story())


def test_w3c_actions_tap_swipe_and_press() -> None:
    async def story() -> None:
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        button = driver.hand.find("Create new contact")
        x, y = button.centre

        def finger(*steps: dict[str, Any]) -> list[dict[str, Any]]:
            return [
                {"type": "pointer", "id": "f", "parameters": {"pointerType": "touch"}, "actions": list(steps)}
            ]

        before = driver.hand.words()
        swipe = finger(
            {"type": "pointerMove", "duration": 0, "x": 540, "y": 1800},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": 300, "x": 540, "y": 600},
            {"type": "pointerUp", "button": 0},
        )
        await driver.value("POST", "/actions", actions=swipe)
        assert driver.hand.words() != before
        at = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y), "origin": "viewport"}
        tap = finger(at, {"type": "pointerDown"}, {"type": "pause", "duration": 50}, {"type": "pointerUp"})
        await driver.value("POST", "/actions", actions=tap)
        await driver.hand.settle()
        assert "android.widget.EditText" in [seen["class"] for seen in driver.hand.see()]
        assert await driver.problem("POST", "/actions", actions=[{"type": "dance"}]) == (
            400,
            "invalid argument",
        )
        await driver.value("POST", "/appium/device/press_keycode", keycode=3)
        await driver.hand.settle()
        assert driver.hand.see()[0]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_pictures_rotation_clipboard_keys_and_facts() -> None:
    async def story() -> None:
        image = pytest.importorskip("PIL.Image")
        driver = Driver("contacts")
        await driver.hand.open(CONTACTS)
        button = await driver.find("accessibility id", "Create new contact")
        cut = image.open(BytesIO(b64decode(await driver.value("GET", f"/element/{button}/screenshot"))))
        box = await driver.value("GET", f"/element/{button}/rect")
        assert cut.size == (box["width"], box["height"])
        await driver.value("POST", "/orientation", orientation="LANDSCAPE")
        assert await driver.value("GET", "/orientation") == "LANDSCAPE"
        assert driver.hand.phone.display.rotation == 1
        await driver.value("POST", "/appium/device/set_clipboard", content="w7w=")
        assert driver.hand.phone.clipboard == "ü"
        assert await driver.value("POST", "/appium/device/get_clipboard") == "w7w="
        info = await driver.value("GET", "/appium/device/info")
        assert (info["apiVersion"], info["displayDensity"]) == ("34", 420)
        assert await driver.problem("GET", "/alert/text") == (404, "no such alert")

    asyncio.run(story())


def test_deleting_the_session_ends_the_server() -> None:
    async def story() -> None:
        driver = Driver()
        await driver.value("GET", "/orientation")
        old = driver.server.session
        assert await driver.value("DELETE", "") is None
        status, value = await driver.ask("GET", f"/session/{old}/source")
        assert (status, value["error"]) == (404, "invalid session id")
        assert (await driver.ask("GET", "/status"))[1]["ready"] is True

    asyncio.run(story())
