from __future__ import annotations

import asyncio
import plistlib
import struct
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from handrail_sim.channels.http import Hangup, Request
from handrail_sim.iphone import doors, simulated_iphone
from handrail_sim.iphone.find import TYPES, BadQuery, predicate
from handrail_sim.iphone.wda import ROUTES, match
from tests.corpus import CORPUS
from tests.iphone_client import Client

SETTINGS = "com.apple.Preferences"
NOTES = "com.handrail.notes"
NOT_ON_IPHONES = {
    "/session/:id/element/:uuid/attribute/focused",
    "/session/:id/wda/element/:uuid/focuse",
    "/session/:id/wda/performHandGesture",
    "/session/:id/wda/rotateDigitalCrown",
}


def recordings(name: str) -> Path:
    """A folder of what was recorded of iOS; it is kept elsewhere."""
    folder = Path(CORPUS or "none") / "ios" / name
    if not folder.is_dir():
        pytest.skip("no recordings of iOS: set HANDRAIL_CORPUS to the folder of the corpus")
    return folder


def test_home_shows_icons_and_an_app_starts_by_a_tap() -> None:
    async def story() -> None:
        client = Client()
        assert (await client.get("/wda/activeAppInfo"))["bundleId"] == "com.apple.springboard"
        assert {"Settings", "Notes", "Shop"} <= set(await client.names("Icon"))
        await client.begin()
        await client.tap("Settings")
        assert client.phone.tasks.top is not None
        assert client.phone.tasks.top.app.package == "com.android.settings"
        assert (await client.get("/wda/activeAppInfo"))["bundleId"] == SETTINGS
        assert await client.do("/wda/apps/state", bundleId=SETTINGS) == 4

    asyncio.run(story())


def test_the_source_is_the_same_tree_in_xml_and_json() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        tree = await client.get("/source", "format=json")
        document = etree.fromstring((await client.get("/source", "format=xml")).encode())

        def shape(node: dict[str, Any]) -> list[Any]:
            return [node["type"], node["name"], *map(shape, node.get("children", []))]

        def of_xml(node: Any) -> list[Any]:
            return [node.tag.removeprefix("XCUIElementType"), node.get("name"), *map(of_xml, node)]

        assert shape(tree) == of_xml(document)
        assert document.get("bundleId") == SETTINGS
        assert tree["rect"] == {"x": 0, "y": 0, "width": 390, "height": 844}
        assert tree["isVisible"] == "1"
        types = {node.get("type").removeprefix("XCUIElementType") for node in document.iter()}
        assert {"Table", "Cell", "StaticText", "Image"} <= types <= set(TYPES)

    asyncio.run(story())


def test_frames_are_rounded_outward_and_the_native_ones_have_fractions() -> None:
    async def story() -> None:
        client = Client()
        for icon in [
            node for node in _all(await client.get("/source", "format=json")) if node["type"] == "Icon"
        ]:
            numbers = icon["nativeFrame"].replace("{", "").replace("}", "").split(", ")
            x, y, width, height = map(float, numbers)
            rect = icon["rect"]
            assert rect["x"] <= x < rect["x"] + 1
            assert rect["y"] <= y < rect["y"] + 1
            assert rect["x"] + rect["width"] >= round(x + width, 2)
            assert rect["y"] + rect["height"] >= round(y + height, 2)

    asyncio.run(story())


def _all(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for child in node.get("children", []) for below in _all(child))]


def test_a_note_is_written_with_the_keyboard() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=NOTES)
        await client.tap("New note")
        title = await client.find("**/XCUIElementTypeTextField", "class chain")
        assert await client.do(f"/element/{title}/attribute/value", "GET") == "Title"
        assert await client.do(f"/element/{title}/attribute/placeholderValue", "GET") == "Title"
        await client.do(f"/element/{title}/value", text="Oats & milk")
        assert await client.do(f"/element/{title}/attribute/value", "GET") == "Oats & milk"
        assert "q" in [name.lower() for name in await client.names("Key")]
        active = (await client.do("/element/active", "GET"))["ELEMENT"]
        assert active == title
        await client.do(f"/element/{title}/clear")
        assert await client.do(f"/element/{title}/text", "GET") == "Title"

    asyncio.run(story())


def test_a_finger_over_the_left_edge_goes_back_and_over_the_lower_one_home() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        await client.tap("Network & internet")
        assert client.phone.state()["front"]["activity"] != "com.android.settings/.Settings"
        await client.do("/actions", actions=[_finger((1, 400), (280, 400), 200)])
        assert client.phone.state()["front"]["activity"] == "com.android.settings/.Settings"
        await client.do("/actions", actions=[_finger((195, 840), (195, 400), 200)])
        assert client.phone.front == "com.apple.springboard"

    asyncio.run(story())


