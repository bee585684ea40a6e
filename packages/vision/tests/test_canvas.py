"""A phone whose app draws everything on one surface: read, played, asked about, proved."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rapidocr", reason="the extra handrail[vision] is not installed")

from handrail_sim.phone import Phone
from tests.scenario.flow_world import outcomes, run
from tests.scenario.people import asked
from tests.scenario.world import World, play, usual_clock, world

ASYNC_RUNNER = play
LAB = "com.handrail.canvaslab"
EYES = {"HANDRAIL_DISABLE_VISION": "0"}
FLOW = """
name: A game by reading
steps:
  - tap: "1"
  - tap: "2"
  - expect_visible: "Next: 3"
  - tap: {text: "3", right_of: "2"}
  - expect_visible: "You won with 0 mistakes"
"""


def canvas(**content: Any) -> Phone:
    return Phone(
        clock=usual_clock(),
        apps=["canvas_lab"],
        world={"canvas_lab": content},
        width=540,
        height=900,
        density=240,
    )


async def test_a_game_is_played_from_a_flow(tmp_path: Path) -> None:
    async with world(tmp_path, env=EYES, phone=canvas(page="game", numbers=[2, 3, 1])) as w:
        await w.open(LAB)
        record = await run(w, FLOW)
        assert set(outcomes(record)) == {"passed"}, [step.error for step in record.steps]
        assert w.app_state(LAB)["mistakes"] == 0


async def test_a_drawn_payment_asks_and_another_digit_voids_the_yes(tmp_path: Path) -> None:
    async with world(tmp_path, env=EYES, phone=canvas(page="pay")) as w:
        await w.open(LAB)
        text = (await w.session.get_ui_tree()).details["text"]
        assert "~Total 42.50 €" in text
        task = asyncio.create_task(w.session.tap("Pay 42.50 €"))
        [one] = await asked(w)
        shown = w.phone.tasks.resumed
        shown.words["total"] = "Total 92.50 €"
        w.phone.touched_app()
        await w.runtime.approvals.answer(one.id, True, "lena")
        assert (await task).failure_code == "ACTION_REJECTED"
        assert w.app_state(LAB)["paid"] == 0
        task = asyncio.create_task(w.session.tap("Pay 42.50 €"))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.success, done.to_json()
        assert done.verification is not None
        assert (done.verification.mode, done.verification.observed) == ("built_in", "the picture changed")
        assert w.app_state(LAB)["paid"] == 1


def presses(w: World) -> int:
    return sum(event.get("action") == "down" for event in w.inputs())


async def test_a_tap_beside_the_words_of_a_drawn_payment_asks_too(tmp_path: Path) -> None:
    async with world(tmp_path, env=EYES, phone=canvas(page="pay")) as w:
        await w.open(LAB)
        node = next(
            node for node in (await w.session.screens.refresh()).screen.nodes if node.text == "Pay 42.50 €"
        )
        for x, y in ((node.bounds.left + 5, node.center.y), (w.phone.display.width - 3, 800)):
            task = asyncio.create_task(w.session.tap({"x": x, "y": y}))
            [one] = await asked(w)
            await w.runtime.approvals.answer(one.id, False, "lena")
            assert (await task).failure_code == "ACTION_REJECTED"
        assert presses(w) == 0


async def test_without_need_nothing_is_read(tmp_path: Path) -> None:
    async with world(tmp_path, env=EYES) as w:
        await w.open("com.android.settings")
        looks = w.session.screens.reader._inner
        assert looks._last is None
        assert looks._png == b""


def test_a_process_that_reads_no_picture_loads_nothing_of_it() -> None:
    program = "import handrail.runtime as r, sys; assert r._new_picture_reader(); print(sorted(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"cv2", "numpy", "onnxruntime", "rapidocr"} & set(ast.literal_eval(printed.stdout))
