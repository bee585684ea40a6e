"""Writes runs to the journal and publishes their events. Envelopes leave here with secrets removed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from handrail.clock import iso_time
from handrail.engine.events import Event, Events
from handrail.engine.run import ActionRun
from handrail.errors import HandrailError
from handrail.journal import Journal
from handrail.protocol.act import Act
from handrail.protocol.device import DoubleTap, Drag, LongPress, Swipe, Tap, TypeText
from handrail.protocol.envelope import DeviceInfo, Envelope, EnvelopeTarget, LifecycleEvent, SourceModule
from handrail.protocol.observe import WaitFor
from handrail.protocol.target import Point, Selector
from handrail.safety.approval_request import MASKED
from handrail.safety.secret_fields import DeviceSecrets
from handrail.safety.secrets import Secrets
from handrail.screen.node import Node, Screen
from handrail.screen.refs import Registry
from handrail.screen.robust_selector import identity, robust_selector
from handrail.screen.robust_selector import landmark as landmark_of
from handrail.surface.values import Facts
from handrail.waiting import uninterrupted

_FREE = ("reason", "message", "hint", "target", "changes", "diagnostics", "details")
"""Fields that may hold text from outside. The others are the engine's own: redacting a short PIN there would
damage ids and times."""
_FREE_ENTRY = ("action", "reason", "robust", "landmark")
_FREE_INSIDE = {"verification": ("expected", "observed"), "settle": ("loading",)}


@dataclass(slots=True, eq=False)
class JournalWriter:
    """The journal entries and events of one session."""

    _journal: Journal
    _secrets: Secrets
    _here: DeviceSecrets
    _device: str
    session: str
    events: Events = field(default_factory=Events)

    def announce(self, run: ActionRun, event: LifecycleEvent) -> None:
        """Writes an event to the journal. `type_text` waits until its field is known; the terminal event
        comes with the envelope."""
        if event.terminal:
            return
        run.unwritten.append(event)
        self.events.publish(self._event(run, event))
        if event.state != "accepted" or not isinstance(run.action, TypeText):
            self.write_pending(run)

    def publish_wait(self, run: ActionRun, reason: str) -> None:
        """Tells listeners what an action is waiting for. The journal only gets the duration."""
        self.events.publish(replace(self._event(run, run.life.events[-1]), waits_for=reason))

    def write_pending(self, run: ActionRun, typed: str | None = None) -> None:
        """Writes the events that were held back. `typed` replaces text that must not be read."""
        for event in run.unwritten:
            self._journal.note(self._written(self._entry(run, event, typed)))
        run.unwritten.clear()

    async def finish(self, run: ActionRun, envelope: Envelope) -> None:
        """Writes the terminal entry durably, then publishes it. A stop can't interrupt this."""
        self.write_pending(run, MASKED)  # its field was never known
        # A picture can't be redacted, so it is stored only if no secret has been used.
        if picture := run.details.get("screenshotBase64"):
            png = base64.b64decode(picture)
            stored = self._journal.put_blob(png, "image/png", no_secret=not self._secrets.used)
            run.blobs["screenshot"] = await uninterrupted(stored)
        last = run.life.events[-1]
        written = envelope.to_dict()
        if "screenshotBase64" in (envelope.details or {}):  # a blob, not base64 in the hash chain
            written["details"] = {**written["details"]}
            del written["details"]["screenshotBase64"]
        entry = self._entry(run, last) | {"terminal": True, "envelope": written}
        before, after = run.before, run.after
        has_left = before and after and before.fingerprint != after.fingerprint
        if before and after and has_left and (landmark := landmark_of(before.screen, after.screen)):
            entry["landmark"] = landmark
        await uninterrupted(self._journal.seal(self._written(entry)))
        self.events.publish(replace(self._event(run, last), terminal=True, envelope=envelope))

    def _event(self, run: ActionRun, event: LifecycleEvent) -> Event:
        actor, by = run.caller.actor, run.caller.id
        aimed = next((aim.touched.bounds for aim in run.aims.values()), None)
        published = Event(run.id, run.action.type, self._device, event.state, event.at_ms, actor=actor, by=by)
        return replace(published, bounds=(aimed[0], aimed[1], aimed[2], aimed[3])) if aimed else published

    def redact_envelope(self, envelope: Envelope) -> Envelope:
        """Removes used secrets from an envelope, also for the caller who supplied them."""
        if not self._secrets.used:
            return envelope
        written = envelope.to_dict()
        clean = _free_fields(written, self._secrets.redact_data)
        changed = {name: value for name, value in clean.items() if value != written[name]}
        return Envelope.model_validate(written | changed) if changed else envelope

    def redact_data(self, value: Any) -> Any:
        """For a file that others read: without any secret that is known by now, used here or not."""
        return self._here.redact_data(self._secrets.redact_data(value)) if self._secrets.used else value

    def shows_secret(self, screen: Screen) -> bool:
        """Whether the screen shows text that has become a secret since it was captured."""
        return self._here.shows_secret(screen)

    def _written(self, entry: dict[str, Any]) -> dict[str, Any]:
        """In the journal the caller's own words lose even parts of secrets.

        In the envelope they stay as they were sent: replacing a part there would confirm a guess.
        """
        if self._here.is_untouched:
            return entry
        redact = self._here.redact_data
        written = entry | {name: redact(entry[name]) for name in _FREE_ENTRY if name in entry}
        if envelope := entry.get("envelope"):
            written["envelope"] = envelope | _free_fields(envelope, redact)
        return written

    def _entry(self, run: ActionRun, event: LifecycleEvent, typed: str | None = None) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "kind": event.state,
            "action_id": run.id,
            "session": self.session,
            "device": self._device,
            "at_ms": event.at_ms,
            "terminal": False,
            "actor": {"kind": run.caller.actor, "id": run.caller.id},
            "door": run.caller.door,
        }
        if event.state == "accepted":
            action = run.action.to_dict()
            if typed is not None and "text" in action:
                action["text"] = typed
            entry |= {"action": action, "reason": run.action.reason}
        if event.state == "dispatched" and run.described_targets:
            entry["robust"] = run.described_targets
        if run.policy is not None and event.state in ("resolved", "failed"):
            entry["policy"] = run.policy
        if run.approval is not None:
            entry["approval"] = run.approval.id
        if run.blobs:
            entry["blobs"] = dict(run.blobs)
        return entry


