"""What every action answers, the legal ways through its life, and what a door hands out of a screen.

accepted → resolved → dispatched → pending_verification → verified | failed. `failed` is reachable from
everywhere, nothing follows a terminal event, and exactly one event of an action is terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypeVar

from handrail.errors import ERRORS, HandrailError
from handrail.protocol.model import CamelModel, Flag, Model, Name, Pixel
from handrail.protocol.traits import Semantic

LifecycleState = Literal["accepted", "resolved", "dispatched", "pending_verification", "verified", "failed"]
Delivery = Literal["delivered", "not_delivered", "unknown"]
VerificationMode = Literal["explicit", "built_in", "best_effort", "none"]
SourceModule = Literal["server", "interact"]
FailureCode = Annotated[str, Field(json_schema_extra={"enum": sorted(ERRORS)})]

NEXT: dict[LifecycleState, tuple[LifecycleState, ...]] = {
    "accepted": ("resolved", "failed"),
    "resolved": ("dispatched", "failed"),
    "dispatched": ("pending_verification", "failed"),
    "pending_verification": ("verified", "failed"),
    "verified": (),
    "failed": (),
}
"""Which state may follow which."""

LAST: frozenset[LifecycleState] = frozenset({"pending_verification", "verified", "failed"})
"""Where a life may end; pending_verification is honest when nothing could verify the action."""


@dataclass(frozen=True, slots=True)
class LifecycleEvent:
    """One step in the life of an action."""

    state: LifecycleState
    at_ms: int
    terminal: Flag = False


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The events of one action so far. Every illegal step raises, so that a journal can't tell a lie."""

    events: tuple[LifecycleEvent, ...]

    @classmethod
    def begin(cls, at_ms: int) -> Lifecycle:
        return cls((LifecycleEvent("accepted", at_ms),))

    @property
    def state(self) -> LifecycleState:
        return self.events[-1].state

    @property
    def ended(self) -> bool:
        return self.events[-1].terminal

    def advance(self, state: LifecycleState, at_ms: int) -> Lifecycle:
        """`verified` and `failed` are final."""
        if self.ended:
            raise ValueError(f"the action has ended as {self.state}; it can't become {state}")
        if state not in NEXT[self.state]:
            raise ValueError(f"{self.state} can't become {state}; next is {' or '.join(NEXT[self.state])}")
        at_ms = max(at_ms, self.events[-1].at_ms)
        return Lifecycle((*self.events, LifecycleEvent(state, at_ms, terminal=not NEXT[state])))

    def end(self) -> Lifecycle:
        """Ends the life where it is, unverified."""
        if self.ended or self.state not in LAST:
            raise ValueError(f"an action can't end as {self.state}")
        return Lifecycle((*self.events[:-1], replace(self.events[-1], terminal=True)))


Platform = Literal["android", "ios", "web"]
"""Whose names a device uses: of roles, keys and apps."""


class DeviceInfo(Model):
    """The device that acted."""

    id: Name
    model: str | None = None
    manufacturer: str | None = None
    android_version: str | None = None
    sdk: int | None = None
    os_version: str | None = None
    """Where the system is not Android."""
    platform: Platform | None = None


class ResolvedElement(Model):
    """The element an action really touched."""

    element_id: str | None = None
    ref: str | None = None
    text: str | None = None
    resource_id: str | None = None
    accessibility_id: str | None = None
    class_: str | None = None
    bounds: tuple[Pixel, Pixel, Pixel, Pixel] | None = None
    """left, top, right, bottom."""
    index: int | None = None
    label: str | None = None
    """What it is called by, where nothing on the screen says so."""
    label_source: Literal["framework"] | None = None


class EnvelopeTarget(Model):
    """What was asked for and what it became."""

    selector: dict[str, Any] | None = None
    resolved: ResolvedElement | None = None


class Verification(Model):
    """How the outcome was checked."""

    mode: VerificationMode
    expected: Any = None
    observed: Any = None
    outcome: Literal["verified", "failed", "changed", "unchanged", "not_checked"]


class SyncReport(Model):
    """What the app's own framework said before the wait ended."""

    framework: Literal["flutter", "react_native", "compose", "web"]
    channels: tuple[str, ...]
    """hermes, dart_vm, idling."""
    ms: float
    idle: Flag
    """False when it was still busy at the end of the time it got."""
    waited_for: tuple[str, ...] | None = None
    """Requests, timers, frames and idling resources that were under way."""


class SettleReport(Model):
    """How the screen came to rest."""

    ms: float
    reads: int
    reason: Literal["verified", "quiet", "volatile", "budget", "loading"]
    loading: str | None = None
    sync: SyncReport | None = None


class Approval(Model):
    """Under which approval the action ran, or was refused."""

    id: Name
    decision: Literal["approved", "denied", "expired", "withdrawn", "void"]
    by: str | None = None
    remembered: Flag | None = None


