from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from xml.etree import ElementTree

from handrail_sim import shell
from handrail_sim.channels.u2 import METHODS
from handrail_sim.channels.u2.server import choose
from handrail_sim.stream import pair
from tests.automator import Automator, sel, with_automator
from tests.hand import Hand

NOTES = "com.handrail.notes"
CONTACTS = "com.google.android.contacts"


def test_every_overload_of_the_jar_is_there() -> None:
    assert len(METHODS) == 72
    assert sum(len(overloads) for overloads in METHODS.values()) == 103


def test_device_info_is_what_the_phone_is() -> None:
    async def story(u2: Automator) -> None:
        info = await u2.call("deviceInfo")
        assert (info["displayWidth"], info["displayHeight"]) == (1080, 2400)
        assert info["currentPackageName"] == "com.android.launcher3"
        assert info["sdkInt"] == 34
        assert info["naturalOrientation"] is True

    with_automator(story)


def test_a_dump_has_every_window_and_androidx_attributes() -> None:
    async def story(u2: Automator) -> None:
        root = ElementTree.fromstring((await u2.call("dumpWindowHierarchy", False, 50)).encode())
        packages = [node.attrib["package"] for node in root]
        assert "com.android.launcher3" in packages  # in no order
        assert "com.android.systemui" in packages
        names = list(root[0].attrib)
        assert names[-5:] == ["visible-to-user", "bounds", "drawing-order", "hint", "display-id"]
        only = ElementTree.fromstring((await u2.call("dumpWindowHierarchy", False, 50, True)).encode())
        assert len(only) == 1
        shallow = ElementTree.fromstring((await u2.call("dumpWindowHierarchy", False, 0)).encode())
        assert len(shallow[0]) == 0

    with_automator(story)


def test_a_selector_finds_clicks_and_reports() -> None:
    async def story(u2: Automator) -> None:
        await u2.hand.open(CONTACTS)
        fab = sel(description="Create new contact")
        assert await u2.call("exist", fab)
        info = await u2.call("objInfo", fab)
        assert info["clickable"]
        assert info["packageName"] == CONTACTS
        assert info["bounds"] == info["visibleBounds"]
        left, top, right, bottom = (info["bounds"][name] for name in ("left", "top", "right", "bottom"))
        assert await u2.call("click", (left + right) / 2, (top + bottom) / 2)
        assert await u2.call("waitForExists", sel(className="android.widget.EditText"), 3000)
        assert not await u2.call("exist", fab)

    with_automator(story)


def test_set_text_focuses_the_field_and_replaces_what_is_there() -> None:
    async def story(u2: Automator) -> None:
        await u2.hand.open(CONTACTS)
        await u2.hand.tap("Create new contact")
        field = sel(className="android.widget.EditText", instance=0)
        first = (await u2.call("objInfo", field))["resourceName"]
        named = sel(resourceId=first)
        assert await u2.call("setText", named, "Ada Sample") is True
        assert await u2.call("setText", named, "Grüße 你好") is True
        assert await u2.call("getText", named) == "Grüße 你好"
        assert (await u2.call("objInfo", named))["focused"]
        assert await u2.call("clearTextField", named) is None
        assert await u2.call("getText", named) != "Grüße 你好"

    with_automator(story)


def test_a_missing_object_is_javas_exception() -> None:
    async def story(u2: Automator) -> None:
        error = (await u2.reply("objInfo", sel(text="nowhere")))["error"]
        assert error["code"] == -32001
        assert error["message"] == "androidx.test.uiautomator.UiObjectNotFoundException"
        assert error["data"] == "UiSelector[TEXT=nowhere]"
        nested = sel(("child", sel(text="x", instance=2)), className="android.view.View", clickable=True)
        error = (await u2.reply("getText", nested))["error"]
        wanted = "UiSelector[CLASS=android.view.View, CLICKABLE=true, CHILD=UiSelector[TEXT=x, INSTANCE=2]]"
        assert error["data"] == wanted

    with_automator(story)


def test_what_the_jar_does_not_know_is_not_found() -> None:
    async def story(u2: Automator) -> None:
        assert (await u2.reply("makeToast", "x", 1))["error"]["code"] == -32601
        assert (await u2.reply("click", "a", "b", "c", "d"))["error"]["code"] == -32602
        assert (await u2.reply("exist", sel(textMatches="(")))["error"]["message"].endswith(
            "PatternSyntaxException"
        )
        broken = await u2.request("POST", "/jsonrpc/0", b"{")
        assert json.loads(broken.body)["error"]["code"] == -32700
        assert (await u2.request("GET", "/nothing")).status == 404

    with_automator(story)


def test_child_sibling_count_and_instances() -> None:
    async def story(u2: Automator) -> None:
        await u2.hand.open("com.android.settings")
        rows = sel(("child", sel(className="android.widget.TextView")), scrollable=True)
        number = await u2.call("count", rows)
        infos = await u2.call("objInfoOfAllInstances", rows)
        assert number == len(infos) > 3
        texts = [info["text"] for info in infos]
        one = sel(("child", sel(className="android.widget.TextView", instance=2)), scrollable=True)
        assert (await u2.call("objInfo", one))["text"] == texts[2]
        assert await u2.call("count", sel(className="android.widget.TextView", instance=1000)) == 0
        beside = sel(("sibling", sel(className="android.widget.TextView", instance=1)), text=texts[0])
        assert await u2.call("exist", beside) in (True, False)

    with_automator(story)


