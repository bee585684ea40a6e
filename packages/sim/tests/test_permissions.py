"""Runtime permissions: the prompt, its answers, what is remembered."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with

CAMERA = "android.permission.CAMERA"
CONTROLLER = "com.android.permissioncontroller"


async def asked(hand: Hand | None = None) -> Hand:
    hand = hand or phone_with(Grocer)
    hand.phone.start_activity(f"{PACKAGE}/.Detail", extras={"name": "Milk"})
    await hand.settle()
    await hand.tap("camera")
    return hand


def last(hand: Hand) -> Any:
    return hand.phone.state()["front"]["state"].get("last")


def test_the_prompt_belongs_to_the_permission_controller() -> None:
    async def story() -> None:
        hand = await asked()
        message = hand.find(f"{CONTROLLER}:id/permission_message")
        assert message.text == "Allow Grocer to take pictures and record video?"
        assert message["package"] == CONTROLLER
        window = hand.phone.focused_window()
        assert window is not None
        assert window.component.endswith("GrantPermissionsActivity")
        ids = [seen.id.rpartition("/")[2] for seen in hand.see() if seen["class"] == "android.widget.Button"]
        assert ids == [
            "permission_allow_foreground_only_button",
            "permission_allow_one_time_button",
            "permission_deny_button",
        ]

    asyncio.run(story())


def test_a_granted_permission_is_not_asked_for_again() -> None:
    async def story() -> None:
        hand = await asked()
        await hand.tap("permission_allow_foreground_only_button")
        assert last(hand) == "camera True"
        assert hand.phone.packages.is_granted(PACKAGE, CAMERA)
        await hand.tap("camera")
        assert not hand.sees("permission_message")

    asyncio.run(story())


def test_a_permission_for_this_time_ends_with_the_process() -> None:
    async def story() -> None:
        hand = await asked()
        await hand.tap("permission_allow_one_time_button")
        assert hand.phone.packages.is_granted(PACKAGE, CAMERA)
        hand.phone.force_stop(PACKAGE)
        assert not hand.phone.packages.is_granted(PACKAGE, CAMERA)

    asyncio.run(story())


def test_a_permission_denied_twice_is_never_asked_for_again() -> None:
    async def story() -> None:
        hand = await asked()
        await hand.tap("permission_deny_button")
        assert last(hand) == "camera False"
        await hand.tap("camera")
        await hand.back()
        await hand.tap("camera")
        assert not hand.sees("permission_message")
        assert last(hand) == "camera False"

    asyncio.run(story())


def test_home_hides_the_prompt_and_coming_back_shows_it_again() -> None:
    async def story() -> None:
        hand = await asked()
        await hand.home()
        assert not hand.sees("permission_message")
        await hand.open(PACKAGE)
        assert hand.sees("permission_message")

    asyncio.run(story())


def test_a_touch_beside_the_prompt_does_nothing() -> None:
    async def story() -> None:
        hand = await asked()
        await hand.tap_at(540, 200)
        assert hand.sees("permission_message")

    asyncio.run(story())


def test_a_harmless_permission_is_granted_and_an_unrequested_one_never() -> None:
    packages = phone_with(Grocer).phone.packages
    assert packages.is_granted(PACKAGE, "android.permission.INTERNET")
    assert not packages.is_granted(PACKAGE, "android.permission.READ_SMS")
    packages.grant(PACKAGE, CAMERA)
    assert packages.granted(PACKAGE) == {CAMERA, "android.permission.INTERNET"}
    packages.revoke(PACKAGE, CAMERA)
    assert CAMERA not in packages.granted(PACKAGE)
