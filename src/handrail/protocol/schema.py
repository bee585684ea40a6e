"""JSON Schema in few words: what a model or an editor needs, in the spelling that each class writes."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class _Short(GenerateJsonSchema):
    """No titles made from names, no `null` beside optional values; a kind must be named."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if "const" in made or made.get("default", ...) is None:
            made.pop("default", None)
        return made

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        if "const" in made.get("properties", {}).get("type", {}):
            required = [name for name in made.get("required", []) if name != "type"]
            made["required"] = ["type", *required]
        return made


def schema_of(adapter: TypeAdapter[Any], title: str) -> dict[str, Any]:
    """One self-contained JSON Schema document."""
    made = adapter.json_schema(mode="serialization", schema_generator=_Short)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **made}