def test_waits_run_on_the_phones_clock() -> None:
    async def story(u2: Automator) -> None:
        clock = u2.hand.clock
        before = clock.monotonic_ms()
        assert not await u2.call("waitForExists", sel(text="nowhere"), 2000)
        assert clock.monotonic_ms() - before >= 2000
        u2.hand.phone.later(500, lambda: u2.hand.phone.start_activity(package=CONTACTS))
        assert await u2.call("waitForExists", sel(packageName=CONTACTS), 5000)
        u2.hand.phone.later(500, lambda: u2.hand.phone.key(3))
        assert await u2.call("waitUntilGone", sel(packageName=CONTACTS), 5000)

    with_automator(story)


def test_keys_clipboard_and_paste() -> None:
    async def story(u2: Automator) -> None:
        await u2.hand.open(CONTACTS)
        await u2.hand.tap("Create new contact")
        await u2.call("click", sel(className="android.widget.EditText", instance=0))
        await u2.call("setClipboard", None, "from the clipboard")
        assert await u2.call("getClipboard") == "from the clipboard"
        assert await u2.call("pasteClipboard") is None
        assert await u2.call("exist", sel(text="from the clipboard"))
        await u2.call("clearInputText")
        assert not await u2.call("exist", sel(text="from the clipboard"))
        assert await u2.call("pressKey", "home") is True
        assert (await u2.call("deviceInfo"))["currentPackageName"] == "com.android.launcher3"
        assert await u2.call("pressKey", "no such key") is False
        assert await u2.call("pressKeyCode", 4) is True

    with_automator(story)


def test_toasts_are_heard() -> None:
    async def story(u2: Automator) -> None:
        assert await u2.call("getLastToast") is None
        u2.hand.phone.notify("com.google.android.apps.messaging", "Ada", "no toast")
        u2.hand.phone.toast("Saved")
        assert await u2.call("getLastToast") == "Saved"
        await u2.call("clearLastToast")
        assert await u2.call("getLastToast") is None

    with_automator(story)


def test_scrolling_goes_to_the_end_and_back_and_finds() -> None:
    async def story(u2: Automator) -> None:
        await u2.hand.open("com.handrail.shop")
        group = sel(scrollable=True, instance=0)
        top = u2.hand.words()
        await u2.call("scrollForward", group, True, 55)
        assert u2.hand.words() != top
        assert await u2.call("scrollToBeginning", group, True, 10, 55) is True
        assert u2.hand.words() == top
        assert await u2.call("flingForward", group, True) in (True, False)
        assert await u2.call("scrollTo", group, sel(text="no such product"), True) is False

    with_automator(story)


def test_screenshots_are_jpeg() -> None:
    async def story(u2: Automator) -> None:
        chosen = choose("takeScreenshot", [1, 80])
        assert chosen is not None
        overload, values = chosen
        picture = b64decode(await overload.run(u2.server, *values))
        assert picture[:3] == b"\xff\xd8\xff"

    with_automator(story)


def test_rotation_notifications_and_found_objects() -> None:
    async def story(u2: Automator) -> None:
        await u2.call("setOrientation", "left")
        info = await u2.call("deviceInfo")
        assert (info["displayRotation"], info["displayWidth"]) == (1, 2400)
        await u2.call("setOrientation", "natural")
        assert await u2.call("openNotification")
        assert await u2.call("exist", sel(packageName="com.android.systemui"))
        await u2.call("pressKey", "back")
        name = await u2.call("getUiObject", sel(packageName="com.android.launcher3"))
        assert await u2.call("exist", name)
        assert (await u2.call("objInfo", name))["packageName"] == "com.android.launcher3"
        await u2.hand.wait(61_000)
        assert not await u2.call("exist", name)

    with_automator(story)


def test_a_gesture_is_made_of_two_fingers() -> None:
    async def story(u2: Automator) -> None:
        await u2.call("pinchOut", sel(packageName="com.android.launcher3"), 80, 10)
        fingers = {event["pointer"] for event in u2.hand.phone.input_log if "pointer" in event}
        assert fingers == {0, 1}
        assert await u2.call("swipePoints", [100, 900, 200, 900, 300, 900], 5)
        assert await u2.call("injectInputEvent", 0, 10.0, 900.0, 0)
        assert await u2.call("injectInputEvent", 1, 10.0, 900.0, 0)
        assert await u2.call("click", -5, 3) is False

    with_automator(story)


def test_a_swipe_pauses_between_its_steps() -> None:
    async def story(u2: Automator) -> None:
        clock = u2.hand.clock
        for steps, took in ((1, 0), (2, 5), (20, 95)):
            before = clock.monotonic_ms()
            assert await u2.call("swipe", 540, 1200, 540, 1200, steps)
            assert took <= clock.monotonic_ms() - before < took + 8  # the story moves the clock by 8 ms

    with_automator(story)


START = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"


async def ping(hand: Hand) -> bytes:
    """What a client reads from the phone's port 9008."""
    ours, theirs = pair()
    served = asyncio.ensure_future(hand.phone.ports["tcp:9008"](theirs))
    await ours.write(b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n")
    answer = b""
    while data := await ours.read():
        answer += data
    await served
    return answer


def test_the_server_lives_as_long_as_its_command() -> None:
    async def story() -> None:
        hand = Hand()
        hand.phone.files.write("/data/local/tmp/u2.jar", b"PK")
        assert "tcp:9008" not in hand.phone.ports
        running = asyncio.ensure_future(shell.capture(hand.phone, START))
        for _ in range(20):
            await asyncio.sleep(0)
        assert (await ping(hand)).endswith(b"\r\n\r\npong")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert "tcp:9008" not in hand.phone.ports

    asyncio.run(story())