def _finger(
    start: tuple[float, float], goal: tuple[float, float], ms: float, name: str = "f1"
) -> dict[str, Any]:
    return {
        "type": "pointer",
        "id": name,
        "parameters": {"pointerType": "touch"},
        "actions": [
            {"type": "pointerMove", "duration": 0, "x": start[0], "y": start[1]},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": ms, "x": goal[0], "y": goal[1]},
            {"type": "pointerUp", "button": 0},
        ],
    }


def test_a_drag_presses_before_it_moves() -> None:
    """`duration` of dragfromtoforduration is the press: a list under it does not scroll, a row is held."""

    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        before = client.phone.now_ms()
        first = len(client.phone.input_log)
        await client.do("/wda/dragfromtoforduration", fromX=195, fromY=600, toX=195, toY=200, duration=0.7)
        down, move = client.phone.input_log[first : first + 2]
        assert (down["action"], move["action"]) == ("down", "move")
        assert down["ms"] >= before
        assert move["ms"] - down["ms"] >= 700

    asyncio.run(story())


def test_two_fingers_move_on_one_time_line() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId="com.apple.mobileslideshow")
        first = len(client.phone.input_log)
        fingers = [_finger((180, 400), (80, 400), 160), _finger((210, 400), (310, 400), 160, "f2")]
        await client.do("/actions", actions=fingers)
        log = client.phone.input_log[first:]
        assert [entry["pointer"] for entry in log[:2]] == [0, 1]
        assert {entry["ms"] for entry in log if entry["pointer"] == 0} == {
            entry["ms"] for entry in log if entry["pointer"] == 1
        }

    asyncio.run(story())


# errors


def test_a_second_session_ends_the_first() -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        first = client.session
        await client.begin()
        assert client.session != first
        status, value = await client.ask("POST", f"/session/{first}/wda/tap", {"x": 1, "y": 1})
        assert (status, value["error"]) == (404, "invalid session id")
        assert not [entry for entry in client.phone.input_log if entry["action"] == "down"]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/wda/tap", {"x": 1}, 400, "invalid argument"),
        ("/element", {"using": "accessibility id", "value": "none"}, 404, "no such element"),
        ("/element", {"using": "xpath", "value": "//["}, 400, "invalid selector"),
        ("/element", {"using": "class chain", "value": "**/Button"}, 400, "invalid selector"),
        ("/element", {"using": "class name", "value": "Button"}, 400, "invalid argument"),
        ("/element", {"using": "css", "value": "a"}, 400, "invalid argument"),
        ("/element/0-0/click", {}, 404, "stale element reference"),
        ("/wda/keys", {"value": ["a"]}, 400, "invalid element state"),
        ("/wda/pressButton", {"name": "menu"}, 500, "unknown error"),
        ("/wda/apps/launch", {"bundleId": "com.none"}, 400, "invalid argument"),
        ("/wda/element/0/keyboardInput", {"keys": ["a"]}, 500, "unsupported operation"),
        ("/alert/accept", {}, 404, "no such alert"),
        ("/orientation", {"orientation": "LANDSCAPE"}, 500, "unknown error"),
        ("/wda/tap/0", {"x": 1, "y": 1}, 404, "unknown command"),
        ("/keys", {"value": ["a"]}, 404, "unknown command"),
        ("/actions", {"actions": []}, 500, "unknown error"),
        ("/wda/rotateDigitalCrown", {"delta": 1}, 404, "unknown command"),
    ],
)
def test_what_cannot_be_done_is_refused(path: str, body: dict[str, Any], status: int, error: str) -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        assert (await client.refused(path, **body))[:2] == (status, error)

    asyncio.run(story())


def test_every_route_of_the_table_is_served_and_nothing_else() -> None:
    table = recordings("outputs") / "wda_routes_16.7.0.tsv"
    rows = [line.split("\t") for line in table.read_text().splitlines()[1:]]
    wanted = {(method, path) for method, path, _ in rows if path != "/*"}
    assert {route for route in wanted if match(*route) is None} == {
        route
        for route in wanted
        if route[1] in NOT_ON_IPHONES - {"/session/:id/element/:uuid/attribute/focused"}
    }
    assert set(ROUTES) <= wanted


