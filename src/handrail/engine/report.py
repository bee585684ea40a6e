"""A run as its envelope: the same keys whether it went well or not. What does not apply is left out."""

from __future__ import annotations

from typing import Any, Literal

from handrail.clock import iso_time
from handrail.engine.run import Run
from handrail.errors import HandrailError
from handrail.protocol.act import Act
from handrail.protocol.device import DoubleTap, Drag, LongPress, Swipe, Tap
from handrail.protocol.envelope import DeviceInfo, Envelope, EnvelopeTarget, SourceModule
from handrail.protocol.target import Selector
from handrail.surface.values import Facts

_GESTURES = (Tap, DoubleTap, LongPress, Swipe, Drag)
_NOT_DETAILS = frozenset({"expected", "observed", "delivery"})  # said elsewhere in the envelope
MAX_DIAGNOSTICS = 10


def envelope_of(run: Run, facts: Facts | None, serial: str, error: HandrailError | None) -> Envelope:
    """Everything that is known of the run."""
    action = run.action
    details = {**run.details, **_error_details(error)}
    return Envelope(
        action_id=run.id,
        timestamp=iso_time(run.life.events[0].at_ms),
        action_type=action.type,
        semantic=action.semantic,
        reason=action.reason,
        device=None if action.effect == "desk" else _device(facts, serial),
        lifecycle_state=_ended(run),
        source_module=_source(action),
        target=_target(run),
        success=error is None,
        failure_code=error.code if error else None,
        message=error.message if error else None,
        retryable=_retryable(error, run) if error else None,
        hint=error.hint if error else None,
        delivery=run.delivery,
        ui_fingerprint_before=run.before.fingerprint if run.before else None,
        ui_fingerprint_after=run.after.fingerprint if run.after else None,
        revision_before=run.revision_before,
        revision_after=run.revision_after,
        changes=tuple(run.changes.capped()) if run.changes is not None else None,
        verification=run.verification,
        settle=run.settled,
        diagnostics=tuple(run.diagnostics[-MAX_DIAGNOSTICS:]) or None,
        timings_ms={name: round(ms, 2) for name, ms in run.timings.items()},
        approval=run.approval,
        details=details or None,
    )


def _ended(run: Run) -> Literal["pending_verification", "verified", "failed"]:
    match run.life.state:
        case "pending_verification" | "verified" | "failed" as state:
            return state
        case state:
            raise RuntimeError(f"{run.id} has not ended: it is {state}")


def _device(facts: Facts | None, serial: str) -> DeviceInfo:
    if facts is None:
        return DeviceInfo(id=serial, platform="android")
    return DeviceInfo(
        id=serial,
        model=facts.model,
        manufacturer=facts.manufacturer,
        android_version=facts.android_version,
        sdk=facts.sdk,
        platform="android",
    )


def _source(action: Act) -> SourceModule:
    """`interact`: a gesture aimed at an element by handle or selector, found or not."""
    if not isinstance(action, _GESTURES):
        return "server"
    aimed = action.from_ if isinstance(action, Drag) else action.target
    return "interact" if isinstance(aimed, Selector) else "server"


def _target(run: Run) -> EnvelopeTarget | None:
    asked: Any = getattr(run.action, "target", None) or getattr(run.action, "from_", None)
    if asked is None:
        return None
    found = run.aims.get("target") or run.aims.get("from_")
    return EnvelopeTarget(
        selector=asked.model_dump(exclude_none=True), resolved=found.resolved() if found else None
    )


def _retryable(error: HandrailError, run: Run) -> bool:
    """What may have been done must not be done twice blindly: look first."""
    if run.delivery == "unknown":
        return False
    return error.retryable and not (error.code == "TIMEOUT" and run.delivery == "delivered")


def _error_details(error: HandrailError | None) -> dict[str, Any]:
    if error is None:
        return {}
    return {
        key: value for key, value in error.details.items() if key not in _NOT_DETAILS and value is not None
    }
