from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.faults import PROFILES
from handrail_sim.shell.call import Call
from handrail_sim.shell.io import BufferSink, Nothing
from handrail_sim.shell.sim_command import sim_command
from tests.hand import Hand


class Sim:
    """Runs `sim …` on a phone, without the shell's own grammar."""

    def __init__(self) -> None:
        self.hand = Hand()

    async def __call__(self, *words: str) -> tuple[int, str]:
        out, session = BufferSink(), Any
        call = Call(self.hand.phone, ["sim", *words], session, Nothing(), out, out)  # type: ignore[arg-type]
        status = await sim_command(call)
        return status, out.value().decode()


def with_sim(story: Callable[[Sim], Awaitable[None]]) -> None:
    async def play() -> None:
        await story(Sim())

    asyncio.run(play())


def test_state_is_json_and_can_be_asked_for_in_part() -> None:
    async def story(sim: Sim) -> None:
        _, text = await sim("state")
        whole = json.loads(text)
        assert "com.handrail.notes" in whole["apps"]
        _, text = await sim("state", "apps.com.handrail.notes")
        assert json.loads(text) == whole["apps"]["com.handrail.notes"]
        status, text = await sim("state", "apps.nothing")
        assert (status, text) == (1, "sim: nothing at 'apps.nothing'\n")

    with_sim(story)


def test_a_snapshot_brings_the_phone_back() -> None:
    async def story(sim: Sim) -> None:
        before = sim.hand.phone.dump()
        assert await sim("snapshot", "start") == (0, "snapshot start\n")
        await sim.hand.open("com.google.android.contacts")
        assert sim.hand.phone.dump() != before
        assert await sim("restore", "start") == (0, "restored start\n")
        await sim.hand.settle()
        assert sim.hand.phone.dump() == before
        status, text = await sim("restore", "never")
        assert status == 1
        assert "there are: start" in text

    with_sim(story)


def test_faults_by_command() -> None:
    async def story(sim: Sim) -> None:
        assert await sim("fault", "add", "latency", "command=input", "ms=60") == (0, "fault latency on\n")
        assert sim.hand.phone.faults.latency_ms("input") == 60
        _, text = await sim("fault", "list")
        assert json.loads(text)["fault"] == "latency"
        assert await sim("fault", "clear", "latency") == (0, "1 cleared\n")
        await sim("fault", "add", "hardware")
        status, text = await sim("fault", "clear")
        assert (status, text) == (0, f"{len(PROFILES['hardware'])} cleared\n")
        status, text = await sim("fault", "add", "gremlins")
        assert status == 2
        assert "no fault 'gremlins'" in text
        assert (await sim("fault", "add", "latency", "ms"))[0] == 2

    with_sim(story)


def test_messages_and_notifications_arrive() -> None:
    async def story(sim: Sim) -> None:
        assert (await sim("sms", "+1 555 0100", "Your", "code", "is", "1234"))[0] == 0
        assert "1234" in json.dumps(sim.hand.phone.state(), ensure_ascii=False)
        assert (await sim("notify", "com.handrail.shop", "Parcel", "is here"))[0] == 0
        assert sim.hand.phone.notifications.posted[-1].title == "Parcel"
        assert (await sim("notify", "no.such.app", "a", "b"))[0] == 1
        assert (await sim("sms", "only one word"))[0] == 2

    with_sim(story)


def test_help_and_unknown_words() -> None:
    async def story(sim: Sim) -> None:
        status, text = await sim()
        assert status == 0
        assert text.startswith("usage: sim COMMAND")
        assert (await sim("dance"))[0] == 2

    with_sim(story)
