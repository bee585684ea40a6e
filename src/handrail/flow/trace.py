"""The record of a run as seed 003's FlowTrace. Counts are top-level steps; inner ones are children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handrail.flow.records import FlowRecord, StepRecord
from handrail.flow.witness import Witness
from handrail.protocol.flow import FlowTrace, StepResult

_BAD = frozenset({"failed", "stopped"})


def trace_of(record: FlowRecord, total: int, seen: Witness) -> FlowTrace:
    """The whole flow, as the device saw it that runs its plain steps."""
    return _trace(record.steps, total, seen, record.error)


def device_trace(record: FlowRecord, total: int, seen: Witness) -> FlowTrace:
    """One device's share: the `total` steps it takes part in, and of parallel ones only its own inside."""
    mine = _shares(record.steps, seen.name)
    error = record.error if not mine or mine[-1].outcome in _BAD else None
    return _trace(mine, total, seen, error)


def result_of(record: StepRecord) -> StepResult:
    """One step."""
    is_good = record.outcome in ("passed", "skipped")
    return StepResult(
        step_index=record.path[-1],
        action=dict(record.given),
        success=is_good,
        duration_ms=record.duration_ms,
        error=None if is_good else record.error,
        loading_detected=record.loading,
        children=tuple(result_of(child) for child in record.children) or None,
    )


def failure_text(record: StepRecord) -> str:
    """Why a flow ended with this step: "Step 3 (tap Save) failed: …", numbers as people count."""
    number = ".".join(str(index + 1) for index in record.path)
    if record.outcome == "stopped":
        return f"Stopped at step {number} ({record.label})"
    if record.outcome != "failed":
        return f"Stopped after step {number} ({record.label})"
    return f"Step {number} ({record.label}) failed: {record.error}"


def _trace(steps: Sequence[StepRecord], total: int, seen: Witness, error: str | None) -> FlowTrace:
    success = error is None and not any(step.outcome in _BAD for step in steps)
    completed = sum(step.outcome not in _BAD for step in steps)
    is_news = seen.changed or not success
    return FlowTrace(
        success=success,
        steps_completed=completed,
        total_steps=total,
        results=tuple(result_of(step) for step in steps),
        screen_fingerprint=seen.fingerprint,
        screen_changed=seen.changed,
        final_ui_tree=seen.tree if is_news and seen.tree else None,
        error=error,
        system_dialogs=tuple(seen.dialogs) or None,
        app_crash_detected=True if seen.crashed else None,
    )


def _share(step: StepRecord, name: str) -> StepRecord | None:
    if "parallel" in step.given:
        own = next((child for child in step.children if child.device == name), None)
        return own and replace(own, path=step.path, given=step.given, children=_shares(own.children, name))
    inside = _shares(step.children, name)
    return replace(step, children=inside) if inside or step.device == name else None


def _shares(steps: Sequence[StepRecord], name: str) -> list[StepRecord]:
    return [own for step in steps if (own := _share(step, name)) is not None]
