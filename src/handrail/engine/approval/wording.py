"""How an act is told to a person, and which acts are of the same class as one that a person allowed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from handrail.engine.policy.grave import is_answer
from handrail.engine.policy.subject import Resolved, Subject
from handrail.protocol.device import TypeText
from handrail.protocol.sentence import question_of
from handrail.protocol.traits import Pressed
from handrail.tree.quote import clean, cut

LONGEST = 240
"""Characters of a command, an address or a script; whoever wants more looks at the action itself."""


def question(subject: Subject) -> str:
    """`Allow tap 'Pay now' in com.handrail.shop?`, `Allow shell: rm -rf /sdcard/x?`"""
    kind = subject.action.type
    if said := cut(clean(question_of(subject.action)), LONGEST):
        return f"Allow {kind}: {said}?"
    return f"Allow {_what(subject)}?"


def _what(subject: Subject) -> str:
    kind = subject.action.type
    what = f"{kind} {subject.label!r}" if subject.label else kind
    place = next((f"{one.place} in " for one in subject.touched or () if one.place), "")
    return f"{what} in {place}{subject.package or 'this device'}"


def types_password(subject: Subject) -> bool:
    """Its text is neither shown nor stored, and what is not shown can't be allowed in general."""
    touched = subject.touched or ()
    return isinstance(subject.action, TypeText) and any(one.password for one in touched)


@dataclass(frozen=True, slots=True)
class Scope:
    """A class of acts. `key` is the same for all of them and for no other; `said` is how people read it."""

    key: str = ""
    said: str = ""

    @classmethod
    def of(cls, subject: Subject) -> Scope | None:
        """The same action on the same element of the same app; None where that can't be said exactly.

        What is bound is what is written, letter by letter: what only looks like it is another class.
        """
        action, touched = subject.action, subject.touched or ()
        if types_password(subject):
            return None
        if action.presses in (Pressed.NOTHING, Pressed.UNKNOWN):
            about: list[Any] = [subject.context]
            said = f"{subject.type}: {cut(clean(subject.context), LONGEST)}"
        elif touched and all(one.label or one.id for one in touched):
            about = [_exactly(one) for one in touched]
            said = cut(clean(_what(subject)), LONGEST)
        else:
            return None  # nobody could say what it is
        bound = json.dumps([subject.type, subject.package, about], separators=(",", ":"))
        return cls(hashlib.sha256(bound.encode("utf-8", "backslashreplace")).hexdigest(), said)


NOTHING = Scope()
"""Nothing can be allowed for a time."""


def _exactly(one: Resolved) -> list[Any]:
    """ "OK" is what it answers; other elements are what they say themselves."""
    around = list(one.around) if is_answer(one.label) else []
    return [one.package, one.place, one.label, one.id, one.role, list(one.says), around]
