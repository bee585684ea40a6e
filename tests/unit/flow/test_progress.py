from __future__ import annotations

import io

from rich.console import Console

from handrail.flow.progress import FlowProgress, LiveFlowProgress, PlainFlowProgress
from handrail.flow.run_record import FlowRecord, StepRecord


def played(progress: FlowProgress) -> None:
    record = FlowRecord("Lamp", "lamp.yaml", (), "phone-1 (Pixel)", 0, duration_ms=1500)
    good = StepRecord((0,), "tap Lamp", {"tap": "Lamp"}, "phone", 0, duration_ms=120, tries=2)
    bad = StepRecord((1, 0), "tap \x1b[31mGone", {"tap": "Gone"}, "phone", 0)
    progress.flow_started(record, 2)
    progress.step_started(good)
    progress.step_ended(good)
    progress.step_started(bad)
    bad.outcome, bad.code, bad.error, bad.hint = "failed", "ELEMENT_NOT_FOUND", "No\nLamp", "Look again."
    progress.step_ended(bad)
    record.outcome = "failed"
    progress.flow_ended(record)


def test_without_a_terminal_every_step_is_one_plain_line() -> None:
    lines: list[str] = []
    played(PlainFlowProgress(lines.append))
    assert lines[0] == "Lamp on phone-1 (Pixel): 2 steps"
    assert lines[1].split() == ["passed", "1", "tap", "Lamp", "(2", "tries)", "0.12", "s"]
    assert lines[2].split()[:3] == ["failed", "2.1", "tap"]
    assert "ELEMENT_NOT_FOUND: No Lamp" in lines[3]
    assert lines[-1].strip() == "failed: 1.50 s"


def test_what_a_screen_says_cannot_steer_the_terminal() -> None:
    lines: list[str] = []
    played(PlainFlowProgress(lines.append))
    assert "\x1b" not in "".join(lines)
    assert all("\n" not in line for line in lines)


def test_on_a_terminal_finished_steps_stand_above_what_runs() -> None:
    sink = io.StringIO()
    played(LiveFlowProgress(Console(file=sink, force_terminal=True, width=100, color_system=None)))
    shown = sink.getvalue()
    assert "✓ 1     tap Lamp" in shown
    assert "✗ 2.1   tap" in shown
    assert shown.index("tap Lamp") < shown.index("ELEMENT_NOT_FOUND")


def test_progress_stands_still_while_a_person_is_asked() -> None:
    sink = io.StringIO()
    progress = LiveFlowProgress(Console(file=sink, force_terminal=True, width=100))
    progress.flow_started(FlowRecord("Lamp", "", (), "phone", 0), 1)
    progress.step_started(StepRecord((0,), "tap Pay", {}, "phone", 0))
    with progress.paused():
        before = sink.getvalue()
        sink.write("? Pay")
        assert sink.getvalue() == f"{before}? Pay"
    progress.flow_ended(FlowRecord("Lamp", "", (), "phone", 0))
    assert sink.getvalue().startswith(f"{before}? Pay")
