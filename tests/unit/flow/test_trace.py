from __future__ import annotations

from typing import Any, cast

from handrail.engine.session import Session
from handrail.flow.evidence import DeviceWatch
from handrail.flow.run import failure_text, result_of, trace_of
from handrail.flow.run_record import FlowRecord, Outcome, StepRecord
from handrail.protocol.envelope import SystemDialog
from handrail.safety.caller import Caller


def witness(name: str = "alice", **facts: Any) -> DeviceWatch:
    """A device that was seen; a trace asks nothing of its session."""
    return DeviceWatch(name, cast("Session", None), Caller(), fingerprint="abc123", tree="screen", **facts)


def step(
    path: tuple[int, ...],
    outcome: Outcome = "passed",
    device: str = "alice",
    children: list[StepRecord] | None = None,
    source: dict[str, Any] | None = None,
) -> StepRecord:
    bad = outcome in ("failed", "warned")
    return StepRecord(
        path, f"step {path}", source or {"tap": "X"}, device, 0, outcome=outcome, duration_ms=1.5,
        error="gone" if bad else None, code="ELEMENT_NOT_FOUND" if bad else None, children=children or [],
    )  # fmt: skip


def record(*steps: StepRecord, error: str | None = None) -> FlowRecord:
    return FlowRecord("flow", "", (), "phone", 0, steps=list(steps), error=error)


def test_what_says_nothing_is_left_out_of_the_json() -> None:
    told = trace_of(record(step((0,))), 1, witness()).to_dict()
    assert told == {
        "success": True,
        "stepsCompleted": 1,
        "totalSteps": 1,
        "results": [{"stepIndex": 0, "action": {"tap": "X"}, "success": True, "durationMs": 1.5}],
        "screenFingerprint": "abc123",
        "screenChanged": False,
    }


def test_completed_steps_are_the_index_of_the_failed_one() -> None:
    told = trace_of(record(step((0,), "warned"), step((1,), "skipped"), step((2,), "failed")), 5, witness())
    assert (told.success, told.steps_completed, told.total_steps) == (False, 2, 5)
    assert [one.success for one in told.results] == [False, True, False]
    assert [one.error for one in told.results] == ["gone", None, "gone"]
    assert told.final_ui_tree == "screen"


def test_an_interrupted_step_is_not_completed() -> None:
    told = trace_of(record(step((0,)), step((1,), "stopped"), error="Stopped"), 3, witness())
    assert (told.success, told.steps_completed, told.error) == (False, 1, "Stopped")


def test_inner_steps_are_children_and_not_counted() -> None:
    inner = [step((0, 0)), step((0, 1), "warned")]
    told = trace_of(record(step((0,), children=inner)), 1, witness())
    assert told.steps_completed == 1
    assert [child.step_index for child in told.results[0].children or ()] == [0, 1]


def test_dialogs_and_crashes_are_told_only_when_there_were_any() -> None:
    prompt = SystemDialog(package_name="p", title="Allow?", buttons=("Allow",), kind="permission")
    told = trace_of(record(step((0,))), 1, witness(dialogs={prompt: None}, crashed=False))
    assert told.system_dialogs == (prompt,)
    assert told.app_crash_detected is None
    assert trace_of(record(step((0,))), 1, witness(crashed=True)).app_crash_detected


def test_messages_count_as_people_do() -> None:
    assert failure_text(step((1, 0), "failed")) == "Step 2.1 (step (1, 0)) failed: gone"
    assert failure_text(step((0,), "stopped")) == "Stopped at step 1 (step (0,))"


def test_the_echo_is_the_step_as_it_was_given() -> None:
    source = {"action": "tap", "target": {"text": "Save"}}
    assert result_of(step((0,), source=source)).action == source
