"""The hub: numbers without gaps, snapshots, replay, merging, and slow browsers that disturb nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.desk.hub import MOST_BEHIND, FrameRing
from tests.unit.desk.office import Office


async def moved(here: Office, count: int) -> None:
    """As many frames."""
    for _ in range(count):
        number = here.desk.hub.ring.last
        await here.do("window.move", "a", x=number % 500 + 1, y=number % 300 + 1)
        here.desk.hub.flush()


def test_the_ring_keeps_five_thousand_frames() -> None:
    ring = FrameRing(0)
    for number in range(1, 6_001):
        ring.append(str(number))
    assert (ring.oldest_number, ring.last) == (1_001, 6_000)
    assert ring.get(1_001) == "1001"
    assert ring.covers(1_000)
    assert not ring.covers(999)


def test_huge_frames_push_old_ones_out_and_the_newest_always_stays() -> None:
    ring = FrameRing(0, size=1_000)
    for _ in range(5):
        ring.append("x" * 400)
    assert (ring.oldest_number, ring.last) == (4, 5)
    ring.append("x" * 5_000)
    assert (ring.oldest_number, ring.last) == (6, 6)


async def test_a_slow_browser_gets_a_snapshot_and_the_quick_one_every_frame(here: Office) -> None:
    await here.create("a")
    slow, quick = here.browser(name="slow"), here.browser(name="quick")
    await slow.next()
    await quick.next()
    for _ in range(MOST_BEHIND + 5):
        await moved(here, 1)
        await quick.catch_up()
    assert (await slow.next())["type"] == "SNAPSHOT"
    assert slow.state == quick.state == here.desk.snapshot()
    assert len(quick.frames) == MOST_BEHIND + 6


@pytest.mark.parametrize("said", ["\ud800", float("nan"), float("inf")])
async def test_whatever_a_phone_says_the_frame_stays_readable(here: Office, said: Any) -> None:
    page = here.browser()
    await page.next()
    here.desk.publish("ENVELOPE", actionId="1", lifecycleState="VERIFIED", seen=said)
    frame = str(await anext(page.client))
    assert "NaN" not in frame
    assert "Infinity" not in frame
    assert json.loads(frame)["seen"] in (said, None)


async def test_only_the_newest_picture_of_each_phone_waits(here: Office) -> None:
    page = here.browser()
    await page.next()
    for number in range(5):
        page.client.offer_binary(b"one%d" % number, key="one")
        page.client.offer_binary(b"two%d" % number, key="two")
    assert [await anext(page.client), await anext(page.client)] == [b"one4", b"two4"]


async def test_text_goes_before_pictures(here: Office) -> None:
    page = here.browser()
    await page.next()
    page.client.offer_binary(b"picture")
    await here.create("a")
    here.desk.hub.flush()
    assert json.loads(str(await anext(page.client)))["type"] == "ACTIONS"
    assert await anext(page.client) == b"picture"
