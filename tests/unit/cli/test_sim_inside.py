"""`handrail sim state` and the others: the phone's own command, from outside."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from handrail.cli.sim import INSIDE, sim
from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.shell.sim_command import COMMANDS
from tests.unit.cli.command import Handrail


def on_phone(phone: Phone, handrail: Handrail, *words: str) -> Any:
    async def story() -> Any:
        async with serve([phone], port=0) as [served]:
            return await asyncio.to_thread(handrail, "sim", *words, "--device", served.address)

    return asyncio.run(story())


def test_every_command_of_the_phone_has_one_here() -> None:
    assert set(INSIDE) == set(COMMANDS) == {command.name for command in sim.commands.values()}


def test_the_state_of_a_phone_is_json(handrail: Handrail) -> None:
    done = on_phone(Phone(clock=SystemClock()), handrail, "state", "apps.com.handrail.notes")
    assert done.code == 0, done.err
    assert isinstance(json.loads(done.out), dict)


def test_what_the_phone_refuses_is_a_failure_with_its_words(handrail: Handrail) -> None:
    done = on_phone(Phone(clock=SystemClock()), handrail, "state", "no.such.place")
    assert (done.code, done.out) == (1, "")
    assert "nothing at 'no.such.place'" in done.err


def test_a_world_given_from_outside_is_what_the_apps_hold(handrail: Handrail) -> None:
    phone = Phone(clock=SystemClock())
    done = on_phone(phone, handrail, "world", '{"notes": [{"title": "Oats \'n\' pears", "body": "a  b"}]}')
    assert done.code == 0, done.err
    assert "Oats 'n' pears" in json.dumps(phone.state()["apps"]["com.handrail.notes"])


def test_a_world_that_is_wrong_is_a_failure_with_the_phones_words(handrail: Handrail) -> None:
    done = on_phone(Phone(clock=SystemClock()), handrail, "world", '{"bakery": []}')
    assert (done.code, done.out) == (2, "")
    assert "bakery" in done.err


def test_words_reach_the_phone_as_they_are(handrail: Handrail, tmp_path: Path) -> None:
    phone = Phone(clock=SystemClock())
    done = on_phone(phone, handrail, "sms", "555 0100", "it's $HOME; `ls`")
    assert done.code == 0, done.err
    phone.catch_up()
    assert "it's $HOME; `ls`" in json.dumps(phone.state()["apps"])
