"""Same seed and same inputs at the same times: the same dumps and the same pictures, byte for byte."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from tests.hand import Hand


async def a_busy_day(seed: int) -> list[str]:
    """What an afternoon on the phone looks like, as hashes of every dump and picture."""
    hand = Hand(seed=seed)
    seen: list[str] = []

    async def look() -> None:
        await hand.settle()
        picture = await hand.phone.screenshot()
        seen.append(sha256(hand.phone.dump(all_windows=True).encode() + picture).hexdigest())

    await look()
    await hand.open("com.google.android.contacts")
    await look()
    await hand.tap("Create new contact")
    await hand.fill("First name", "Marigold")
    await look()
    await hand.tap("Save")
    await look()
    hand.phone.receive_sms("+44 20 7946 0101", "Your code is 482913")
    await look()
    await hand.open("com.handrail.shop")
    await hand.wait(1_500)
    await hand.scroll()
    await look()
    hand.phone.set_rotation(1)
    await look()
    hand.phone.set_rotation(0)
    await hand.open("com.handrail.gallery")
    await look()
    await hand.tap("Allow")
    await look()
    await hand.home()
    await look()
    return seen


def test_the_same_inputs_give_the_same_dumps_and_pictures_twice() -> None:
    first, second = (asyncio.run(a_busy_day(7)) for _ in range(2))
    assert len(set(first)) >= 8, "the screens of the day differ from each other"
    assert first == second


def test_another_seed_is_another_phone() -> None:
    assert asyncio.run(a_busy_day(7)) != asyncio.run(a_busy_day(8))