def _free_fields(written: dict[str, Any], redact: Callable[[Any], Any]) -> dict[str, Any]:
    """The fields of an envelope that may hold text from outside, redacted."""
    clean = {name: redact(written[name]) for name in _FREE if name in written}
    for name, parts in _FREE_INSIDE.items():
        if inner := written.get(name):
            clean[name] = inner | {part: redact(inner[part]) for part in parts if part in inner}
    return clean


_CANVAS_SHARE = 8
"""A view without text or children that covers more than 1/8 of the screen is a canvas: a point on it has no
element to name."""
_BY_PLACE = frozenset({"slider", "web_view", "progress_bar"})


def describe_targets(run: ActionRun, registry: Registry) -> None:
    """Fills `run.portraits` with a robust selector and identity for each target; for typing, of the focused
    field.

    Done once, on the screen where the targets were resolved, while the journal waits for the disk.
    """
    if run.described_targets is not None:
        return
    nodes = {
        name.rstrip("_"): (aim.match.screen, aim.node)
        for name, aim in run.aims.items()
        if not (isinstance(aim.target, Point) and _is_canvas(aim.match.screen, aim.touched))
    }
    if isinstance(run.action, TypeText) and not run.aims and run.before is not None:
        screen = run.before.screen
        field = next((n for n in screen.nodes if n.focused and n.role == "text_field"), None)
        if field is not None:
            nodes["target"] = (screen, field)
    run.described_targets = {
        name: {
            "selector": robust_selector(screen, node, registry).model_dump(exclude_none=True),
            "element": identity(screen, node, registry),
        }
        for name, (screen, node) in nodes.items()
    }


def _is_canvas(screen: Screen, node: Node) -> bool:
    if node.role in _BY_PLACE:
        return True
    is_silent = not (node.text or node.description or node.children)
    return is_silent and node.bounds.area * _CANVAS_SHARE > screen.width * screen.height


_GESTURES = (Tap, DoubleTap, LongPress, Swipe, Drag)
_NOT_DETAILS = frozenset({"expected", "observed", "delivery"})  # the envelope has fields of its own for them
MAX_DIAGNOSTICS = 10


def build_envelope(run: ActionRun, facts: Facts | None, serial: str, error: HandrailError | None) -> Envelope:
    action, details, is_retryable = run.action, dict(run.details), None
    if error is not None:
        causes = error.details.items()
        details |= {name: cause for name, cause in causes if name not in _NOT_DETAILS and cause is not None}
        if run.sent:
            details["sent"] = dict(run.sent)
        # What may have been delivered must not be repeated blindly.
        is_late = error.code == "TIMEOUT" and run.delivery == "delivered"
        is_retryable = error.retryable and run.delivery != "unknown" and not is_late
    return Envelope(
        action_id=run.id,
        timestamp=iso_time(run.life.events[0].at_ms),
        action_type=action.type,
        semantic=action.semantic,
        reason=action.reason,
        device=None if action.effect == "desk" else _device(facts, serial),
        lifecycle_state=cast("Any", run.life.state),  # one that has not ended is refused
        source_module=_source(action),
        target=_target(run),
        success=error is None,
        failure_code=error.code if error else None,
        message=error.message if error else None,
        retryable=is_retryable,
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


def _device(facts: Facts | None, serial: str) -> DeviceInfo:
    if facts is None:
        return DeviceInfo(id=serial, platform="android")
    return DeviceInfo(
        id=serial,
        model=facts.model,
        manufacturer=facts.manufacturer or None,
        android_version=facts.android or None,
        sdk=facts.api_level or None,
        os_version=None if facts.android else facts.os_version or None,
        platform=facts.platform,
    )


def _source(action: Act) -> SourceModule:
    """`interact` is a gesture with a selector as its target, resolved or not."""
    if not isinstance(action, _GESTURES):
        return "server"
    aimed = action.from_ if isinstance(action, Drag) else action.target
    return "interact" if isinstance(aimed, Selector) else "server"


def _target(run: ActionRun) -> EnvelopeTarget | None:
    target: Any = getattr(run.action, "target", None) or getattr(run.action, "from_", None)
    if target is None and isinstance(run.action, WaitFor):
        target = run.action.condition.subject
    if target is None:
        return None
    aim = run.aims.get("target") or run.aims.get("from_")
    return EnvelopeTarget(
        selector=target.model_dump(exclude_none=True), resolved=aim.resolved() if aim else None
    )
