"""Flows from top to bottom: what a trace says is what happened on the phone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail.flow.run import SilentObserver
from handrail.flow.run_record import StepRecord
from tests.scenario.flow_world import CONTACTS, SETTINGS, TROUBLE, journalled, outcomes, run, trace
from tests.scenario.world import FastClock, World, play, until, world

ASYNC_RUNNER = play


async def test_a_failed_step_ends_the_flow_and_the_trace_says_where(w: World) -> None:
    record = await run(w, f"app: {SETTINGS}\nsteps: [tap: Display, tap: No such thing, press_key: back]")
    told = trace(record)
    assert (told.success, told.steps_completed, told.total_steps) == (False, 1, 3)
    assert [result.success for result in told.results] == [True, False]
    assert told.error == f"Step 2 (tap No such thing) failed: {told.results[1].error}"
    assert "Brightness level" in (told.final_ui_tree or "")
    assert (record.outcome, record.steps[1].code) == ("failed", "ELEMENT_NOT_FOUND")
    assert record.steps[1].line == 2


async def test_an_optional_failure_keeps_success_and_is_told(w: World) -> None:
    record = await run(
        w, f"app: {SETTINGS}\nsteps: [{{tap: Nowhere, optional: true}}, {{expect_visible: Display}}]"
    )
    told = trace(record)
    assert (told.success, told.steps_completed, told.error) == (True, 2, None)
    assert told.results[0].error
    assert not told.results[0].success
    assert outcomes(record) == ["warned", "passed"]


async def test_the_tree_is_left_out_when_nothing_changed_and_all_passed(w: World) -> None:
    same = trace(await run(w, f"app: {SETTINGS}\nsteps: [expect_visible: Display]"))
    assert (same.screen_changed, same.final_ui_tree) == (False, None)
    moved = trace(await run(w, f"app: {SETTINGS}\nsteps: [tap: Display]"))
    assert moved.screen_changed
    assert "Brightness level" in (moved.final_ui_tree or "")
    assert moved.screen_fingerprint != same.screen_fingerprint


async def test_typing_does_not_change_the_screen(w: World) -> None:
    await run(w, f"app: {CONTACTS}\nsteps: [tap: Create new contact, tap: {{id: first}}]")
    told = trace(await run(w, "steps: [type_text: Ada]"))
    assert (told.success, told.screen_changed) == (True, False)


async def test_a_step_whose_condition_does_not_hold_is_skipped(w: World) -> None:
    text = f"""
app: {SETTINGS}
steps:
  - tap: Display
    when: {{visible: No such words}}
  - when: {{absent: No such words}}
    then: [tap: Display]
    else: [tap: Nowhere]
"""
    record = await run(w, text)
    assert outcomes(record) == ["skipped", "passed"]
    assert [child.label for child in record.steps[1].children] == ["tap Display"]
    assert trace(record).results[0].success


async def test_rounds_are_children_and_are_numbered_on(w: World) -> None:
    text = f"app: {SETTINGS}\nsteps: [repeat: {{times: 2, steps: [tap: Display, press_key: back]}}]"
    told = trace(await run(w, text))
    assert told.total_steps == 1
    children = told.results[0].children or ()
    assert [child.step_index for child in children] == [0, 1, 2, 3]
    assert [child.action for child in children][:2] == [{"tap": "Display"}, {"press_key": "back"}]


async def test_a_loop_ends_with_its_condition_and_fails_without_it(w: World) -> None:
    loop = "repeat: {{until: {}, max_times: 3, steps: [tap: Increase]}}"
    lab = "app: com.handrail.composelab\nsteps: [{}]"
    met = await run(w, lab.format(loop.format('"Count: 2"')))
    assert met.outcome == "passed"
    assert len(met.steps[0].children) == 2
    unmet = await run(w, lab.format(loop.format("Never")))
    assert unmet.steps[0].code == "TIMEOUT"
    assert len(unmet.steps[0].children) == 3


async def test_finish_ends_the_flow_in_which_it_stands(w: World, tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text("steps: [finish: done, tap: Nowhere]")
    text = f"app: {SETTINGS}\nsteps: [run_flow: inner.yaml, tap: Display, finish, tap: Nowhere]"
    told = trace(await run(w, text, path=tmp_path / "outer.yaml"))
    assert (told.success, told.steps_completed, told.total_steps) == (True, 3, 4)
    assert [len(result.children or ()) for result in told.results] == [1, 0, 0]


async def test_another_file_has_variables_of_its_own(w: World, tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text("env: {WHAT: Nowhere}\nsteps: [tap: '${WHAT}']")
    text = f"""
