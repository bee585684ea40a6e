"""JSON Schema (draft 2020-12) of a flow's file, for editors: a projection of the vocabulary and the steps.

It takes what `load` takes: both spellings, variables, and the rules of the models' validators. What only
reading can tell is left to `flow check`, such as whether a file is there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.dialects import agentest
from handrail.dialects.rules import native_path_of
from handrail.flow.parse import MAX_STEPS
from handrail.flow.shorthand import ACTING, INSIDE, SHARED
from handrail.protocol.actions import ACTIONS
from handrail.protocol.describe import summary
from handrail.protocol.flow import Flow
from handrail.protocol.model import NOT_BLANK, camel
from handrail.protocol.schema import schema_of


@cache
def _vocabulary() -> Schema:
    schema = schema_of(TypeAdapter(Flow), "Handrail flow")
    tokens, line = schema["$defs"]["Shell"]["properties"]["command"]["anyOf"]
    tokens["prefixItems"] = [{"type": "string", "minLength": 1}]  # the model says so in code
    line["pattern"] = r"\S"
    return schema


def flow_schema() -> Schema:
    """The JSON Schema of a flow's file, without references to other documents."""
    source = _vocabulary()
    actions = {cls.__name__ for cls in ACTIONS.values()}
    controls = {"Step", "Repeat", "Branch", "RunFlow", "Parallel"}
    defs = {
        name: adapt_definition(name, model, ("type",) if name in actions else ())
        for name, model in source["$defs"].items()
        if name not in controls
    }
    defs |= {f"do.{kind}": _value_schema(kind) for kind in ACTIONS}
    bare = [kind for kind in ACTIONS if _is_bare(kind)]
    kinds = ("actionStep", "bareStep", "repeatStep", "whenStep", "runFlowStep", "parallelStep")
    defs |= {
        "options": _options_schema(),
        "actionStep": _action_step(),
        "bareStep": {"enum": bare, "description": "An action without fields."},
        "repeatStep": _repeat_schema(),
        "whenStep": _when_schema(),
        "runFlowStep": _run_flow_schema(),
        "parallelStep": _parallel_schema(),
        "step": {"anyOf": [schema_ref(kind) for kind in kinds]},
        "steps": _steps_list(schema_ref("step")),
        "agentestSelector": _agentest_selector(),
        "agentestStep": {"oneOf": [_agentest_kind(name) for name in agentest.STEPS]},
        "agentestSteps": _steps_list(schema_ref("agentestStep")),
    }
    any_steps = [schema_ref("steps"), schema_ref("agentestSteps")]
    own = {name: part for name, part in source["properties"].items() if name not in ("steps", "env")}
    own |= {"env": _env_schema("Variables and their values."), "steps": {"anyOf": any_steps}}
    document = {"type": "object", "additionalProperties": False, "properties": own, "required": ["steps"]}
    return {
        "$schema": source["$schema"],
        "title": source["title"],
        "description": source["description"],
        "anyOf": [document, *any_steps],
        "$defs": defs,
    }


def _env_schema(meaning: str) -> Schema:
    return {
        "type": "object",
        "description": meaning,
        "additionalProperties": {"type": ["string", "number", "boolean"], "maxLength": 100_000},
        "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    }


def _steps_list(item: Schema) -> Schema:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": MAX_STEPS}


def _is_bare(kind: str) -> bool:
    """The step may be written as its name alone."""
    try:
        ACTIONS[kind].model_validate({"type": kind})
    except ValidationError:
        return False
    return True


def _value_schema(kind: str) -> Schema:
    """What may stand after `tap:`: its fields, its short form, or nothing."""
    cls = ACTIONS[kind]
    forms = [schema_ref(cls.__name__)]
    short = cls.traits.shorthand
    needed = set(_vocabulary()["$defs"][cls.__name__].get("required", ())) - {"type"}
    if short and needed <= {short}:
        field = _vocabulary()["$defs"][cls.__name__]["properties"][short]
        bare = {key: part for key, part in field.items() if key != "default"}
        forms.append(with_variables(bare))
    if _is_bare(kind):
        forms.append({"type": "null"})
    return {"description": summary(cls), "anyOf": forms}


def _shared_options() -> Schema:
    properties = _vocabulary()["$defs"]["Repeat"]["properties"]
    return {name: properties[name] for name in SHARED}


def _holder_schema(properties: Schema, required: list[str], shared: tuple[str, ...] = SHARED) -> Schema:
    """A step that holds others: its own keys, and options in either spelling."""
    options = both_spellings({"properties": {name: _shared_options()[name] for name in shared}})
    schema: Schema = {"type": "object", "additionalProperties": False}
    schema["properties"] = {**properties, **options["properties"]}
    return {**schema, "required": required, "allOf": options["allOf"]}


def _options_schema() -> Schema:
    step = _vocabulary()["$defs"]["Step"]["properties"]
    inside = _vocabulary()["$defs"]["Tap"]["properties"]
    element = {"type": "object", "description": "What a recording knows of the element, for healing."}
    options = {**_shared_options(), **{name: inside[name] for name in INSIDE}, "element": element}
    options |= {name: step[name] for name in ACTING if name in step}
    return both_spellings({"properties": options})


def _action_step() -> Schema:
    options = _options_schema()
    heads = "|".join(kind.replace(".", r"\.") for kind in ACTIONS)
    twice = [
        {
            "if": {"required": [name]},
            "then": {"patternProperties": {f"^({heads})$": {"not": {"type": "object", "required": [name]}}}},
        }
        for name in INSIDE
    ]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {**{kind: schema_ref(f"do.{kind}") for kind in ACTIONS}, **options["properties"]},
        "oneOf": [{"required": [kind]} for kind in ACTIONS],
        "allOf": [*options["allOf"], *twice],
    }