def test_a_slash_at_the_end_does_not_matter() -> None:
    async def story() -> None:
        client = Client()
        assert (await client.ask("GET", "/source/", query="format=json"))[0] == 200
        await client.begin()
        assert (await client.ask("DELETE", f"/session/{client.session}/"))[0] == 200
        assert (await client.ask("GET", "/none/"))[0] == 404

    asyncio.run(story())


# settings


def test_settings_begin_as_they_are_on_a_phone() -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        settings = await client.do("/appium/settings", "GET")
        assert (settings["waitForIdleTimeout"], settings["snapshotMaxDepth"]) == (10, 50)
        changed = await client.do("/appium/settings", settings={"snapshotMaxDepth": 6, "none": 1})
        assert changed == settings | {"snapshotMaxDepth": 6}
        assert _depth(await client.get("/source", "format=json")) == 6

    asyncio.run(story())


def _depth(node: dict[str, Any]) -> int:
    return 1 + max((_depth(child) for child in node.get("children", [])), default=0)


# faults


def test_a_tree_deeper_than_sixty_fails_as_a_whole() -> None:
    async def story() -> None:
        client = Client()
        client.phone.faults.add("deep_tree", levels=65)
        await client.begin()
        assert _depth(await client.get("/source", "format=json")) == 50
        await client.do("/appium/settings", settings={"snapshotMaxDepth": 70})
        status, value = await client.ask("GET", "/source")
        assert (status, value["error"]) == (404, "stale element reference")
        assert "kAXErrorIllegalArgument" in value["message"]

    asyncio.run(story())


def test_a_slow_source_holds_every_other_request_up() -> None:
    async def story() -> None:
        client = Client()
        client.phone.faults.add("slow_source", ms=30_000)
        look = client.wda.answer(Request("GET", "/source", {}, {}))
        status = client.wda.answer(Request("GET", "/status", {}, {}))
        before = client.phone.now_ms()
        await client.hand.run(asyncio.wait([asyncio.ensure_future(look), asyncio.ensure_future(status)]))
        assert client.phone.now_ms() - before >= 30_000

    asyncio.run(story())


def test_an_app_that_never_rests_is_waited_for_ten_seconds() -> None:
    async def story() -> None:
        client = Client()
        client.phone.faults.add("never_idle")
        await client.begin()
        before = client.phone.now_ms()
        await client.get("/source")
        assert client.phone.now_ms() - before >= 10_000
        await client.do("/appium/settings", settings={"waitForIdleTimeout": 0})
        before = client.phone.now_ms()
        await client.get("/source")
        assert client.phone.now_ms() - before < 1_000

    asyncio.run(story())


def test_characters_get_lost() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=NOTES)
        await client.tap("New note")
        client.phone.faults.add("ime_swallows", every=3)
        title = await client.find("**/XCUIElementTypeTextField", "class chain")
        await client.do(f"/element/{title}/value", text="abcdef")
        assert await client.do(f"/element/{title}/text", "GET") == "abde"

    asyncio.run(story())


def test_a_runner_that_is_gone_answers_nothing() -> None:
    async def story() -> None:
        client = Client()
        client.phone.faults.add("wda_gone", after=1)
        await client.get("/status")
        with pytest.raises(Hangup):
            await client.wda.answer(Request("GET", "/status", {}, {}))

    asyncio.run(story())


def test_a_runner_that_hangs_accepts_and_says_nothing() -> None:
    async def story() -> None:
        client = Client()
        client.phone.faults.add("wda_hangs")
        answer = asyncio.ensure_future(client.wda.answer(Request("GET", "/status", {}, {})))
        await client.hand.clock.advance(60_000)
        assert not answer.done()
        client.phone.faults.clear("wda_hangs")
        client.wda.wake()
        with pytest.raises(Hangup):
            await answer
        assert (await client.get("/status"))["ready"]

    asyncio.run(story())


def test_a_phone_that_lies_takes_points_as_those_of_a_standing_one() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        await client.do("/orientation", orientation="LANDSCAPE")
        client.phone.faults.add("landscape_turned")
        await client.do("/wda/tap", x=100, y=50)
        down = next(entry for entry in reversed(client.phone.input_log) if entry["action"] == "down")
        assert (down["x"], down["y"]) == (150, 870)

    asyncio.run(story())


# alerts


def test_an_alert_can_be_hidden_from_a_session_without_an_app_too() -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        await client.do("/wda/apps/launch", bundleId="com.apple.mobileslideshow")
        assert len(await client.names("Alert")) == 1
        client.phone.faults.add("system_alert_hidden")
        assert await client.names("Alert") == []
        client.phone.faults.add("alert_stale")
        assert (await client.refused("/alert/text", "GET"))[1] == "no such alert"

    asyncio.run(story())