app: {SETTINGS}
env: {{PLACE: Display}}
steps:
  - run_flow: {{file: inner.yaml, env: {{WHAT: "${{PLACE}}"}}}}
"""
    record = await run(w, text, path=tmp_path / "outer.yaml")
    assert record.outcome == "passed"
    assert record.steps[0].children[0].source == {"tap": "Display"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("steps: [press_key: home, tap: '${WHO}']", "WHO"),
        ("steps: [press_key: home, run_flow: missing.yaml]", "missing.yaml"),
        ("steps: [press_key: home, run_flow: ring.yaml]", "runs itself"),
        ("devices: [a, b]\nsteps: [parallel: {a: [press_key: home], b: [press_key: home]}]", "no device"),
    ],
)
async def test_what_is_wrong_with_the_file_is_said_before_the_phone_is_touched(
    w: World, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "ring.yaml").write_text("steps: [run_flow: outer.yaml]")
    (tmp_path / "outer.yaml").write_text(text)
    with pytest.raises(InvalidAction, match=says):
        await run(w, text, path=tmp_path / "outer.yaml")
    assert w.inputs() == []


async def test_a_deadline_holds_for_the_whole_step(w: World) -> None:
    text = f"""
app: {SETTINGS}
steps:
  - wait_for: {{condition: Never, timeout_ms: 60000}}
    timeout_ms: 200
    optional: true
  - repeat: {{times: 1000, steps: [wait: 20]}}
    timeout_ms: 200
"""
    record = await run(w, text)
    assert [step.code for step in record.steps] == ["TIMEOUT", "TIMEOUT"]
    assert record.steps[1].children[-1].outcome == "stopped"
    ended = [e for e in w.events() if e.get("terminal") and e.get("envelope")]
    assert "CANCELLED" in [e["envelope"].get("failure_code") for e in ended]


async def test_a_cancelled_flow_is_a_complete_record(w: World) -> None:
    text = f"app: {SETTINGS}\nsteps: [tap: Display, {{wait: 60000}}, press_key: back]"
    running = asyncio.create_task(run(w, text))
    await until(lambda: any(e["action"]["type"] == "wait" for e in journalled(w)))
    running.cancel()
    record = await running
    assert record.outcome == "stopped"
    assert outcomes(record) == ["passed", "stopped"]
    told = trace(record)
    assert (told.success, told.steps_completed) == (False, 1)
    assert told.error == "Stopped at step 2 (wait 60000)"
    assert "Brightness level" in (told.final_ui_tree or "")
    again = await run(w, "steps: [press_key: back]")
    assert again.outcome == "passed"


class Impatient(SilentObserver):
    """Cancels the run when its n-th step starts or ends."""

    def __init__(self, moment: int, task: asyncio.Task[object]) -> None:
        self.left = moment
        self.task = task

    def step_started(self, record: StepRecord) -> None:
        self.step_ended(record)

    def step_ended(self, record: StepRecord) -> None:
        self.left -= 1
        if self.left == 0:
            self.task.cancel()


@pytest.mark.parametrize("moment", range(1, 11))
async def test_an_interruption_at_any_moment_leaves_a_record_that_is_complete_up_to_there(
    w: World, moment: int
) -> None:
    me = asyncio.current_task()
    assert me
    text = f"""
app: {SETTINGS}
steps:
  - tap: Display
  - repeat: {{times: 1, steps: [press_key: back, tap: Display]}}
  - press_key: back
