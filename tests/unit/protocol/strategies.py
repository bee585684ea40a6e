"""Random actions, made from the vocabulary's own JSON Schema, so that schema and models must agree."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from handrail.protocol.actions import ACTION, ACTIONS, json_schema
from handrail.protocol.model import NOT_BLANK, camel

_DEEPEST = 2
_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@cache
def vocabulary() -> dict[str, Any]:
    """Made when a test first needs it: collecting does not."""
    return json_schema()


def from_schema(schema: dict[str, Any], level: int = 0) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return _definition(schema["$ref"].rpartition("/")[2], level + 1)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return st.one_of([from_schema(one, level) for one in schema[union]])
    return _PLAIN[schema.get("type", "any")](schema, level)


@cache
def _definition(name: str, level: int) -> st.SearchStrategy[Any]:
    """One strategy per name and level: selectors hold selectors, so depth must end."""
    return from_schema(vocabulary()["$defs"][name], level)


def _object(schema: dict[str, Any], level: int) -> st.SearchStrategy[Any]:
    properties = schema.get("properties")
    if properties is None:
        return st.dictionaries(_TEXT, st.one_of(st.integers(-9, 9), _TEXT), max_size=3)
    required = set(schema.get("required", []))
    free = [name for name in properties if name not in required]
    if level >= _DEEPEST:
        free = [name for name in free if "$ref" not in str(properties[name])]
    if schema.get("maxProperties") == 1:
        return st.one_of(
            [st.fixed_dictionaries({name: from_schema(properties[name], level)}) for name in free]
        )
    fixed = {name: from_schema(properties[name], level) for name in required}
    return st.fixed_dictionaries(
        fixed, optional={name: from_schema(properties[name], level) for name in free}
    )


def _array(schema: dict[str, Any], level: int) -> st.SearchStrategy[Any]:
    low = schema.get("minItems", 0)
    return st.lists(
        from_schema(schema["items"], level),
        min_size=low,
        max_size=min(low + 2, schema.get("maxItems", low + 2)),
    )


def _string(schema: dict[str, Any], level: int) -> st.SearchStrategy[Any]:
    if schema.get("pattern") == NOT_BLANK:
        return _TEXT.filter(str.strip)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True).filter(
            lambda text: text.isprintable() and len(text) <= schema.get("maxLength", 200)
        )
    return _TEXT if schema.get("minLength") else st.one_of(_TEXT, st.just(""))


def _integer(schema: dict[str, Any], level: int) -> st.SearchStrategy[Any]:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -(2**31) - 1) + 1)
    return st.integers(low, schema.get("maximum", 2**31))


def _number(schema: dict[str, Any], level: int) -> st.SearchStrategy[Any]:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1e9))
    high = schema.get("maximum", 1e9)
    return st.floats(low, high, allow_nan=False, exclude_min="exclusiveMinimum" in schema)


_PLAIN = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda schema, level: st.booleans(),
    "any": lambda schema, level: st.one_of(_TEXT, st.integers(-9, 9), st.booleans()),
}


def is_valid(value: Any) -> bool:
    """Rules between fields (`from` needs `to`) are beyond JSON Schema; such samples are thrown away."""
    try:
        ACTION.validate_python(value)
    except ValidationError as error:
        kinds = {detail["type"] for detail in error.errors()}
        by_code = {"value_error", "needs"}
        inner = {"too_short"} if kinds & by_code else set()  # a list of refused items counts as empty
        assert kinds - inner <= by_code, f"the schema allows what the model refuses: {error}"
        return False
    return True


def one_action(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return from_schema(vocabulary()["$defs"][ACTIONS[kind].__name__]).map(_one_form).filter(is_valid)


def _one_form(action: dict[str, Any]) -> dict[str, Any]:
    """A way from point to point, or a direction: a schema can't say that one shuts out the other."""
    if action["type"] != "swipe":
        return action
    other = ("direction", "target") if "from" in action and "to" in action else ("from", "to")
    return {name: value for name, value in action.items() if name not in other}


def spelled(value: Any, *, camel_case: bool) -> Any:
    """A model as data, every field in one spelling, whatever its class would write."""
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        spell = camel if camel_case else (lambda name: name.rstrip("_"))
        return {
            spell(name): spelled(item, camel_case=camel_case)
            for name, item in fields.items()
            if item is not None
        }
    if isinstance(value, tuple | list):
        return [spelled(item, camel_case=camel_case) for item in value]
    return value