def test_a_system_alert_is_not_in_the_tree_of_the_app_that_was_asked_for() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId="com.apple.mobileslideshow")
        assert await client.names("Alert") == []
        text = await client.do("/alert/text", "GET")
        assert text == "“Gallery” Would Like to Access Your Photos"
        buttons = await client.do("/wda/alert/buttons", "GET")
        assert buttons == ["Limit Access…", "Allow Full Access", "Don’t Allow"]
        await client.do("/appium/settings", settings={"respectSystemAlerts": True})
        assert len(await client.names("Alert")) == 1
        await client.do("/alert/accept", name="Allow Full Access")
        assert await client.names("Alert") == []
        assert client.phone.packages.is_granted(
            "com.handrail.gallery", "android.permission.READ_MEDIA_IMAGES"
        )

    asyncio.run(story())


# the device


def test_an_app_turns_and_the_home_screen_does_not() -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        await client.do("/orientation", orientation="LANDSCAPE")
        assert await client.do("/orientation", "GET") == "LANDSCAPE"
        assert await client.do("/window/size", "GET") == {"width": 844, "height": 390}
        assert (await client.do("/rotation", "GET")) == {"x": 0, "y": 0, "z": 270}

    asyncio.run(story())


def test_the_pasteboard_is_the_phones() -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        await client.do("/wda/setPasteboard", content=b64encode("Grüße".encode()).decode())
        assert client.phone.clipboard == "Grüße"
        assert b64decode(await client.do("/wda/getPasteboard")).decode() == "Grüße"

    asyncio.run(story())


def test_a_locked_phone_takes_no_touches() -> None:
    async def story() -> None:
        client = Client()
        await client.begin()
        await client.do("/wda/lock")
        assert await client.do("/wda/locked", "GET") is True
        await client.do("/wda/tap", x=58, y=100)
        assert client.phone.front == "com.apple.springboard"
        await client.do("/wda/unlock")
        assert await client.do("/wda/locked", "GET") is False

    asyncio.run(story())


# recorded screens


def test_recorded_page_sources_are_served_byte_for_byte() -> None:
    folder = recordings("wda_xml")

    async def story() -> None:
        client = Client(apps=["settings", f"replay:{folder}"])
        files = sorted(folder.glob("*.xml"))
        for path in files:
            arguments = ["-screen", path.stem]
            await client.begin(bundleId="com.handrail.replay", arguments=arguments)
            assert await client.get("/source", "format=xml") == path.read_text(encoding="utf-8")
            tree = await client.get("/source", "format=json")
            assert tree["type"] in TYPES, path
        assert len(files) >= 100

    asyncio.run(story())


def test_a_recorded_button_is_found_and_tapped_where_it_was(tmp_path: Path) -> None:
    words = (
        '<AppiumAUT><XCUIElementTypeApplication name="Lamp" label="Lamp" width="390" height="844">'
        '<XCUIElementTypeButton name="on" label="Switch on" enabled="true" visible="true" accessible="true" '
        'x="100" y="200" width="50" height="40"/></XCUIElementTypeApplication></AppiumAUT>'
    )
    (tmp_path / "lamp.xml").write_text(words)

    async def story() -> None:
        client = Client(apps=[f"replay:{tmp_path}"])
        await client.begin(bundleId="com.handrail.replay")
        assert await client.get("/source") == words
        await client.tap("Switch on")
        down = next(entry for entry in reversed(client.phone.input_log) if entry["action"] == "down")
        assert (down["x"], down["y"]) == (375, 660)

    asyncio.run(story())


# usbmux


def _frame(message: dict[str, Any], tag: int) -> bytes:
    payload = plistlib.dumps(message)
    return struct.pack("<IIII", 16 + len(payload), 1, 8, tag) + payload


async def _read(reader: asyncio.StreamReader) -> dict[str, Any]:
    length, _, _, _ = struct.unpack("<IIII", await reader.readexactly(16))
    answer: dict[str, Any] = plistlib.loads(await reader.readexactly(length - 16))
    return answer