def _repeat_schema() -> Schema:
    model = _vocabulary()["$defs"]["Repeat"]
    own = {name: schema for name, schema in model["properties"].items() if name not in (*SHARED, "steps")}
    inner = both_spellings({"type": "object", "additionalProperties": False, "properties": own})
    inner["properties"]["steps"] = schema_ref("steps")
    inner["required"] = ["steps"]
    inner["allOf"] = [*inner["allOf"], {"oneOf": [requires(name) for name in ("times", "while", "until")]}]
    return _holder_schema({"repeat": {**inner, "description": model["description"]}}, ["repeat"])


def _when_schema() -> Schema:
    condition = _shared_options()["when"]
    shared = tuple(name for name in SHARED if name != "when")
    inner = {
        "when": {**condition, "description": "What decides."},
        "then": schema_ref("steps"),
        "else": schema_ref("steps"),
    }
    return _holder_schema(inner, ["when", "then"], shared)


def _run_flow_schema() -> Schema:
    model = _vocabulary()["$defs"]["RunFlow"]
    file = model["properties"]["file"]
    long = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"file": file, "env": _env_schema("Values for the other file's variables.")},
        "required": ["file"],
    }
    return _holder_schema(
        {"run_flow": {"description": model["description"], "anyOf": [file, long]}}, ["run_flow"]
    )


def _parallel_schema() -> Schema:
    model = _vocabulary()["$defs"]["Parallel"]
    devices = {**model["properties"]["devices"], "additionalProperties": schema_ref("steps")}
    return _holder_schema({"parallel": {**devices, "description": model["description"]}}, ["parallel"])


def _agentest_selector() -> Schema:
    selector = _vocabulary()["$defs"]["Selector"]["properties"]
    fields = ("ref", "id", "text", "text_contains", "class_name", "description", "index")
    properties = {
        spelling: {"anyOf": [selector[name], {"type": "null"}]}
        for name in fields
        for spelling in spellings(name)
    }
    texts = [name for name in properties if name != "index"]
    says = [{"required": [name], "properties": {name: {"type": "string"}}} for name in texts]
    schema = {"type": "object", "additionalProperties": False, "properties": properties, "anyOf": says}
    return {"anyOf": [{"type": "string", "pattern": NOT_BLANK, "maxLength": 1_000}, schema]}


def _agentest_kind(name: str) -> Schema:
    rule = agentest.STEPS[name].rule
    model = _vocabulary()["$defs"][ACTIONS[rule.native].__name__]
    properties: Schema = {"action": {"const": name}}
    for foreign, path in rule.fields.items():
        first, _, last = native_path_of(path).partition(".")
        if last:  # a coordinate
            field = dict(_vocabulary()["$defs"]["Point"]["properties"][last])
        elif first in ("target", "within"):
            field = schema_ref("agentestSelector")
        else:
            field = {key: part for key, part in model["properties"][first].items() if key != "default"}
        field = _schema_with_fractions(field)
        properties[foreign] = field if foreign in rule.required else {"anyOf": [field, {"type": "null"}]}
    required = ["action", *rule.required]
    return both_spellings(
        {"type": "object", "additionalProperties": False, "properties": properties, "required": required},
        variables=False,
    )


