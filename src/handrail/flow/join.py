"""Which two steps of a recording are one: a tap into a field and the typing, a text typed in pieces."""

from __future__ import annotations

from dataclasses import replace

from handrail.flow.retell import Told
from handrail.protocol.act import Act
from handrail.protocol.device import ClearText, Tap, TypeText
from handrail.protocol.system import StartApp


def join(first: Told, second: Told) -> Told | None:
    """The one step that stands for both; None where both are needed."""
    joined = None if first.optional or second.optional else _join(first, second)
    return None if joined is None else replace(joined, before=first.before, after=second.after)


def _join(first: Told, second: Told) -> Told | None:
    match first.action, second.action:
        case StartApp(package=one), StartApp(package=other) if one == other:
            return second
        case (Tap() | ClearText() | TypeText()) as before, TypeText() as after if _same_field(before, after):
            return _typed(first, before, second, after)
        case Tap() as before, ClearText() as after if _same_field(before, after):
            return second
    return None


def _same_field(before: Act, after: Act) -> bool:
    """The same selector, and the first step did not lead to another screen."""
    target = getattr(after, "target", None)
    return target is not None and getattr(before, "target", None) == target and before.expect is None


def _typed(first: Told, before: Tap | ClearText | TypeText, second: Told, after: TypeText) -> Told | None:
    if isinstance(before, Tap) or after.clear:
        return second if not isinstance(before, TypeText) or not before.submit else None
    if isinstance(before, ClearText):
        return replace(second, action=after.model_copy(update={"clear": True}))
    if before.submit:
        return None
    whole = after.model_copy(update={"text": before.text + after.text, "clear": before.clear})
    return replace(second, action=whole, elements=first.elements)