async def _to_usbmux(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


def test_usbmux_lists_connects_and_refuses() -> None:
    async def story() -> None:
        async with simulated_iphone() as served:
            reader, writer = await _to_usbmux(served.usbmux)

            async def ask(**message: Any) -> dict[str, Any]:
                writer.write(_frame(message, 7))
                return await _read(reader)

            (device,) = (await ask(MessageType="ListDevices"))["DeviceList"]
            assert device["Properties"]["SerialNumber"] == served.udid
            assert "PairRecordData" in await ask(MessageType="ReadPairRecord", PairRecordID=served.udid)
            served.phone.faults.add("untrusted")
            assert (await ask(MessageType="ReadPairRecord", PairRecordID=served.udid))["Number"] == 2
            assert "BUID" in await ask(MessageType="ReadBUID")
            assert (await ask(MessageType="Dance"))["Number"] == 1
            assert (await ask(MessageType="Connect", DeviceID=9, PortNumber=42015))["Number"] == 2
            assert (await ask(MessageType="Connect", DeviceID=1, PortNumber=62079))["Number"] == 3
            assert (await ask(MessageType="Connect", DeviceID=1, PortNumber=42015))["Number"] == 0
            writer.write(b"GET /status HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert b'"ready" : true' in await reader.read()
            writer.close()

    asyncio.run(story())


@pytest.mark.parametrize("is_on", [True, False])
def test_lockdown_tells_whether_developer_mode_is_on(is_on: bool) -> None:
    async def story() -> None:
        async with simulated_iphone() as served:
            if not is_on:
                served.phone.faults.add("developer_mode_off")
            reader, writer = await _to_usbmux(served.usbmux)
            writer.write(_frame({"MessageType": "Connect", "DeviceID": 1, "PortNumber": 32498}, 7))
            assert (await _read(reader))["Number"] == 0

            async def value(key: str) -> Any:
                request = plistlib.dumps({"Request": "GetValue", "Key": key})
                writer.write(struct.pack(">I", len(request)) + request)
                (length,) = struct.unpack(">I", await reader.readexactly(4))
                return plistlib.loads(await reader.readexactly(length)).get("Value")

            assert await value("DeveloperModeStatus") is is_on
            assert await value("UniqueChipID") is None
            writer.close()

    asyncio.run(story())


def test_listeners_hear_of_a_cable_that_is_pulled() -> None:
    async def story() -> None:
        async with simulated_iphone() as served:
            reader, writer = await _to_usbmux(served.usbmux)
            writer.write(_frame({"MessageType": "Listen"}, 1))
            assert (await _read(reader))["Number"] == 0
            assert (await _read(reader))["MessageType"] == "Attached"
            served.phone.faults.add("phone_gone")
            assert (await _read(reader))["MessageType"] == "Detached"
            served.phone.faults.clear("phone_gone")
            assert (await _read(reader))["MessageType"] == "Attached"
            writer.close()

    asyncio.run(story())


def test_pictures_come_one_after_another() -> None:
    async def story() -> None:
        async with simulated_iphone() as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.mjpeg_port)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"multipart/x-mixed-replace" in head
            for _ in range(2):
                part = await reader.readuntil(b"\r\n\r\n")
                size = int(part.split(b"Content-Length: ")[1].split()[0])
                assert (await reader.readexactly(size))[:3] == b"\xff\xd8\xff"
                await reader.readexactly(4)
            writer.close()

    asyncio.run(story())


def test_the_commands_are_loaded_with_the_doors() -> None:
    assert all(part.__name__.startswith("handrail_sim.iphone.") for part in doors.COMMANDS)


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        ("label == 'Display'", 0, 9),
        ("label CONTAINS[c] 'DISPLAY'", 1, 9),
        ("NOT visible == 1", 0, 9),
        ("type == 'XCUIElementTypeCell' AND label BEGINSWITH 'Net'", 1, 1),
        ("label IN {'Wi', 'Settings'} OR FALSEPREDICATE", 1, 9),
        ("rect.y > 100 && rect.width BETWEEN {100, 400}", 5, 99),
        ("!(label MATCHES '.*') || TRUEPREDICATE", 20, 999),
    ],
)
def test_a_predicate_string_finds_what_it_says(words: str, least: int, most: int) -> None:
    async def story() -> None:
        client = Client()
        await client.begin(bundleId=SETTINGS)
        found = await client.do("/elements", using="predicate string", value=words)
        assert least <= len(found) <= most

    asyncio.run(story())


@pytest.mark.parametrize(
    "words", ["label ==", "(label == 'x'", "label == 'x')", "label FOO 'x'", "AND a == 1", ""]
)
def test_a_predicate_string_that_can_not_be_read_is_refused(words: str) -> None:
    with pytest.raises(BadQuery):
        predicate(words)