def _schema_with_fractions(schema: Schema) -> Schema:
    """AgenTest's numbers may have a fraction, which is rounded."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [_schema_with_fractions(part) for part in schema["anyOf"]]}
    return {**schema, "type": "number"} if schema.get("type") == "integer" else schema


Schema = dict[str, Any]

_NAME = r"[A-Za-z_][A-Za-z0-9_]*(:-[^{}]*)?"
VARIABLE: Schema = {"type": "string", "pattern": rf"^\$\{{{_NAME}\}}$", "description": "A variable: ${NAME}"}
_WITH_VARIABLE: Schema = {
    "type": "string",
    "pattern": rf"\$\{{{_NAME}\}}",
    "description": "With ${NAME} in it",
}


def schema_ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def snake(name: str) -> str:
    """Makes `duration_ms` of `durationMs`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def spellings(name: str) -> list[str]:
    return list(dict.fromkeys((snake(name), camel(snake(name)))))


def requires(name: str) -> Schema:
    ways: list[Schema] = [{"required": [spelling]} for spelling in spellings(name)]
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def forbids(name: str) -> Schema:
    return {"not": requires(name)}


def exactly_one(names: Iterable[str]) -> Schema:
    return {"oneOf": [requires(name) for name in names]}


RULES: dict[str, Schema] = {
    "Swipe": {
        "oneOf": [
            {"allOf": [requires("direction"), forbids("from"), forbids("to")]},
            {"allOf": [requires("from"), requires("to"), forbids("direction"), forbids("target")]},
        ]
    },
    "ExpectText": exactly_one(("equals", "contains")),
    "TextIs": exactly_one(("equals", "contains")),
    "ExpectScreen": exactly_one(("fingerprint", "activity")),
    "SetNetwork": {
        "anyOf": [requires(name) for name in ("preset", "speed", "delay", "wifi", "airplane_mode")]
    },
    "Shell": {"if": {"properties": {"raw": {"const": True}}, "required": ["raw"]},
              "then": {"properties": {"command": {"type": "string"}}}},
}  # fmt: skip
"""What validators of the models say, by class."""


def both_spellings(
    schema: Mapping[str, Any], without: Iterable[str] = (), *, variables: bool = True
) -> Schema:
    """An object's schema that takes every field in either spelling, and never in both."""
    left_out = set(without)
    own = {name: part for name, part in schema["properties"].items() if name not in left_out}
    fields = {name: with_variables(part) if variables else part for name, part in own.items()}
    properties = {spelling: part for name, part in fields.items() for spelling in spellings(name)}
    required = [name for name in schema.get("required", ()) if name not in left_out]
    rules: list[Schema] = [requires(name) for name in required if len(spellings(name)) > 1]
    rules += [{"not": {"required": spellings(name)}} for name in own if len(spellings(name)) > 1]
    rest = {key: part for key, part in schema.items() if key not in ("properties", "required")}
    spelled = {**rest, "properties": properties}
    single = [name for name in required if len(spellings(name)) == 1]
    return {**spelled, **({"required": single} if single else {}), **({"allOf": rules} if rules else {})}


def with_variables(schema: Mapping[str, Any]) -> Schema:
    """The schema, which also takes `${VARIABLE}` unless it takes any text already."""
    notes = {key: part for key, part in schema.items() if key in ("description", "default")}
    bare = {key: part for key, part in schema.items() if key not in notes}
    members = [_array_member_with_variables(part) for part in bare.get("anyOf", [bare])]
    extra = _variable_schema(members)
    if extra is None:
        return {**notes, **({"anyOf": members} if len(members) > 1 else members[0])}
    return {**notes, "anyOf": [*members, extra]}


def _array_member_with_variables(schema: Mapping[str, Any]) -> Schema:
    if schema.get("type") == "array" and "items" in schema:
        return {**schema, "items": with_variables(schema["items"])}
    return dict(copy.deepcopy(schema))


def _variable_schema(members: list[Schema]) -> Schema | None:
    """Which texts to allow besides: none where any text is right, or where no scalar is."""
    kinds = ("string", "integer", "number", "boolean")
    scalars = [member for member in members if member.get("type") in kinds]
    texts = [scalar for scalar in scalars if scalar["type"] == "string"]
    if not scalars or any("pattern" not in text and "enum" not in text for text in texts):
        return None
    return _WITH_VARIABLE if texts else VARIABLE


def adapt_definition(name: str, schema: Mapping[str, Any], without: Iterable[str] = ()) -> Schema:
    if "properties" not in schema:
        return dict(schema)
    spelled = both_spellings(schema, without)
    if name == "Selector":
        spelled.pop("minProperties", None)
        says = [requires(field) for field in schema["properties"] if field != "index"]
        spelled["allOf"] = [*spelled.get("allOf", ()), {"anyOf": says}]
    if name in RULES:
        spelled["allOf"] = [*spelled.get("allOf", ()), RULES[name]]
    return spelled
