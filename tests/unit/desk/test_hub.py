"""The hub: numbers without gaps, snapshots, replay, merging, and slow browsers that disturb nobody."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from handrail.desk.hub import MOST_BEHIND, FrameRing
from handrail.protocol.message import SERVER_MESSAGE
from tests.unit.desk.office import Office, office, settled
from tests.unit.desk.scene import action


async def moved(here: Office, count: int) -> None:
    """As many frames."""
    for _ in range(count):
        number = here.desk.hub.ring.last
        await here.do("window.move", "a", x=number % 500 + 1, y=number % 300 + 1)
        here.desk.hub.flush()


async def test_a_browser_that_joins_gets_the_whole_state(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        page = here.browser()
        frame = await page.next()
        SERVER_MESSAGE.validate_python(frame)
        assert frame["type"] == "SNAPSHOT"
        assert frame["state"] == here.desk.snapshot()
        assert list(frame["state"]["windows"]) == ["monitor-0/a"]


async def test_a_browser_that_applies_the_changes_has_the_desks_state(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        await here.create("a", content={"renderer": "markdown", "data": "# secret"})
        await here.do("toast.show", id="t", message="hi")
        await here.do("window.close", "a")
        await here.create("b")
        await page.catch_up()
        assert page.state == here.desk.snapshot()
        for frame in page.frames:
            SERVER_MESSAGE.validate_python(frame)


async def test_rendered_text_travels_with_the_action_and_not_with_the_state(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        await here.create("a", content={"renderer": "html", "data": "<b>x</b>"})
        frame = await page.next()
        assert frame["actions"][0]["content"]["data"] == "<b>x</b>"
        assert page.state["windows"]["monitor-0/a"]["content"] == {"renderer": "html"}
        assert frame["agentId"] == "ada"


async def test_transactions_that_come_close_together_are_one_frame(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        await here.create("a")
        await here.do("window.move", "a", x=5, y=5)
        await here.do("window.move", "a", x=6, y=6, by="bob")
        frame = await page.next()
        assert [act["type"] for act in frame["actions"]] == [
            "window.create",
            "window.move",
            "window.move",
        ]
        assert frame["changes"]["windows"]["monitor-0/a"]["bounds"]["x"] == 6
        assert "agentId" not in frame


async def test_a_no_op_is_told_to_nobody(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        here.desk.hub.flush()
        last = here.desk.hub.ring.last
        assert await here.do("window.focus", "a") == {"no_op": True}
        here.desk.hub.flush()
        assert here.desk.hub.ring.last == last


async def test_a_browser_that_was_away_gets_only_what_it_missed(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        page = here.browser()
        await page.next()
        page.client.close()
        await moved(here, 1_000)
        again = here.browser(since=page.seq)
        again.state, again.seq = page.state, page.seq
        await again.catch_up()
        assert len(again.frames) == 1_000
        assert {frame["type"] for frame in again.frames} == {"ACTIONS"}
        assert again.state == here.desk.snapshot()


async def test_a_browser_that_was_away_too_long_gets_a_snapshot(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        for since in (here.desk.hub.ring.last + 999, 10**15):
            assert (await here.browser(since=since).next())["type"] == "SNAPSHOT"
        here.desk.hub.ring = FrameRing(here.desk.hub.ring.last, frames=10)
        await moved(here, 20)
        assert (await here.browser(since=here.desk.hub.ring.last - 11).next())["type"] == "SNAPSHOT"
        assert (await here.browser(since=here.desk.hub.ring.last - 10).next())["type"] == "ACTIONS"


def test_the_ring_keeps_five_thousand_frames() -> None:
    ring = FrameRing(0)
    for number in range(1, 6_001):
        ring.append(str(number))
    assert (ring.first, ring.last) == (1_001, 6_000)
    assert ring.get(1_001) == "1001"
    assert ring.covers(1_000)
    assert not ring.covers(999)


def test_huge_frames_push_old_ones_out_and_the_newest_always_stays() -> None:
    ring = FrameRing(0, size=1_000)
    for _ in range(5):
        ring.append("x" * 400)
    assert (ring.first, ring.last) == (4, 5)
    ring.append("x" * 5_000)
    assert (ring.first, ring.last) == (6, 6)


async def test_a_slow_browser_gets_a_snapshot_and_the_quick_one_every_frame(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
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


async def test_published_frames_share_the_numbers_and_follow_what_was_done_before(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        heard: list[tuple[str, dict[str, Any]]] = []
        here.desk.on_publish.append(lambda kind, fields: heard.append((kind, fields)))
        page = here.browser()
        await page.next()
        await here.create("a")
        here.desk.publish("AGENT_STATUS", agent_id="ada", status="acting", message=None)
        first, second = await page.next(), await page.next()
        assert (first["type"], second["type"]) == ("ACTIONS", "AGENT_STATUS")
        assert second["seq"] == first["seq"] + 1
        assert second["agentId"] == "ada"
        assert "message" not in second
        SERVER_MESSAGE.validate_python(second)
        assert heard[0][0] == "AGENT_STATUS"


@pytest.mark.parametrize("said", ["\ud800", float("nan"), float("inf")])
async def test_whatever_a_phone_says_the_frame_stays_readable(tmp_path: Path, said: Any) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        here.desk.publish("ENVELOPE", actionId="1", lifecycleState="VERIFIED", seen=said)
        frame = str(await anext(page.client))
        assert "NaN" not in frame
        assert "Infinity" not in frame
        assert json.loads(frame)["seen"] in (said, None)


async def test_a_frame_for_one_browser_takes_no_number(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        one, other = here.browser(name="one"), here.browser(name="other")
        await one.next()
        await other.next()
        await here.create("a")
        here.desk.hub.send(one.client, "ERROR", {"code": "INVALID_ACTION", "path": "x", "message": "no"})
        await here.create("b")
        kinds = [(await one.next())["type"] for _ in range(3)]
        assert kinds == ["ACTIONS", "ERROR", "ACTIONS"]
        await other.catch_up()
        assert [frame["type"] for frame in other.frames] == ["SNAPSHOT", "ACTIONS", "ACTIONS"]
        assert one.seq == other.seq


async def test_only_the_newest_picture_of_each_phone_waits(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        for number in range(5):
            page.client.offer_binary(b"one%d" % number, key="one")
            page.client.offer_binary(b"two%d" % number, key="two")
        assert [await anext(page.client), await anext(page.client)] == [b"one4", b"two4"]


async def test_text_goes_before_pictures(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        page = here.browser()
        await page.next()
        page.client.offer_binary(b"picture")
        await here.create("a")
        here.desk.hub.flush()
        assert json.loads(str(await anext(page.client)))["type"] == "ACTIONS"
        assert await anext(page.client) == b"picture"


def test_closing_a_browser_ends_its_frames(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            page = here.browser()

            async def read() -> int:
                return len([frame async for frame in page.client])

            reading = asyncio.ensure_future(read())
            await settled()
            page.client.close()
            assert await reading == 1
            assert here.desk.hub.clients == []

    asyncio.run(story())


async def test_the_end_of_the_desk_ends_every_browser(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        pages = [here.browser(name=str(number)) for number in range(3)]
        await here.desk.close()
        assert [[frame async for frame in page.client] for page in pages] == [[], [], []]


async def test_a_batch_is_one_frame_and_one_transaction(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        page = here.browser()
        await page.next()
        details = await here.desk.apply_batch(
            [action("window.minimize", windowId="a"), action("app.badge", appId="x", count=1)],
            "ada",
            False,
        )
        assert details == [{}, {}]
        assert len((await page.next())["actions"]) == 2
