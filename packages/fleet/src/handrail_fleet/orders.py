"""What people at the head want of a host: signed by the head's key, and believed by nobody without it.

An answer to a question names host, device, action and screen, by the digest that the question is bound to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from handrail.errors import ActionRejected, InvalidAction
from handrail.journal.signed_note import LOG, BadNote, Note, SigningKey, VerifierKey
from handrail.journal.signing_key import make_key, read_key
from handrail.safety.approval_store import AskedApproval

FIRST_LINE = "handrail fleet order v2"
KEY_NAME = "handrail/fleet"
BOUND = ("id", "device", "action", "digest", "fingerprint")
"""What an answer has to repeat of its question, letter by letter."""


def head_key(home: Path) -> SigningKey:
    """The head's own; made with the first head of this home."""
    path = home / "keys" / "fleet.key"
    return read_key(path) if path.exists() else make_key(path, LOG, KEY_NAME)


def trusted_key(home: Path, told: str) -> VerifierKey:
    """The key of the head that this host first spoke to. Another one is refused: it may be another head."""
    path = home / "config" / "fleet-head.key"
    try:
        given = VerifierKey.parse(told)
    except BadNote as error:
        raise InvalidAction(f"the head tells no key: {error}") from None
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(f"{given}\n", encoding="utf-8")
        path.chmod(0o600)
    known = VerifierKey.parse(path.read_text(encoding="utf-8"))
    if known != given:
        raise InvalidAction(
            f"this head signs with another key than the one that {path} names",
            hint=f"If the head was set up again, remove {path}; else another server answers in its place.",
        )
    return known


@dataclass(frozen=True, slots=True)
class OrderedHost:
    """Whom an order is for: one process of one host. The next one does not do what was meant for it."""

    name: str
    incarnation: str


def signed_order(key: SigningKey, to: OrderedHost, number: int, kind: str, body: Mapping[str, Any]) -> str:
    """One line of JSON, signed. `number` only grows: an order that was heard once is not heard again."""
    told = {"number": number, "kind": kind, "body": dict(body)} | asdict(to)
    return str(Note.signed(f"{FIRST_LINE}\n{json.dumps(told, sort_keys=True)}\n", key))


def read_order(text: str, key: VerifierKey, own: OrderedHost, after: int) -> dict[str, Any]:
    """Raises `ActionRejected` unless the head signed it, for this process, and it is new."""
    try:
        note = Note.parse(text)
        note.check([key])
        first, line, end = note.text.split("\n")
        told = json.loads(line)
    except (BadNote, ValueError) as error:
        raise ActionRejected(
            f"an order was not signed by the head: {error}", hint="It was not obeyed."
        ) from None
    is_own = (told.get("name"), told.get("incarnation")) == (own.name, own.incarnation)
    if first != FIRST_LINE or end or not is_own or told.get("number", 0) <= after:
        raise ActionRejected("an order is for another host, or an old one", hint="It was not obeyed.")
    return dict(told)


def question_data(one: AskedApproval) -> dict[str, Any]:
    """A question as the head is told of it: everything that a person decides by, and what it is bound to."""
    asked = one.request
    return {
        "id": one.id,
        "kind": asked.kind,
        "action": dict(asked.action),
        "digest": asked.digest,
        "device": asked.device,
        "fingerprint": asked.fingerprint,
        "instruction": asked.instruction,
        "reason": asked.reason,
        "why": asked.why,
        "capability": asked.capability,
        "label": asked.label,
        "asked_by": asked.asked_by,
        "timeout_ms": asked.timeout_ms,
    }


def binding(question: Mapping[str, Any]) -> dict[str, Any]:
    """What the answer to this question is bound to."""
    return {name: question[name] for name in BOUND}


def check_binding(answer: Mapping[str, Any], one: AskedApproval) -> None:
    """Raises `ActionRejected` where an answer was given to another question than this host's own."""
    if binding(question_data(one)) != answer.get("to"):
        raise ActionRejected(
            f"the answer to {one.id} was given for another action, device or screen",
            hint="Ask again.",
        )
