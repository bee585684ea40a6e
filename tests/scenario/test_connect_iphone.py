"""`handrail connect` and the list that is watched, with iPhones on a cable that come and go."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from functools import partial
from pathlib import Path

from handrail.ios.discovery import watch_iphones
from handrail_sim.iphone import simulated_iphone
from tests.forked import handrail
from tests.scenario.world import play, play_live, usual_clock

ASYNC_RUNNER = play


async def test_an_iphone_is_followed_as_its_runner_and_its_cable_come_and_go() -> None:
    async with simulated_iphone(clock=usual_clock()) as iphone:
        env = {"USBMUXD_SOCKET_ADDRESS": iphone.usbmux, "PATH": ""}
        async with aclosing(watch_iphones(usual_clock(), env)) as lists:
            [ready] = await anext(lists)
            assert (ready.serial, ready.usable) == (f"ios:{iphone.udid}", True)
            iphone.phone.faults.load(["wda_gone"])
            [stopped] = await anext(lists)
            assert (stopped.usable, stopped.problem) == (False, "no WebDriverAgent runs on it")
            iphone.phone.faults.add("phone_gone")
            assert await anext(lists) == ()
            for fault in ("wda_gone", "phone_gone"):
                iphone.phone.faults.clear(fault)
            [again] = await anext(lists)
            assert again.serial == ready.serial


def test_connect_leads_to_a_look_and_says_that_it_is_experimental(tmp_path: Path) -> None:
    async def run() -> list[str]:
        async with simulated_iphone() as iphone:
            env = {"HANDRAIL_HOME": str(tmp_path), "HANDRAIL_NO_DAEMON": "1"}
            words = ("connect", f"ios:{iphone.wda_url}", "--json", "--out", str(tmp_path / "shot.png"))
            done = await asyncio.to_thread(partial(handrail, *words, env=env))
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout.splitlines()

    steps = [json.loads(line) for line in play_live(run())]
    assert [step["step"] for step in steps] == ["phone", "look", "look", "picture", "next"]
    assert "experimental" in steps[2]["say"]
    assert (tmp_path / "shot.png").read_bytes().startswith(b"\x89PNG")
