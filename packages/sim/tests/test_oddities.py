"""What odd phones do: each oddity is on while it is asked for, and the phone is plain again afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

import pytest

from handrail_sim import shell
from handrail_sim.adbd.services import exec_service
from handrail_sim.channels.u2.server import Server, respond
from handrail_sim.screen.displays import DISPLAY_ID
from handrail_sim.shell.run import Answer
from tests.hand import Hand
from tests.test_shell_apps import apk

CONTACTS = "com.google.android.contacts"
SCREENCAP = "screencap -p"
PNG = b"\x89PNG\r\n\x1a\n"
OTHER_ID = DISPLAY_ID + 1


def with_hand(story: Callable[[Hand], Awaitable[None]]) -> None:
    async def play() -> None:
        await story(Hand())

    asyncio.run(play())


async def sh(hand: Hand, command: str) -> Answer:
    answer: Answer = await hand.run(shell.capture(hand.phone, command))
    return answer


async def rpc(hand: Hand, name: str, *params: Any) -> dict[str, Any]:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "%s", "params": [%s]}' % (
        name.encode(),
        ", ".join(str(one) for one in params).encode(),
    )
    answer: dict[str, Any] = await hand.run(respond(Server(hand.phone), body))
    return answer


class OneStream:
    """The other end of `exec:`: out and err come by the same way."""

    def __init__(self) -> None:
        self.data = bytearray()

    async def read(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        pass


def size_of(png: bytes) -> tuple[int, int]:
    image = pytest.importorskip("PIL.Image")
    size: tuple[int, int] = image.open(BytesIO(png)).size
    return size


# users


def test_a_work_profile_is_a_user_whom_the_shell_may_not_ask_about() -> None:
    async def story(hand: Hand) -> None:
        plain = (await sh(hand, "pm list packages")).text
        hand.phone.faults.add("work_profile")
        assert "UserInfo{10:Work profile:1030} running" in (await sh(hand, "pm list users")).text
        for command in (
            "pm list packages",
            "cmd package list packages -3 --user all",
            "pm list packages --user 10",
        ):
            refused = await sh(hand, command)
            assert refused.status == 255, command
            assert "Shell does not have permission to access user 10" in refused.errors
            assert refused.text == ""
        assert (await sh(hand, "pm list packages --user 0")).text == plain
        hand.phone.faults.clear()
        assert (await sh(hand, "pm list packages")).text == plain
        assert "10:" not in (await sh(hand, "pm list users")).text

    with_hand(story)


def test_an_app_of_the_work_profile_belongs_to_that_user_wherever_it_is_named() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("work_profile", refused=0, packages=CONTACTS)
        await hand.open(CONTACTS)
        focus = (await sh(hand, "dumpsys window displays | grep -e mCurrentFocus -e mFocusedApp")).text
        assert len(re.findall(r"\{\w+ u10 com\.google\.android\.contacts/", focus)) == 2
        activities = (await sh(hand, "dumpsys activity activities")).text
        assert re.search(
            r"topResumedActivity=ActivityRecord\{\w+ u10 com\.google\.android\.contacts/", activities
        )
        assert "u0 com.android.launcher3/" in activities
        assert "U=10" in activities
        listed = (await sh(hand, f"pm list packages -U {CONTACTS}")).text
        first, second = re.findall(r"\d{5,}", listed)
        assert int(second) == 1_000_000 + int(first)

    with_hand(story)


# displays


@pytest.mark.parametrize("first", [0, 1])
def test_a_second_display_is_listed_where_it_was_put_and_turned_its_own_way(first: int) -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("second_display", id=2, width=800, height=600, rotation=1, first=first)
        listed = (await sh(hand, "dumpsys window displays")).text
        numbers = [int(one) for one in re.findall(r"Display: mDisplayId=(\d+)", listed)]
        assert numbers == ([2, 0] if first else [0, 2])
        parts = dict(zip(numbers, listed.split("Display: mDisplayId=")[1:], strict=True))
        assert "cur=600x800" in parts[2]
        assert "mRotation=1" in parts[2]
        assert "mCurrentFocus=null" in parts[2]
        assert "cur=1080x2400" in parts[0]
        assert "mRotation=0" in parts[0]
        viewports = re.findall(
            r"displayId=(\d+).*?orientation=(\d)", (await sh(hand, "dumpsys display")).text
        )
        assert sorted(viewports) == [("0", "0"), ("2", "1")]
        assert (await sh(hand, "wm size -d 2")).text == "Physical size: 600x800\n"
        assert (await sh(hand, "wm size")).text == "Physical size: 1080x2400\n"
        assert (await sh(hand, "dumpsys SurfaceFlinger --display-id")).text.count("Display ") == 1

    with_hand(story)


def test_a_touch_on_the_second_display_does_not_arrive_on_the_first() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("second_display", id=2)
        await hand.open(CONTACTS)
        x, y = hand.find("Create new contact").centre
        await sh(hand, f"input -d 2 tap {x} {y}")
        await hand.settle()
        assert hand.sees("Create new contact")
        await sh(hand, f"input -d 0 tap {x} {y}")
        await hand.settle()
        assert not hand.sees("Create new contact")

    with_hand(story)


def test_a_picture_without_a_display_id_is_of_the_first_panel_and_says_so() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("second_display", physical=1, width=640, height=480)
        answer = await sh(hand, SCREENCAP)
        assert answer.errors.startswith("[Warning] Multiple displays were found")
        assert size_of(answer.stdout) == (1080, 2400)
        panels = re.findall(r"Display (\d+) ", (await sh(hand, "dumpsys SurfaceFlinger --display-id")).text)
        assert [size_of((await sh(hand, f"{SCREENCAP} -d {one}")).stdout) for one in panels] == [
            (1080, 2400),
            (640, 480),
        ]
        assert (await sh(hand, f"{SCREENCAP} -d {panels[0]}")).errors == ""
        assert (await sh(hand, f"{SCREENCAP} -d 77")).status == 1

    with_hand(story)


def test_a_fold_changes_size_and_the_first_panel_is_the_one_that_is_off() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(CONTACTS)
        hand.phone.faults.add("fold", width=900, height=1000, density=360)
        assert (
            await sh(hand, "wm size; wm density")
        ).text == "Physical size: 900x1000\nPhysical density: 360\n"
        assert hand.see()[0].bounds == (0, 0, 900, 1000)
        folded = await sh(hand, SCREENCAP)
        assert folded.errors.startswith("[Warning] Multiple")
        assert size_of(folded.stdout) == (1080, 2400)  # the inner one, which is dark
        assert size_of((await sh(hand, f"{SCREENCAP} -d {OTHER_ID}")).stdout) == (900, 1000)
        assert (await sh(hand, "sim fold open")).status == 0
        assert hand.see()[0].bounds == (0, 0, 1080, 2400)
        assert f"local:{DISPLAY_ID}" in (await sh(hand, "dumpsys display | grep mViewports")).text
        assert (await sh(hand, "sim fold close")).status == 0
        assert f"local:{OTHER_ID}" in (await sh(hand, "dumpsys display | grep mViewports")).text
        assert hand.sees("Create new contact")
        hand.phone.faults.clear("fold")
        assert (await sh(hand, "wm size")).text == "Physical size: 1080x2400\n"
        assert (await sh(hand, SCREENCAP)).errors == ""

    with_hand(story)


def test_a_warning_stands_before_the_picture_where_both_come_by_one_stream() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("screencap_warning")
        stream = OneStream()
        await hand.run(exec_service(hand.phone, SCREENCAP)(stream))
        text, _, rest = bytes(stream.data).partition(PNG)
        assert text.startswith(b"[Warning] Multiple displays")
        assert rest
        hand.phone.faults.add("screencap_warning", to="stdout", text="first words")
        assert (await sh(hand, SCREENCAP)).stdout.startswith(b"first words\n" + PNG)
        hand.phone.faults.clear()
        assert (await sh(hand, SCREENCAP)).stdout.startswith(PNG)

    with_hand(story)


# windows


def test_one_secure_window_is_black_and_the_others_are_not() -> None:
    async def story(hand: Hand) -> None:
        image = pytest.importorskip("PIL.Image")
        await hand.open(CONTACTS)
        hand.phone.faults.add("secure_window")
        windows = (await sh(hand, "dumpsys window windows")).text.split("  Window #")[1:]
        secure = [one for one in windows if " SECURE" in one]
        assert len(secure) == 1
        assert "Authenticator" in secure[0]
        assert "ty=APPLICATION_OVERLAY" in secure[0]
        left, top, right, bottom = next(one for one in hand.phone.windows() if one.secure).bounds
        picture = image.open(BytesIO(await hand.phone.screenshot())).convert("RGB")
        inside = picture.crop((left + 2, top + 2, right - 2, bottom - 2)).getcolors(4)
        assert [colour for _, colour in inside] == [(0, 0, 0)]
        assert len(picture.crop((0, 0, 1080, top)).getcolors(1 << 20)) > 4
        hand.phone.faults.add("secure_window", which="status_bar")
        assert [one.type for one in hand.phone.windows() if one.secure] == ["status_bar"]
        hand.phone.faults.clear()
        assert not any(one.secure for one in hand.phone.windows())

    with_hand(story)


def test_u2_lists_windows_in_any_order() -> None:
    async def story(hand: Hand) -> None:
        async def order() -> str:
            dump = (await rpc(hand, "dumpWindowHierarchy", "false", 50))["result"]
            return ",".join(re.findall(r'\r\n  <node index="0".*?bounds="(.*?)"', dump))

        await hand.open(CONTACTS)
        assert len({await order() for _ in range(6)}) == 1
        hand.phone.faults.add("windows_shuffled")
        assert len({await order() for _ in range(12)}) > 1

    with_hand(story)


# refusals


def test_a_denied_clipboard_reads_as_nothing_and_keeps_what_it_holds() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.clipboard = "Grüße"
        assert (await rpc(hand, "getClipboard"))["result"] == "Grüße"
        hand.phone.faults.add("clipboard_unreadable")
        assert (await rpc(hand, "getClipboard"))["result"] is None
        assert "Denying clipboard access to com.android.shell" in (await sh(hand, "logcat -d")).text
        assert hand.phone.clipboard == "Grüße"

    with_hand(story)


def test_refused_input_moves_nothing() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(CONTACTS)
        x, y = hand.find("Create new contact").centre
        before = len(hand.phone.input_log)
        hand.phone.faults.add("input_refused")
        answer = await sh(hand, f"input tap {x} {y}")
        assert answer.status == 255
        assert "INJECT_EVENTS" in answer.errors
        assert "executing 'tap'" in answer.errors
        assert len(hand.phone.input_log) == before
        assert "result" in await rpc(hand, "click", int(x), int(y))
        hand.phone.faults.add("input_refused", helpers=1)
        after = len(hand.phone.input_log)
        refused = await rpc(hand, "click", int(x), int(y))
        assert refused["error"]["message"] == "java.lang.SecurityException"
        assert len(hand.phone.input_log) == after
        assert "result" in await rpc(hand, "deviceInfo")

    with_hand(story)


@pytest.mark.parametrize(
    ("fault", "command", "words"),
    [
        (
            "grant_refused",
            f"pm grant {CONTACTS} android.permission.READ_CONTACTS",
            "GRANT_RUNTIME_PERMISSIONS",
        ),
        ("settings_refused", "settings put system screen_brightness 5", "WRITE_SECURE_SETTINGS"),
        ("settings_refused", "settings delete system screen_brightness", "WRITE_SECURE_SETTINGS"),
    ],
)
def test_what_a_vendor_forbids_the_shell_is_not_done(fault: str, command: str, words: str) -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add(fault)
        before = hand.phone.state()
        answer = await sh(hand, command)
        assert answer.status == 255
        assert words in answer.errors
        after = hand.phone.state()
        assert (after["settings"], after["permissions"]) == (before["settings"], before["permissions"])

    with_hand(story)


def test_an_installation_that_nobody_allows_on_the_phone_fails() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("install_refused")
        hand.phone.files.write("/data/local/tmp/a.apk", apk("org.example.app"))
        answer = await sh(hand, "pm install /data/local/tmp/a.apk")
        assert answer.text == "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]\n"
        assert "org.example.app" not in hand.phone.packages.installed
        hand.phone.faults.clear()
        assert (await sh(hand, "pm install /data/local/tmp/a.apk")).text == "Success\n"

    with_hand(story)


def test_lines_of_a_vendor_come_before_what_a_command_says() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("oem_lines", command="wm", text="VENDOR: one\\nVENDOR: two")
        assert (await sh(hand, "wm size")).text == "VENDOR: one\nVENDOR: two\nPhysical size: 1080x2400\n"
        assert "VENDOR" not in (await sh(hand, "getprop ro.serialno")).text
        hand.phone.faults.add("oem_lines", command="wm", text="VENDOR", to="stderr")
        answer = await sh(hand, "wm size")
        assert (answer.text, answer.errors) == ("Physical size: 1080x2400\n", "VENDOR\n")

    with_hand(story)