_DELIVERED: dict[Delivery, str] = {
    "delivered": "It was delivered.",
    "unknown": "It may have been delivered: look before you repeat it.",
    "not_delivered": "",
}

D_co = TypeVar("D_co", covariant=True, default=Mapping[str, Any] | None)
"""What an action tells besides: one of `protocol.details`."""


class Envelope(Model, Generic[D_co]):
    """The answer to an action, success or not. Keys that do not apply are left out."""

    action_id: Annotated[str, Field(pattern=r"^[A-Za-z_.]+_\d+_\d+$")]
    """"tap_1710000000000_1": type, milliseconds, sequence."""
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
    action_type: Name
    semantic: Semantic
    reason: str | None = None
    device: DeviceInfo | None = None
    lifecycle_state: Literal["pending_verification", "verified", "failed"]
    source_module: SourceModule
    target: EnvelopeTarget | None = None
    success: Flag
    failure_code: FailureCode | None = None
    message: str | None = None
    retryable: Flag | None = None
    hint: str | None = None
    delivery: Delivery
    ui_fingerprint_before: str | None = None
    ui_fingerprint_after: str | None = None
    revision_before: str | None = None
    revision_after: str | None = None
    changes: tuple[dict[str, Any], ...] | None = None
    verification: Verification | None = None
    settle: SettleReport | None = None
    diagnostics: Annotated[tuple[str, ...], Field(max_length=10)] | None = None
    timings_ms: dict[str, float] | None = None
    approval: Approval | None = None
    details: D_co = None  # type: ignore[assignment]

    @model_validator(mode="after")
    def _check_consistent(self) -> Self:
        if self.success == (self.lifecycle_state == "failed"):
            raise ValueError("success is false exactly when lifecycle_state is failed")
        if self.success == (self.failure_code is not None):
            raise ValueError("failure_code is set exactly when the action failed")
        if self.failure_code is not None and self.failure_code not in ERRORS:
            raise ValueError(f"unknown failure code {self.failure_code}")
        return self

    def or_raise(self) -> Self:
        """Itself when it succeeded; otherwise raises `error`."""
        __tracebackhide__ = True
        if (error := self.error) is not None:
            raise error
        return self

    @property
    def error(self) -> HandrailError | None:
        """The failure as an instance of its code's class; None when it succeeded."""
        if self.failure_code is None:
            return None
        details: Any = self.details or {}
        verification = self.verification
        compared = (
            {"expected": verification.expected, "actual": verification.observed} if verification else {}
        )
        error = ERRORS[self.failure_code](self.message or "", hint=self.hint, retryable=bool(self.retryable))
        error.details = {**compared, **details, "delivery": self.delivery}
        error.envelope = self
        for note in (error.hint, _DELIVERED[self.delivery]):
            if note:
                error.add_note(note)  # a traceback shows it below the message
        return error

    def __str__(self) -> str:
        """Three lines for a terminal; `to_json()` has all of it."""
        took = (self.timings_ms or {}).get("total")
        ended = self.lifecycle_state if self.success else str(self.failure_code)
        first = f"{self.action_type}: {ended}, {self.delivery}" + (f", {took:.0f} ms" if took else "")
        if self.message is not None:
            return "\n".join(filter(None, [first, self.message, self.hint]))
        proof = f"proof: {self.verification.mode}, {self.verification.outcome}" if self.verification else ""
        screen = f"screen {self.revision_before} -> {self.revision_after}, " if self.revision_after else ""
        return f"{first}\n{screen}{len(self.changes or ())} changes\n{proof}".rstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from handrail.protocol.notebook import envelope_html  # noqa: PLC0415 - only those need it

        return envelope_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Like `Model.to_dict`; on a device, a screen that was not read has a null fingerprint."""
        written = super().to_dict()
        if self.device is not None:
            written.setdefault("ui_fingerprint_before", None)
            written.setdefault("ui_fingerprint_after", None)
        return written

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))


def action_id(action_type: str, at_ms: int, sequence: int) -> str:
    """ "tap_1710000000000_1", as mobile-debug writes it."""
    return f"{action_type}_{at_ms}_{sequence}"


_ScreenExtent = Annotated[int, Field(strict=True, ge=0, le=32_767)]


class ScreenSnapshot(CamelModel):
    """The screen as a picture (seed 000)."""

    device_id: str
    current_app: str
    width: _ScreenExtent
    height: _ScreenExtent
    screenshot_base64: str
    captured_at: str

    def _repr_html_(self) -> str:
        from handrail.protocol.notebook import picture_html  # noqa: PLC0415 - only those need it

        return picture_html(self.screenshot_base64)


class SystemDialog(CamelModel):
    """A dialog of the system, not of the app: a permission prompt is not a crash."""

    package_name: str
    title: str
    buttons: tuple[str, ...]
    kind: Literal["permission", "crash", "anr", "chooser", "installer"] | None = None
