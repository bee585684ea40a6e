"""Buttons of a simulated phone whose labels are disguised: none of them is pressed unasked."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handrail_sim.apps import DEFAULT
from handrail_sim.phone import Phone
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, toolbar
from tests.fuzz.labels import DISGUISES, grave
from tests.scenario.world import play, until, usual_clock, world

ASYNC_RUNNER = play

PACKAGE = "com.example.market"
RULE = "[[rule]]\nlabel = 'Order it*'\nverdict = 'deny'\n"
DENIED = ("Оrdеr it", "O r d e r  i t", "ᴏʀᴅᴇʀ ɪᴛ", "Order\u3164it now")
TAP = {"type": "tap", "target": {"id": "go"}}
FREE = ("Play", "Display", "Delete draft", "Compost tools", "Настройки", "Ordering")


def asked_about() -> list[str]:
    luck = random.Random(17)
    worn = [(disguise, luck.choice(grave())) for disguise in DISGUISES]
    return ["Рау", "P a y", "ᴘᴀʏ ɴᴏᴡ", *(disguise(label, luck) for disguise, label in worn)]


class Shelf(Activity):
    """One button."""

    title = "Market"
    label = ""

    def build(self) -> View:
        press = partial(self.app.pressed.append, self.label)  # type: ignore[attr-defined]
        return column(toolbar("Market"), button(self.label, press, id="go"), height="fill")


class Market(App):
    """com.example.market: remembers what was pressed."""

    package = PACKAGE
    label = "Market"
    icon = "note"
    activities = {"Shelf": Shelf}
    pressed: list[str] = []

    def state(self) -> dict[str, Any]:
        return {}


@pytest.mark.slow
async def test_a_disguised_button_is_not_pressed_unasked_and_an_ordinary_one_is(tmp_path: Path) -> None:
    Market.pressed.clear()
    clock = usual_clock()
    async with world(tmp_path, policy=RULE, phone=Phone(clock=clock, apps=(Market, *DEFAULT))) as w:
        for label in (*asked_about(), *DENIED, *FREE):
            Shelf.label = label
            w.phone.force_stop(PACKAGE)
            w.phone.start_activity(f"{PACKAGE}/.Shelf")
            task = asyncio.create_task(w.session.run(TAP, settle="none"))
            await until(lambda task=task: task.done() or w.runtime.approvals.pending())
            [one] = await w.runtime.approvals.pending() or [None]
            assert (one is not None) is (label not in (*DENIED, *FREE)), label
            await w.session.end_actions()
            done = await task
            assert done.success is (label in FREE), done.to_json()
    assert Market.pressed == list(FREE)
