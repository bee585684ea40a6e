"""An action class as words: the one source of the docs, the CLI's help and the tools' texts.

`model_tool` is what a model needs to know of an action. What its schema leaves out is still accepted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from pydantic import TypeAdapter

from handrail.protocol.act import SHARED_FIELDS, Act
from handrail.protocol.actions import ACTIONS

_SHORT = {
    "string or Point or Selector": "target",
    "string or Condition": "condition",
    "string or Selector": "selector",
    "string or Point": "point",
}
_SHARED = ("type", "expect", "reason", "device", "monitorId")


@dataclass(frozen=True, slots=True)
class DescribedField:
    """One field for people."""

    name: str
    kind: str
    presence: str  # "required", "default 300", or "" for what may be left out
    text: str


@dataclass(frozen=True, slots=True)
class DescribedAction:
    """One action for people."""

    type: str
    text: str
    fields: tuple[DescribedField, ...]
    example: str


def summary(cls: type[Act]) -> str:
    """The first line of the docstring."""
    return (cls.__doc__ or "").strip().splitlines()[0]


_descriptions: dict[type[Act], DescribedAction] = {}


def describe(cls: type[Act]) -> DescribedAction:
    """The action with its fields, without `type`."""
    describe_together([cls])
    return _descriptions[cls]


def describe_together(classes: Iterable[type[Act]]) -> None:
    """One schema for all of them: shared parts are made once, and no other actions are built."""
    from handrail.protocol.schema import schema_of  # noqa: PLC0415  (a generator that few commands need)

    missing = [cls for cls in classes if cls not in _descriptions]
    if missing:
        schemas = schema_of(TypeAdapter(reduce(or_, missing)), "")
        for cls in missing:
            schema = schemas if len(missing) == 1 else schemas["$defs"][cls.__name__]
            properties, required = schema["properties"], schema.get("required", [])
            own = [name for name in properties if name not in _SHARED]
            shared = [name for name in _SHARED if name != "type" and name in properties]
            fields = [_describe_field(name, properties[name], name in required) for name in (*own, *shared)]
            example = json.dumps(cls.example, ensure_ascii=False)
            kind = cls.model_fields["type"].default
            _descriptions[cls] = DescribedAction(kind, summary(cls), tuple(fields), example)


def describe_fields(schema: dict[str, Any]) -> tuple[DescribedField, ...]:
    required = schema.get("required", [])
    return tuple(
        _describe_field(name, field, name in required) for name, field in schema["properties"].items()
    )


def _describe_field(name: str, schema: dict[str, Any], required: bool) -> DescribedField:
    default = f"default {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else ""
    presence = "required" if required else default
    return DescribedField(name, kind_of(schema), presence, schema.get("description", ""))


def kind_of(schema: dict[str, Any]) -> str:
    """A JSON Schema type in a few words: `integer 0…60000`, `up | down`, `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            kinds = dict.fromkeys(kind_of(option) for option in schema[union])
            return _SHORT.get(" or ".join(kinds), " or ".join(kinds))
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['type']} {schema['minimum']}…{schema['maximum']}"
    return str(schema.get("type", "any"))


REASON = {"type": "string", "description": "what I do and why"}
TARGET = "@ref, x,y or text"
_AFTERWARDS = {"type": "string", "description": "to be visible afterwards"}
_HIDDEN = frozenset({*SHARED_FIELDS, "monitorId"})
_SHORT_FORMS = {"target": TARGET, "selector": TARGET, "condition": "visible text", "point": "x,y"}


def model_tool(
    cls: type[Act], *, always_reason: bool = False, for_web: bool = False
) -> tuple[str, dict[str, Any]]:
    """An action as a model gets it: a text, and the smallest JSON Schema.

    Whatever touches the device takes a reason; with `always_reason` all does, or its own words instead.
    """
    view = cls.traits.model
    own = [field for field in describe(cls).fields if field.name not in _HIDDEN]
    shown = f"{view.shown or ''} {view.web if for_web else ''}".split()
    chosen = own if view.shown is None else [field for field in own if field.name in shown]
    fields: dict[str, Any] = {}
    for field in chosen:
        words = view.fields.get(field.name) or _SHORT_FORMS.get(field.kind)
        fields[field.name] = _slim_kind(field.kind) | ({"description": words} if words else {})
    fields |= {name: {"type": "string"} for name in view.texts}
    if view.expects:
        fields["expect"] = _AFTERWARDS
    required = [field.name for field in chosen if field.presence == "required"]
    if always_reason and not view.gives_reason:
        present = [field.name for field in chosen if field.presence]
        return view.words or summary(cls), closed_object_schema(fields, present)
    needs_reason = always_reason or cls.traits.effect != "read"
    return view.words or summary(cls), schema_with_reason(needs_reason, fields, required)


def vocabulary_text(kinds: Iterable[str]) -> str:
    """For a model without tools: a line per kind of action; fields that may be left out have a `?`."""
    classes = {kind: ACTIONS[kind] for kind in kinds}
    describe_together(classes.values())
    lines = []
    for kind, cls in classes.items():
        words, schema = model_tool(cls, always_reason=True)
        fields = []
        for name, field in schema["properties"].items():
            if name != "reason":
                mark = "" if name in schema.get("required", ()) else "?"
                type_, description = str(field.get("type", "any")), field.get("description")
                meaning = f"{type_}, {description}" if description else type_
                fields.append(f"{name}{mark}: {'|'.join(field['enum']) if 'enum' in field else meaning}")
        lines.append(f"- {kind} {{{'; '.join(fields)}}}: {words}")
    return "\n".join(lines)


def schema_with_reason(
    is_needed: bool, fields: Mapping[str, Any], required: Iterable[str] = ()
) -> dict[str, Any]:
    if not is_needed:
        return closed_object_schema(fields, required)
    return closed_object_schema({**fields, "reason": REASON}, [*required, "reason"])


def closed_object_schema(fields: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """A closed schema of these properties: strict mode refuses an empty one that is open."""
    names = list(required)
    schema: dict[str, Any] = {"type": "object", "properties": dict(fields)}
    if not fields:
        schema["additionalProperties"] = False
    return schema | ({"required": names} if names else {})


def _slim_kind(kind: str) -> dict[str, Any]:
    if kind in _SHORT_FORMS or kind.startswith("string or list"):  # a list has a short form in words
        return {"type": "string"}
    if " or " in kind:
        return {"anyOf": [_slim_kind(part) for part in kind.split(" or ")]}
    if " | " in kind:
        return {"type": "string", "enum": kind.split(" | ")}
    if kind.startswith("list of "):
        return {"type": "array", "items": _slim_kind(kind.removeprefix("list of "))}
    name = kind.partition(" ")[0]
    return {"type": name} if name in ("string", "integer", "number", "boolean", "object") else {}
