"""Flows on two phones, and what a run keeps for a report."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.engine.session import Session
from handrail.flow.evidence import WIDTH, ReportEvidence
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.flow_world import SETTINGS, outcomes, run, trace
from tests.scenario.world import World, play, world

ASYNC_RUNNER = play


@asynccontextmanager
async def two_phones(home: Path) -> AsyncIterator[tuple[World, dict[str, Session]]]:
    async with world(home) as w:
        phone = Phone(clock=w.runtime.clock, seed=2)
        async with serve([phone], port=0) as [served]:
            device = AdbDevice(Direct(served.host, served.port, clock=w.runtime.clock), w.runtime.clock)
            other = await w.runtime.session_on(device, helper="none")
            yield w, {"alice": w.session, "bob": other}
            await other.close()
            await device.close()


BOTH = f"""
name: both
app: {SETTINGS}
devices: [alice, bob]
steps:
  - tap: Display
  - parallel:
      alice:
        - expect_visible: Brightness level
      bob:
        - expect_visible: Display
        - tap: {{LABEL}}
  - press_key: back
"""


async def test_there_is_one_trace_per_device_with_the_steps_it_took_part_in(tmp_path: Path) -> None:
    async with two_phones(tmp_path) as (w, sessions):
        record = await run(w, BOTH.replace("{LABEL}", "Display"), sessions=sessions)
        assert record.outcome == "passed", record.error
        alice, bob = record.traces["alice"], record.traces["bob"]
        assert (alice.total_steps, [r.step_index for r in alice.results]) == (3, [0, 1, 2])
        assert (bob.total_steps, [r.step_index for r in bob.results]) == (1, [1])
        assert [child.action for child in bob.results[0].children or ()] == [
            {"expect_visible": "Display"},
            {"tap": "Display"},
        ]
        assert (alice.screen_changed, bob.screen_changed) == (False, True)
        assert [child.device for child in record.steps[1].children] == ["alice", "bob"]


async def test_a_device_that_fails_stops_the_others_cleanly(tmp_path: Path) -> None:
    async with two_phones(tmp_path) as (w, sessions):
        text = BOTH.replace("{LABEL}", "Nowhere").replace("expect_visible: Brightness level", "wait: 60000")
        record = await run(w, text, sessions=sessions)
        alice, bob = record.steps[1].children
        assert (alice.outcome, bob.outcome) == ("stopped", "failed")
        assert alice.error == "It was stopped because bob failed"
        assert outcomes(record) == ["passed", "failed"]
        assert not record.traces["alice"].success
        assert trace(record).steps_completed == 1
        assert (await run(w, "steps: [press_key: home]")).outcome == "passed"


async def test_a_step_may_name_the_device_it_runs_on(tmp_path: Path) -> None:
    async with two_phones(tmp_path) as (w, sessions):
        text = f"devices: [alice, bob]\nsteps: [start_app: {{package: {SETTINGS}, device: bob}}]"
        record = await run(w, text, sessions=sessions)
        assert record.steps[0].device == "bob"
        assert record.traces["bob"].screen_changed
        assert not record.traces["alice"].results


async def test_acting_steps_have_small_pictures_and_failures_have_the_log(w: World) -> None:
    text = f"app: {SETTINGS}\nsteps: [tap: Display, expect_visible: {{target: Nope, timeout_ms: 0}}]"
    record = await run(w, text, evidence=ReportEvidence())
    tapped, missed = record.steps
    assert tapped.before
    assert tapped.after
    assert tapped.before.png != tapped.after.png
    assert (tapped.before.width, tapped.before.height) == (1080, 2400)
    assert Image.open(io.BytesIO(tapped.before.png or b"")).width <= WIDTH
    assert tapped.touched
    assert tapped.touched.bottom <= 2400
    assert not tapped.log
    assert missed.before is None
    assert missed.after
    assert missed.log
    assert "Brightness level" in tapped.diff


async def test_the_picture_after_one_step_is_the_one_before_the_next(w: World) -> None:
    text = f"app: {SETTINGS}\nsteps: [tap: Display, press_key: back]"
    record = await run(w, text, evidence=ReportEvidence())
    assert record.steps[1].before is record.steps[0].after


async def test_a_secure_screen_has_a_reason_instead_of_a_picture(w: World) -> None:
    w.phone.start_activity("com.handrail.bank/.AccountsActivity")
    record = await run(w, "steps: [press_key: home]", evidence=ReportEvidence())
    before = record.steps[0].before
    assert before
    assert before.png is None
    assert before.why_not
    assert record.outcome == "passed"
