"""How a run is told: as its envelope, to the journal, to listeners, and to the caller. Secrets end here."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Literal

from handrail.clock import iso_time
from handrail.engine.approval.request import MASKED
from handrail.engine.events import Event, Events
from handrail.engine.journal import Journal
from handrail.engine.look.resolve import Aim
from handrail.engine.run import Run
from handrail.engine.secrets import Secrets
from handrail.engine.taint.device import DeviceSecrets
from handrail.errors import HandrailError
from handrail.protocol.act import Act
from handrail.protocol.device import DoubleTap, Drag, LongPress, Swipe, Tap, TypeText
from handrail.protocol.envelope import DeviceInfo, Envelope, EnvelopeTarget, LifecycleEvent, SourceModule
from handrail.protocol.observe import WaitFor
from handrail.protocol.target import Point, Selector
from handrail.surface.values import Facts
from handrail.tree.node import Node, Screen
from handrail.tree.portrait import identity, robust
from handrail.tree.portrait import landmark as landmark_of
from handrail.tree.refs import Registry
from handrail.waiting import uninterrupted

_FREE = ("reason", "message", "hint", "target", "changes", "diagnostics", "details")
"""What may hold a stranger's words. The rest is the engine's own: ids and times must survive a short PIN."""
_FREE_ENTRY = ("action", "reason", "robust", "landmark")
_FREE_INSIDE = {"verification": ("expected", "observed"), "settle": ("loading",)}


class Record:
    """The voice of one session."""

    def __init__(
        self, journal: Journal, secrets: Secrets, here: DeviceSecrets, device: str, session: str
    ) -> None:
        self.events = Events()
        self._journal = journal
        self._secrets = secrets
        self._here = here
        self._device = device
        self.session = session

    def announce(self, run: Run, event: LifecycleEvent) -> None:
        """What is typed is written down only once its field is known; the end comes with the envelope."""
        if event.terminal:
            return
        run.untold.append(event)
        self.events.tell(self._event(run, event))
        if event.state != "accepted" or not isinstance(run.action, TypeText):
            self.reveal(run)

    def say(self, run: Run, words: str) -> None:
        """What an action waits for, to whoever listens; the journal has the time that it took."""
        self.events.tell(replace(self._event(run, run.life.events[-1]), said=words))

    def reveal(self, run: Run, typed: str | None = None) -> None:
        """Write down what was held back; `typed` stands for a text that nobody may read."""
        for event in run.untold:
            self._journal.note(self._written(self._entry(run, event, typed)))
        run.untold.clear()

    async def seal(self, run: Run, envelope: Envelope) -> None:
        """The end is durable before anybody hears of it; a stop can't interrupt this."""
        self.reveal(run, MASKED)  # its field was never known
        await self._keep_picture(run)
        last = run.life.events[-1]
        written = _for_journal(envelope)
        entry = self._entry(run, last) | {"terminal": True, "envelope": written}
        if mark := landmark_after(run):
            entry["landmark"] = mark
        await uninterrupted(self._journal.seal(self._written(entry)))
        self.events.tell(replace(self._event(run, last), terminal=True, envelope=envelope))

    def _event(self, run: Run, event: LifecycleEvent) -> Event:
        actor, by = run.caller.actor, run.caller.id
        aimed = next((one.touched.bounds for one in run.aims.values()), None)
        told = Event(run.id, run.action.type, self._device, event.state, event.at_ms, actor=actor, by=by)
        return replace(told, bounds=(aimed[0], aimed[1], aimed[2], aimed[3])) if aimed else told

    async def _keep_picture(self, run: Run) -> None:
        """A picture can't be redacted, so none is kept where there is a secret that it might show."""
        if picture := run.details.get("screenshotBase64"):
            png = base64.b64decode(picture)
            kept = self._journal.put_blob(png, "image/png", no_secret=not self._secrets.used)
            run.blobs["screenshot"] = await uninterrupted(kept)

    def clean(self, envelope: Envelope) -> Envelope:
        """No secret leaves the engine, not even to the one who had it typed."""
        if not self._secrets.used:
            return envelope
        written = envelope.to_dict()
        clean = self._redacted(written, _FREE)
        for name, parts in _FREE_INSIDE.items():
            if name in written:
                clean[name] = {**written[name], **self._redacted(written[name], parts)}
        changed = {name: value for name, value in clean.items() if value != written[name]}
        return Envelope.model_validate(written | changed) if changed else envelope

    def redact_data(self, value: Any) -> Any:
        """Data for a file that others read: without any secret that is known by now, used here or not."""
        return self._here.redact_data(self._secrets.redact_data(value)) if self._secrets.used else value

    def shows_secret(self, screen: Screen) -> bool:
        """Whether a picture of this screen shows what has become a secret since it was taken."""
        return self._here.is_on(screen)

    def _redacted(self, data: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self._secrets.redact_data(data[name]) for name in names if name in data}

    def _written(self, entry: dict[str, Any]) -> dict[str, Any]:
        """For the journal, a caller's own words are without parts of secrets too.

        In the answer they stand as they were given: a guess that was changed there would be a right one.
        """
        if self._here.is_untouched:
            return entry
        redact = self._here.redact_data
        written = entry | {name: redact(entry[name]) for name in _FREE_ENTRY if name in entry}
        if envelope := entry.get("envelope"):
            clean = {name: redact(envelope[name]) for name in _FREE if name in envelope}
            for name, parts in _FREE_INSIDE.items():
                if inner := envelope.get(name):
                    clean[name] = inner | {part: redact(inner[part]) for part in parts if part in inner}
            written["envelope"] = envelope | clean
        return written

    def _entry(self, run: Run, event: LifecycleEvent, typed: str | None = None) -> dict[str, Any]:
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
        if event.state == "dispatched" and run.portraits:
            entry["robust"] = run.portraits
        if run.policy is not None and event.state in ("resolved", "failed"):
            entry["policy"] = run.policy
        if run.approval is not None:
            entry["approval"] = run.approval.id
        if run.blobs:
            entry["blobs"] = dict(run.blobs)
        return entry