"""
    record = await run(w, text, observer=Impatient(moment, me))
    assert record.outcome == "stopped"
    assert not me.cancelling()
    told = trace(record)
    assert told.steps_completed == outcomes(record).count("passed")
    assert (told.error or "").startswith("Stopped")
    assert len(told.results) <= 3


async def test_an_app_that_cannot_be_started_is_an_error_and_no_step(w: World) -> None:
    record = await run(w, "app: com.example.nothing\nsteps: [press_key: back]")
    assert (record.outcome, record.steps) == ("failed", [])
    assert (trace(record).steps_completed, trace(record).results) == (0, ())
    assert "com.example.nothing could not be started" in (record.error or "")


async def test_steps_say_why_unless_they_have_a_reason_of_their_own(w: World) -> None:
    text = f"""
name: lamp
app: {SETTINGS}
steps:
  - tap: Display
    label: into the display
  - press_key: back
    reason: I have seen enough
"""
    await run(w, text)
    told = {e["action"]["type"]: e for e in journalled(w)}
    assert told["tap"]["reason"] == "flow lamp, step 1: into the display"
    assert told["press_key"]["reason"] == "I have seen enough"
    assert told["tap"]["actor"] == {"kind": "flow", "id": "lamp"}
    assert told["tap"]["door"] == "flow"


async def test_one_reason_for_the_flow_is_inherited_by_its_steps(w: World) -> None:
    await run(w, f"name: lamp\napp: {SETTINGS}\nsteps: [tap: Display]", reason="I dim the screen")
    told = {e["action"]["type"]: e["reason"] for e in journalled(w)}
    assert told["start_app"] == "I dim the screen (flow lamp: its app)"
    assert told["tap"] == "I dim the screen (flow lamp, step 1: tap Display)"


async def test_a_crash_is_a_crash_and_an_optional_one_is_survived(w: World) -> None:
    text = f"app: {TROUBLE}\nsteps: [{{tap: Crash, optional: true}}, tap: Close app]"
    told = trace(await run(w, text))
    assert told.success
    assert told.app_crash_detected
    assert [dialog.kind for dialog in told.system_dialogs or ()] == ["crash"]


async def test_a_permission_prompt_is_answered_and_is_no_crash(w: World) -> None:
    w.phone.start_activity(package="com.handrail.gallery")
    told = trace(await run(w, "steps: [wait_for: Allow, tap: Allow, expect_absent: No access to photos]"))
    assert told.success, told.error
    assert [dialog.kind for dialog in told.system_dialogs or ()] == ["permission"]
    assert told.app_crash_detected is None


async def test_what_was_loading_is_told(w: World) -> None:
    told = trace(await run(w, f"app: {TROUBLE}\nsteps: [tap: Spinner that never ends]"))
    assert (told.results[0].loading_detected or "").startswith("Timed out waiting for: ")


async def test_a_target_that_is_not_there_yet_does_not_kill_a_later_scroll(w: World) -> None:
    text = f"app: {CONTACTS}\nsteps: [expect_visible: Contacts, scroll_to: Zebedee Winterbourne]"
    assert trace(await run(w, text)).success


async def test_a_ref_of_an_earlier_screen_is_stale_and_nothing_is_touched(w: World) -> None:
    await w.open(SETTINGS)
    ref = await w.ref("Display")
    await w.open(CONTACTS)
    touched = len(w.inputs())
    given = {"action": "tap", "target": {"ref": ref}}
    record = await run(w, f'[{{"action": "tap", "target": {{"ref": "{ref}"}}}}]')
    assert record.steps[0].code == "ELEMENT_NOT_FOUND"
    assert trace(record).results[0].action == given
    assert len(w.inputs()) == touched


async def test_a_flow_waits_for_a_toast(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="handrail") as w:
        steps = "[tap: New note, press_key: back, wait_for: {toast: note discarded}]"
        record = await run(w, f"app: com.handrail.notes\nsteps: {steps}")
        assert record.outcome == "passed", trace(record).error
