"""The vocabulary's JSON Schema as a flow's file may write it: both spellings, variables, and the rules that
the models check by hand. Knows classes by their names in `$defs`; nothing of steps.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from handrail.protocol.model import camel

Schema = dict[str, Any]

_NAME = r"[A-Za-z_][A-Za-z0-9_]*(:-[^{}]*)?"
VARIABLE: Schema = {"type": "string", "pattern": rf"^\$\{{{_NAME}\}}$", "description": "A variable: ${NAME}"}
_WITH_VARIABLE: Schema = {
    "type": "string",
    "pattern": rf"\$\{{{_NAME}\}}",
    "description": "With ${NAME} in it",
}


def ref(name: str) -> Schema:
    """Points to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def snake(name: str) -> str:
    """`durationMs` → `duration_ms`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def spellings(name: str) -> list[str]:
    """A field's one or two names."""
    return list(dict.fromkeys((snake(name), camel(snake(name)))))


def has(name: str) -> Schema:
    """The field is there, in either spelling."""
    ways: list[Schema] = [{"required": [spelling]} for spelling in spellings(name)]
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def has_not(name: str) -> Schema:
    """The field is missing."""
    return {"not": has(name)}


def exactly_one(names: Iterable[str]) -> Schema:
    """One of the fields is there, and no other of them."""
    return {"oneOf": [has(name) for name in names]}


RULES: dict[str, Schema] = {
    "Swipe": {
        "oneOf": [
            {"allOf": [has("direction"), has_not("from"), has_not("to")]},
            {"allOf": [has("from"), has("to"), has_not("direction"), has_not("target")]},
        ]
    },
    "ExpectText": exactly_one(("equals", "contains")),
    "TextIs": exactly_one(("equals", "contains")),
    "ExpectScreen": exactly_one(("fingerprint", "activity")),
    "SetNetwork": {"anyOf": [has(name) for name in ("preset", "speed", "delay", "wifi", "airplane_mode")]},
    "Shell": {"if": {"properties": {"raw": {"const": True}}, "required": ["raw"]},
              "then": {"properties": {"command": {"type": "string"}}}},
}  # fmt: skip
"""What validators of the models say, by class."""


def both_spellings(
    schema: Mapping[str, Any], without: Iterable[str] = (), *, variables: bool = True
) -> Schema:
    """An object's schema that takes every field in either spelling, and never in both."""
    left_out = set(without)
    own = {name: one for name, one in schema["properties"].items() if name not in left_out}
    fields = {name: with_variables(one) if variables else one for name, one in own.items()}
    properties = {spelling: one for name, one in fields.items() for spelling in spellings(name)}
    required = [name for name in schema.get("required", ()) if name not in left_out]
    rules: list[Schema] = [has(name) for name in required if len(spellings(name)) > 1]
    rules += [{"not": {"required": spellings(name)}} for name in own if len(spellings(name)) > 1]
    kept = {key: one for key, one in schema.items() if key not in ("properties", "required")}
    made = {**kept, "properties": properties}
    single = [name for name in required if len(spellings(name)) == 1]
    return {**made, **({"required": single} if single else {}), **({"allOf": rules} if rules else {})}


def with_variables(schema: Mapping[str, Any]) -> Schema:
    """The same value, or a variable where a free text could not stand anyway."""
    told = {key: one for key, one in schema.items() if key in ("description", "default")}
    bare = {key: one for key, one in schema.items() if key not in told}
    members = [_plain_member(one) for one in bare["anyOf"]] if "anyOf" in bare else [_plain_member(bare)]
    extra = _variable_for(members)
    if extra is None:
        return {**told, **({"anyOf": members} if len(members) > 1 else members[0])}
    return {**told, "anyOf": [*members, extra]}


def _plain_member(schema: Mapping[str, Any]) -> Schema:
    if schema.get("type") == "array" and "items" in schema:
        return {**schema, "items": with_variables(schema["items"])}
    return dict(copy.deepcopy(schema))


def _variable_for(members: list[Schema]) -> Schema | None:
    """Which texts to allow besides: none where any text is right, or where no scalar is."""
    scalars = [one for one in members if one.get("type") in ("string", "integer", "number", "boolean")]
    texts = [one for one in scalars if one["type"] == "string"]
    if not scalars or any("pattern" not in one and "enum" not in one for one in texts):
        return None
    return _WITH_VARIABLE if texts else VARIABLE


def definition(name: str, schema: Mapping[str, Any], without: Iterable[str] = ()) -> Schema:
    """One of the vocabulary's objects as a file may write it."""
    if "properties" not in schema:
        return dict(schema)
    made = both_spellings(schema, without)
    if name == "Selector":
        made.pop("minProperties", None)
        says = [has(field) for field in schema["properties"] if field != "index"]
        made["allOf"] = [*made.get("allOf", ()), {"anyOf": says}]
    if name in RULES:
        made["allOf"] = [*made.get("allOf", ()), RULES[name]]
    return made