def _for_journal(envelope: Envelope) -> dict[str, Any]:
    """Pictures are blobs; their base64 has no place in a chain of hashes."""
    written = envelope.to_dict()
    if envelope.details and "screenshotBase64" in envelope.details:
        kept = {key: value for key, value in envelope.details.items() if key != "screenshotBase64"}
        written["details"] = kept
    return written


_CANVAS_SHARE = 8
"""A silent view that takes more than this part of the screen is a surface: the place on it is what counts."""
_BY_PLACE = frozenset({"slider", "web_view", "progress_bar"})


def draw_portraits(run: Run, registry: Registry) -> None:
    """By the action's field: a robust selector and the element's identity; for typing, the focused field.

    Once, on the screen on which the elements were found: while what was decided goes to the disk.
    """
    if run.portraits is not None:
        return
    named = {name.rstrip("_"): _portrait(one, registry) for name, one in run.aims.items()}
    if isinstance(run.action, TypeText) and not named and run.before is not None:
        screen = run.before.screen
        field = next((n for n in screen.nodes if n.focused and n.role == "text_field"), None)
        named["target"] = _drawn(screen, field, registry) if field else None
    run.portraits = {name: drawn for name, drawn in named.items() if drawn}


def landmark_after(run: Run) -> dict[str, str] | None:
    """How the screen that an action led to is known; None where it is still the same one."""
    before, after = run.before, run.after
    if before is None or after is None or before.fingerprint == after.fingerprint:
        return None
    return landmark_of(before.screen, after.screen)


def _portrait(aim: Aim, registry: Registry) -> dict[str, Any] | None:
    screen, thing = aim.found.screen, aim.touched
    if isinstance(aim.target, Point) and _is_surface(screen, thing):
        return None
    return _drawn(screen, aim.node, registry)


def _drawn(screen: Screen, node: Node, registry: Registry) -> dict[str, Any]:
    selector = robust(screen, node, registry)
    return {
        "selector": selector.model_dump(exclude_none=True),
        "element": identity(screen, node, registry),
    }


def _is_surface(screen: Screen, thing: Node) -> bool:
    if thing.role in _BY_PLACE:
        return True
    is_silent = not (thing.text or thing.description or thing.children)
    return is_silent and thing.bounds.area * _CANVAS_SHARE > screen.width * screen.height


_GESTURES = (Tap, DoubleTap, LongPress, Swipe, Drag)
_NOT_DETAILS = frozenset({"expected", "observed", "delivery"})  # said elsewhere in the envelope
MAX_DIAGNOSTICS = 10


def envelope_of(run: Run, facts: Facts | None, serial: str, error: HandrailError | None) -> Envelope:
    """Everything that is known of the run."""
    action = run.action
    details = {**run.details, **_error_details(error)}
    if error is not None and run.sent:
        details["sent"] = dict(run.sent)
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
        manufacturer=facts.manufacturer or None,
        android_version=facts.android_version or None,
        sdk=facts.sdk or None,
        platform=facts.platform,
    )


def _source(action: Act) -> SourceModule:
    """`interact`: a gesture aimed at an element by handle or selector, found or not."""
    if not isinstance(action, _GESTURES):
        return "server"
    aimed = action.from_ if isinstance(action, Drag) else action.target
    return "interact" if isinstance(aimed, Selector) else "server"


def _target(run: Run) -> EnvelopeTarget | None:
    asked: Any = getattr(run.action, "target", None) or getattr(run.action, "from_", None)
    if asked is None and isinstance(run.action, WaitFor):
        asked = run.action.condition.subject
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
