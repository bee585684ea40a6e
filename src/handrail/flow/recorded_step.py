"""One journalled action as a step of a flow: targets in words that last, no refs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.engine.approval.request import MASKED
from handrail.engine.journal.query import Shown
from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.device import Direction, Swipe
from handrail.protocol.flow import Step
from handrail.protocol.observe import Check, WaitFor
from handrail.protocol.read import action_from
from handrail.protocol.system import OpenUrl
from handrail.protocol.traits import Pressed

_ONCE = ("reason", "device")
"""Fields that belong to the moment."""
_HANDLES = frozenset({"ref", "element_id"})
_ORDER = ("package", "class", "role", "id", "text", "description", "path", "bounds", "screen", "neighbours")
_SECRET = re.compile(r"\$\{secret:")
_UNWRITTEN = re.compile(rf"\$\{{secret:TYPED_\d+\}}|{MASKED}")
"""What the journal says for a password that was typed as it is."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step, and what was known of the elements it touched."""

    action: AnyAction
    elements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Identities by the action's field."""
    before: str = ""
    after: str = ""
    """Fingerprints of the screen that it found and of the one that it left; '' where nobody looked."""
    scrolled: Direction | None = None
    """Where the content lay that a swipe brought into sight."""
    retry: int = 0
    optional: bool = False

    @property
    def step(self) -> Step:
        return Step(action=self.action, retry=self.retry, optional=self.optional)

    @property
    def package(self) -> str:
        """The app whose element was touched; '' where none was."""
        return next((str(one["package"]) for one in self.elements.values() if one.get("package")), "")

    @property
    def element(self) -> dict[str, Any] | None:
        """As it stands in a file: that of a lone target without its field's name."""
        if self.elements.keys() == {"target"}:
            return _ordered(self.elements["target"])
        return {name: _ordered(one) for name, one in self.elements.items()} or None


def _ordered(element: Mapping[str, Any]) -> dict[str, Any]:
    """What it is first, where it stood last; the journal sorts its keys by letters."""
    return {key: element[key] for key in _ORDER if key in element}


def asked_fields(shown: Shown) -> dict[str, Any]:
    """What was asked for, without what belongs to the moment; {} where that is not known."""
    return {name: value for name, value in (_first(shown, "action") or {}).items() if name not in _ONCE}


def recorded_step(shown: Shown) -> RecordedStep | None:
    """None for what does not belong into a flow: reads, pauses, vain attempts, acts of the desk."""
    fields, envelope = asked_fields(shown), shown.envelope or {}
    succeeded = envelope.get("success") is True
    if not _belongs(fields) or not (succeeded or _did_something(envelope)):
        return None
    drawn = _first(shown, "robust") or {}
    for name in _targets(fields):
        fields[name] = _lasting(name, fields.get(name), drawn, envelope)
    if not succeeded or not _lasts(fields.get("expect")):
        fields.pop("expect", None)
    fields = {name: value for name, value in (fields | _text(fields, drawn)).items() if value is not None}
    try:
        action = action_from(fields)
        if expected := _expected(action, _first(shown, "landmark")):
            action = action_from(fields | expected)
    except InvalidAction:  # its target was a ref, and nobody drew the element behind it
        return None
    elements = {name: one["element"] for name, one in drawn.items() if name in fields}
    return RecordedStep(
        action,
        elements,
        before=envelope.get("ui_fingerprint_before") or "",
        after=envelope.get("ui_fingerprint_after") or "",
        scrolled=_scrolled(envelope) if isinstance(action, Swipe) else None,
        optional=not succeeded,
    )


def _did_something(envelope: Mapping[str, Any]) -> bool:
    """It failed, and yet the screen became another one: what came after rests on it."""
    before, after = envelope.get("ui_fingerprint_before"), envelope.get("ui_fingerprint_after")
    return envelope.get("delivery") == "delivered" and bool(before and after) and before != after


def _scrolled(envelope: Mapping[str, Any]) -> Direction | None:
    moves = [one for one in envelope.get("changes") or () if one.get("type") == "scrolled"]
    if not moves:
        return None
    dx, dy = moves[0].get("dx", 0), moves[0].get("dy", 0)
    if abs(dy) >= abs(dx):
        return "down" if dy < 0 else "up"
    return "right" if dx < 0 else "left"


def _first(shown: Shown, key: str) -> dict[str, Any] | None:
    return next((event[key] for event in shown.events if isinstance(event.get(key), dict)), None)


def _belongs(fields: Mapping[str, Any]) -> bool:
    """What touches the device, and the checks and waits that somebody made in words that last."""
    cls = ACTIONS.get(fields.get("type", ""))
    if cls is None:
        return False
    is_wait = cls is WaitFor and fields.get("timeout_ms") != 0  # one of no time is only a look
    if is_wait or issubclass(cls, Check):
        return _lasts(fields)
    return cls.traits.effect in ("input", "system", "sensitive")


def _targets(fields: Mapping[str, Any]) -> list[str]:
    aimed = {name.rstrip("_") for name in ACTIONS[fields["type"]].traits.aims}
    given = {name for name in ("target", "within") if name in fields}
    return sorted(aimed | given)


def _lasting(name: str, given: Any, drawn: Mapping[str, Any], envelope: Mapping[str, Any]) -> Any:
    """The selector that was drawn, else the caller's own words, else what the envelope says was found."""
    if name in drawn and not _SECRET.search(str(drawn[name]["selector"])):
        return drawn[name]["selector"]
    if given is None or _lasts(given):
        return given
    return _found((envelope.get("target") or {}).get("resolved") or {})


def _found(resolved: Mapping[str, Any]) -> dict[str, Any] | None:
    holds_value = str(resolved.get("class", "")).endswith("EditText")
    words = {
        "id": (resolved.get("resource_id") or "").rpartition(":id/")[2],
        "text": None if holds_value else resolved.get("text"),
        "description": resolved.get("accessibility_id"),
    }
    return next(({name: value} for name, value in words.items() if value), None)


def _lasts(value: Any) -> bool:
    """Whether it holds no ref: a ref means nothing in another session."""
    if isinstance(value, Mapping):
        return not _HANDLES & value.keys() and all(map(_lasts, value.values()))
    return not isinstance(value, list | tuple) or all(map(_lasts, value))


def _text(fields: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, str]:
    """What was typed; for a password, which nobody wrote down, the secret that should be made for it."""
    text = fields.get("text")
    if not isinstance(text, str):
        return {}
    if _UNWRITTEN.fullmatch(text):
        return {"text": f"${{secret:{_secret_name((drawn.get('target') or {}).get('element') or {})}}}"}
    return {"text": text}


def _secret_name(element: Mapping[str, Any]) -> str:
    words = element.get("id") or element.get("text") or ""
    name = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").upper()
    return name if name[:1].isalpha() else "PASSWORD"


def _expected(action: AnyAction, landmark: Mapping[str, Any] | None) -> dict[str, Any]:
    """What proves the step at a replay: the caller's own words, else what the new screen is known by."""
    if not landmark or action.expect or not _leads_on(action):
        return {}
    is_secret = any(_SECRET.search(str(words)) for words in landmark.values())
    return {} if is_secret else {"expect": {"visible": dict(landmark)}}


def _leads_on(action: AnyAction) -> bool:
    """Whether a new screen is what it was done for: something is pressed, or an address is opened."""
    presses = action.traits.presses in (Pressed.TARGET, Pressed.FOCUS) and not action.only_types
    return presses or isinstance(action, OpenUrl)
