"""What the world does to a phone, by three doors: `sim …`, the emulator's console, Python."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from handrail_sim import shell
from handrail_sim.apps.bank import CUSTOMER, PASSWORD
from handrail_sim.channels.emulator import HELP, Console
from handrail_sim.errors import BadSetting
from handrail_sim.shell.run import Answer
from tests.hand import Hand

BANK, BROWSER, CONTACTS, SHOP = (
    "com.handrail.bank",
    "com.handrail.browser",
    "com.google.android.contacts",
    "com.handrail.shop",
)
INCALL = "com.google.android.dialer"
NUMBER = "+15550142"
END_CALL, VOLUME_DOWN = 6, 25


def with_hand(story: Callable[[Hand], Awaitable[None]]) -> None:
    async def play() -> None:
        await story(Hand())

    asyncio.run(play())


async def sh(hand: Hand, command: str) -> Answer:
    answer: Answer = await hand.run(shell.capture(hand.phone, command))
    return answer


def shown(hand: Hand) -> list[str]:
    """What can be read in any window."""
    return [view.text for window in hand.phone.windows() for view in window.views() if view.text]


async def press(hand: Hand, words: str) -> None:
    """Tap it in whichever window it is."""
    found = [view for window in hand.phone.windows() for view in window.views() if view.text == words]
    assert found, f"{words!r} is not among {shown(hand)}"
    await hand.tap_at(found[-1].x + found[-1].w / 2, found[-1].y + found[-1].h / 2)


async def call_state(hand: Hand) -> str:
    text = (await sh(hand, "dumpsys telephony.registry")).text
    return text.partition("mCallState=")[2].partition("\n")[0]


# calls


def test_a_call_rings_over_the_app_in_front_until_it_is_answered_and_is_logged() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(CONTACTS)
        assert await call_state(hand) == "0"
        assert (await sh(hand, f"sim call {NUMBER}")).status == 0
        await hand.wait(20_000)  # a banner of another kind would be gone by now
        assert {NUMBER, "Incoming call", "Answer", "Decline"} <= set(shown(hand))
        assert hand.see()[0]["package"] == CONTACTS
        assert await call_state(hand) == "1"
        assert f"mCallIncomingNumber={NUMBER}" in (await sh(hand, "dumpsys telephony.registry")).text
        await press(hand, "Answer")
        assert hand.see()[0]["package"] == INCALL
        assert await call_state(hand) == "2"
        await hand.wait(65_000)
        assert hand.sees("01:05")
        await hand.tap("Hang up")
        assert await call_state(hand) == "0"
        assert hand.see()[0]["package"] == CONTACTS
        assert [(one["number"], one["type"], one["duration"]) for one in hand.phone.call_log] == [
            (NUMBER, 1, 65)
        ]
        assert "Ongoing call" not in shown(hand)

    with_hand(story)


def test_a_call_wakes_a_phone_that_sleeps_and_fills_its_screen() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.set_awake(False)
        hand.phone.receive_call(NUMBER)
        await hand.settle()
        assert hand.phone.awake
        assert hand.see()[0]["package"] == INCALL
        await hand.tap("Decline")
        assert hand.phone.call_log[-1]["type"] == 5
        assert hand.phone.call is None

    with_hand(story)


def test_a_caller_who_gives_up_leaves_a_missed_call() -> None:
    async def story(hand: Hand) -> None:
        await sh(hand, f"sim call {NUMBER}")
        assert (await sh(hand, "sim call cancel")).status == 0
        assert hand.phone.call_log[-1]["type"] == 3
        posted = hand.phone.state()["notifications"]
        assert [(one["title"], one["text"]) for one in posted] == [("Missed call", NUMBER)]
        assert (await sh(hand, "sim call cancel")).status == 1
        assert (await sh(hand, "sim call accept")).status == 1

    with_hand(story)


def test_a_call_from_somebody_in_the_contacts_shows_the_name() -> None:
    async def story(hand: Hand) -> None:
        known = hand.app_state(CONTACTS)["contacts"][0]
        hand.phone.receive_call(known["phone"])
        assert known["name"] in shown(hand)

    with_hand(story)


def test_keys_answer_silence_and_end_a_call() -> None:
    async def story(hand: Hand) -> None:
        volume = hand.phone.volume
        hand.phone.receive_call(NUMBER)
        hand.phone.key(VOLUME_DOWN)
        assert hand.phone.volume == volume
        hand.phone.key(5)
        assert hand.phone.call is not None
        assert hand.phone.call["state"] == "active"
        hand.phone.key(END_CALL)
        assert hand.phone.call is None
        hand.phone.key(END_CALL)  # without a call it is a key like any other

    with_hand(story)


def test_a_message_during_a_call_does_not_take_the_call_away() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.receive_call(NUMBER)
        hand.phone.receive_sms("+15550199", "hello")
        await hand.wait(30_000)
        assert "Answer" in shown(hand)

    with_hand(story)


def test_a_snapshot_remembers_a_call_and_a_reboot_ends_it() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.receive_call(NUMBER)
        hand.phone.snapshot()
        hand.phone.end_call()
        hand.phone.restore()
        assert await call_state(hand) == "1"
        hand.phone.reboot()
        assert await call_state(hand) == "0"
        assert "Answer" not in shown(hand)

    with_hand(story)


def test_what_is_no_call_is_refused() -> None:
    async def story(hand: Hand) -> None:
        for number in ("", "nobody", "12;34"):
            with pytest.raises(BadSetting):
                hand.phone.receive_call(number)
        hand.phone.receive_call(NUMBER)
        assert "already" in (await sh(hand, "sim call 5551")).errors
        assert json.loads((await sh(hand, "sim call list")).text)["call"]["number"] == NUMBER

    with_hand(story)


# fingers


async def sign_in(hand: Hand) -> None:
    await hand.open(BANK)
    await hand.fill("customer", CUSTOMER)
    await hand.fill("password", PASSWORD)
    await hand.back()
    await hand.tap("Sign in")
    await hand.wait(4000)
    await hand.fill("code", hand.phone.tasks.top.state["code"] if hand.phone.tasks.top else "")
    await hand.back()
    await hand.tap("Continue")
    assert hand.app_state(BANK)["signed_in"]


def test_a_known_finger_signs_in_and_an_unknown_one_does_not() -> None:
    async def story(hand: Hand) -> None:
        await sign_in(hand)
        hand.phone.force_stop(BANK)
        await hand.open(BANK)
        assert not hand.app_state(BANK)["signed_in"]
        assert (await sh(hand, "sim finger touch 1")).text == "nobody asked\n"
        await hand.tap("Use fingerprint")
        assert "Touch the fingerprint sensor" in shown(hand)
        assert (await sh(hand, "sim finger touch 7")).text == "not recognized\n"
        assert "Not recognized" in shown(hand)
        assert not hand.app_state(BANK)["signed_in"]
        assert (await sh(hand, "sim finger touch 1")).text == "recognized\n"
        assert hand.app_state(BANK)["signed_in"]
        assert "Not recognized" not in shown(hand)

    with_hand(story)


@pytest.mark.parametrize("way", ["button", "back", "five wrong fingers"])
def test_a_prompt_for_a_finger_can_be_left(way: str) -> None:
    async def story(hand: Hand) -> None:
        await sign_in(hand)
        hand.phone.force_stop(BANK)
        await hand.open(BANK)
        await hand.tap("Use fingerprint")
        if way == "button":
            await press(hand, "Use password")
        elif way == "back":
            await hand.back()
        else:
            for _ in range(5):
                hand.phone.touch_finger(2)
        assert not any("fingerprint sensor" in words or "Not recog" in words for words in shown(hand))
        assert not hand.app_state(BANK)["signed_in"]
        assert hand.phone.touch_finger(1) == "nobody asked"

    with_hand(story)


# network


def test_apps_that_load_notice_a_network_that_is_gone() -> None:
    async def story(hand: Hand) -> None:
        await sh(hand, "sim network gone")
        await hand.open(BROWSER)
        await hand.wait(1000)
        assert hand.sees("ERR_INTERNET_DISCONNECTED")
        assert "VALIDATED" not in (await sh(hand, "dumpsys connectivity")).text.replace("everValidated", "")
        await sh(hand, "sim network back")
        await hand.tap("Reload")
        await hand.wait(1000)
        assert hand.sees("Harbour Library")
        await sh(hand, "svc wifi disable; svc data disable")
        await hand.tap("Reload")
        await hand.wait(1000)
        assert hand.sees("ERR_INTERNET_DISCONNECTED")

    with_hand(story)


def test_a_slow_network_takes_as_long_as_its_speed_and_delay_say() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(BROWSER)
        await hand.wait(1000)
        hand.phone.set_network(speed="gsm", delay="3000")
        await hand.tap("Reload")
        await hand.wait(60_000)  # 120 KB at 14.4 kbit/s are 68 seconds
        assert not hand.sees("Harbour Library")
        await hand.wait(15_000)
        assert hand.sees("Harbour Library")

    with_hand(story)


def test_a_shelf_that_cannot_load_says_so_and_can_be_tried_again() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(SHOP)
        hand.phone.set_network(gone=True)
        for _ in range(12):
            await hand.scroll(0.7)
        await hand.wait(1500)
        assert hand.sees("No connection")
        hand.phone.set_network(gone=False)
        await hand.tap("Retry")
        await hand.wait(1500)
        assert hand.phone.tasks.top is not None
        assert hand.phone.tasks.top.state["pages"] > 1

    with_hand(story)


# place and battery


def test_an_app_reads_the_place_once_it_may() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.start_activity(
            action="android.intent.action.VIEW", data="https://harbour.example/way", package=BROWSER
        )
        await hand.wait(1000)
        assert (await sh(hand, "sim location 52.52 13.405 34")).status == 0
        assert hand.sees("Your position is unknown")
        await hand.tap("Use my location")
        await press(hand, "While using the app")
        assert hand.sees("You are at 52.5200, 13.4050")
        assert "Location[gps 52.520000,13.405000" in (await sh(hand, "dumpsys location")).text
        hand.phone.set_location(-33.86, 151.21)
        assert hand.sees("You are at -33.8600, 151.2100")
        hand.phone.put_setting("secure", "location_mode", "0")
        assert hand.sees("Your position is unknown")
        for wrong in ("91 0", "x y", "1"):
            assert (await sh(hand, f"sim location {wrong}")).status == 2

    with_hand(story)


def test_the_battery_is_told_wherever_it_is_asked() -> None:
    async def story(hand: Hand) -> None:
        assert (await sh(hand, "sim battery 17 none")).status == 0
        told = (await sh(hand, "dumpsys battery")).text
        assert "level: 17\n" in told
        assert "status: 3\n" in told
        assert "powered: true" not in told
        assert "mIsPowered=false" in (await sh(hand, "dumpsys power")).text
        assert any(view.desc == "Battery 17 per cent." for view in hand.phone.systemui.status.views())
        await sh(hand, "sim battery 17 ac")
        assert "AC powered: true" in (await sh(hand, "dumpsys battery")).text
        for wrong in ("101", "-1", "50 sun", ""):
            assert (await sh(hand, f"sim battery {wrong}")).status == 2

    with_hand(story)


# the emulator's console


def test_the_console_knows_the_same_words() -> None:
    async def story(hand: Hand) -> None:
        console = Console(hand.phone, 5554)
        assert console.answer("gsm call 5551234") == "OK\r\n"
        assert console.answer("gsm list") == "inbound from 5551234    : incoming\r\nOK\r\n"
        assert console.answer("gsm accept 5551234") == "OK\r\n"
        assert ": active" in console.answer("gsm list")
        assert console.answer("gsm cancel 999").startswith("KO: ")
        assert console.answer("gsm cancel 5551234") == "OK\r\n"
        assert hand.phone.call_log[-1]["type"] == 1
        assert console.answer("power ac off") == "OK\r\n"
        assert "status: Discharging" in console.answer("power display")
        assert console.answer("power capacity 101").startswith("KO: ")
        assert console.answer("geo fix 13.4 52.5 40") == "OK\r\n"
        assert console.answer("finger touch 1") == "OK\r\n"
        assert console.answer("fold").startswith("KO: ")
        hand.phone.faults.add("fold", state="open")
        assert console.answer("fold") == "OK\r\n"
        assert hand.phone.displays.folded
        assert console.answer("unfold") == "OK\r\n"
        assert not hand.phone.displays.folded

    with_hand(story)


@pytest.mark.parametrize(
    "line",
    ["gsm", "gsm call", "gsm call x", "finger", "finger touch a", "power", "sms send x y", "geo", "network"],
)
def test_the_console_says_ko_to_what_it_does_not_do(line: str) -> None:
    async def story(hand: Hand) -> None:
        assert Console(hand.phone, 5554).answer(line).startswith("KO: ")

    with_hand(story)


def test_the_console_has_help_for_each_of_its_words() -> None:
    async def story(hand: Hand) -> None:
        console = Console(hand.phone, 5554)
        listed = console.answer("help")
        for name in HELP:
            assert f"    {name} " in listed
            assert console.answer(f"help {name}").endswith("\r\nOK\r\n")
        assert console.answer("help dance").startswith("KO: ")

    with_hand(story)
