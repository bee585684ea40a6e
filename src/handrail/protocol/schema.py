"""JSON Schema in few words: what a model or an editor needs, in the spelling that each class writes."""

from __future__ import annotations

import ast
import inspect
import sys
import threading
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

SYNTAX_LOCK = threading.Lock()
"""Python 3.11 counts how deep a tree is in one place for all threads: two at once fail with SystemError."""


class _ShortSchema(GenerateJsonSchema):
    """No titles made from names, no `null` beside optional values; a kind must be named."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        short = super().default_schema(schema)
        if "const" in short or short.get("default", ...) is None:
            short.pop("default", None)
        return short

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        short = super().model_schema(schema)
        short.pop("title", None)
        for name, text in field_texts(schema["cls"]).items():
            short["properties"][name].setdefault("description", text)
        if "const" in short.get("properties", {}).get("type", {}):
            required = [name for name in short.get("required", []) if name != "type"]
            short["required"] = ["type", *required]
        return short


def schema_of(adapter: TypeAdapter[Any], title: str) -> dict[str, Any]:
    """One self-contained JSON Schema document."""
    schema = adapter.json_schema(mode="serialization", schema_generator=_ShortSchema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def field_texts(cls: type[BaseModel]) -> dict[str, str]:
    """Wire name → the string under the field, inherited ones first. Read from the source, when asked for:
    pydantic would read it while the classes are made, at every start of the program."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        texts |= (
            _field_texts_of_module(base.__module__).get(base.__qualname__, {})
            if issubclass(base, BaseModel)
            else {}
        )
    fields = {name: field.serialization_alias or name for name, field in cls.model_fields.items()}
    return {alias: texts[name] for name, alias in fields.items() if name in texts}


@cache
def _field_texts_of_module(module: str) -> dict[str, dict[str, str]]:
    """Class → field → text, for the classes of one module."""
    if module.startswith("pydantic"):
        return {}
    with SYNTAX_LOCK:
        parsed = ast.parse(inspect.getsource(sys.modules[module]))
    texts: dict[str, dict[str, str]] = {}
    for cls in (statement for statement in parsed.body if isinstance(statement, ast.ClassDef)):
        own = texts[cls.name] = {}
        for field, below in pairwise(cls.body):
            match field, below:
                case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                    own[name] = inspect.cleandoc(text)
    return texts
