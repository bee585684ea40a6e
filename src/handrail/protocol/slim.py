"""An action's fields as the smallest JSON Schema that a model needs. Pure. What is not shown is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from handrail.protocol.act import Act
from handrail.protocol.describe import DescribedField, describe

REASON = {"type": "string", "description": "what I do and why"}
TARGET = "@ref, x,y or text"
_HIDDEN = frozenset({"reason", "device", "expect", "monitorId"})
_SHORT_FORMS = {"target": TARGET, "selector": TARGET, "condition": "visible text", "point": "x,y"}


def input_schema(
    cls: type[Act],
    *,
    shown: str | None = None,
    words: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """`shown` names the fields that are advertised (all own ones otherwise), `words` describes some."""
    own = [one for one in describe(cls).fields if one.name not in _HIDDEN]
    chosen = own if shown is None else [one for one in own if one.name in shown.split()]
    fields = {one.name: _field(one, (words or {}).get(one.name)) for one in chosen} | dict(more or {})
    required = [one.name for one in chosen if one.presence == "required"]
    return reason_if(cls.traits.effect != "read", fields, required)


def reason_if(is_needed: bool, fields: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """Whatever touches the device says why."""
    if not is_needed:
        return object_of(fields, required)
    return object_of({**fields, "reason": REASON}, [*required, "reason"])


def object_of(fields: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """A schema of these properties."""
    names = list(required)
    made: dict[str, Any] = {"type": "object", "properties": dict(fields)}
    return made | ({"required": names} if names else {})


def _field(one: DescribedField, words: str | None) -> dict[str, Any]:
    schema = _kind(one.kind)
    said = words or _SHORT_FORMS.get(one.kind)
    return schema | ({"description": said} if said else {})


def _kind(kind: str) -> dict[str, Any]:
    if kind in _SHORT_FORMS:
        return {"type": "string"}
    if " or " in kind:
        return {"anyOf": [_kind(part) for part in kind.split(" or ")]}
    if " | " in kind:
        return {"type": "string", "enum": kind.split(" | ")}
    if kind.startswith("list of "):
        return {"type": "array", "items": _kind(kind.removeprefix("list of "))}
    name = kind.partition(" ")[0]
    return {"type": name} if name in ("string", "integer", "number", "boolean", "object") else {}
