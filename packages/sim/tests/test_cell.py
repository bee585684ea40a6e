from __future__ import annotations

import asyncio

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.system.cell import Cell
from tests.hand import Hand

MESSAGING = "com.google.android.apps.messaging"


def two_phones() -> tuple[Hand, Hand]:
    clock = ManualClock()
    phones = [Phone(clock=clock, seed=number, apps=["messages"]) for number in (1, 2)]
    Cell(phones)
    return Hand(phones[0]), Hand(phones[1])


def received(hand: Hand) -> list[tuple[str, str]]:
    threads = hand.phone.state()["apps"][MESSAGING]["threads"]
    return [(t["address"], m["text"]) for t in threads for m in t["messages"] if m["kind"] == "received"]


async def send(hand: Hand, number: str, words: str) -> None:
    hand.phone.start_activity(data=f"smsto:{number}?body={words}", action="android.intent.action.SENDTO")
    await hand.wait(1_000)
    await hand.tap("Send SMS")


def test_a_message_reaches_the_phone_with_that_number() -> None:
    async def story() -> None:
        ann, bob = two_phones()
        await send(ann, bob.phone.number, "Hello")
        assert (ann.phone.number, "Hello") in received(bob)
        assert (bob.phone.number, "Hello") not in received(ann)

    asyncio.run(story())


def test_the_short_form_of_an_emulator_is_enough() -> None:
    async def story() -> None:
        ann, bob = two_phones()
        await send(bob, "5554", "Back")
        assert (bob.phone.number, "Back") in received(ann)

    asyncio.run(story())


def test_in_airplane_mode_nothing_arrives_until_it_is_sent_again() -> None:
    async def story() -> None:
        ann, bob = two_phones()
        ann.phone.put_setting("global", "airplane_mode_on", "1")
        await send(ann, bob.phone.number, "Late")
        assert (ann.phone.number, "Late") not in received(bob)
        ann.phone.put_setting("global", "airplane_mode_on", "0")
        await ann.tap("Late")
        assert (ann.phone.number, "Late") in received(bob)

    asyncio.run(story())


def test_a_phone_alone_sends_to_nobody() -> None:
    async def story() -> None:
        ann = Hand(Phone(clock=ManualClock(), apps=["messages"]))
        await send(ann, "5556", "Anybody?")
        assert "Anybody?" in ann.phone.dump()

    asyncio.run(story())
