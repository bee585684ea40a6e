"""What all models share: frozen, closed, and at home in both spellings.

Input accepts `duration_ms` and `durationMs`; a class writes one of them, `Model` snake_case (native)
and `CamelModel` the camelCase of the seed it comes from. Unknown fields are errors.

Modules with many models do without `from __future__ import annotations`: pydantic would compile each field's
text, and those of the bases again for every class, which took half of a program's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Pixel = Annotated[int, Field(strict=True, ge=-32_767, le=32_767)]
"""An integer device pixel."""

GestureMs = Annotated[int, Field(strict=True, ge=0, le=60_000)]
"""How long fingers move."""

WaitMs = Annotated[int, Field(strict=True, ge=0, le=600_000)]
"""How long somebody waits."""

TimeoutSec = Annotated[int, Field(strict=True, ge=1, le=86_400)]
"""How long a script or a person may take."""

Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]

Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)]
"""A number beside texts: strict, or a text that is too long would be read as one."""

NOT_BLANK = r"\S"
Name = Annotated[str, Field(min_length=1, max_length=1_000, pattern=NOT_BLANK)]
"""An identifier or a label: never blank."""

Key = Annotated[str, Field(min_length=1, max_length=1_000)]
"""The name of an entry. Without a pattern, which schemas of objects have no common word for."""

Words = Annotated[str, Field(min_length=1, max_length=100_000, pattern=NOT_BLANK)]
"""What somebody is told or a program is given to run: never blank."""

Text = Annotated[str, Field(max_length=100_000)]
"""What people read or type."""


def field_problem(field: str, message: str) -> PydanticCustomError:
    """An error about fields that belong together, at the path of one of them."""
    return PydanticCustomError("needs", "{said}", {"field": field, "said": message})


def one_of(first: str, second: str) -> Any:
    """A validator of a model: exactly one of these two fields is given."""

    def check(model: BaseModel) -> BaseModel:
        if (getattr(model, first) is None) == (getattr(model, second) is None):
            raise field_problem(first, f"give exactly one of {first} and {second}")
        return model

    return model_validator(mode="after")(check)


@cache
def camel(name: str) -> str:
    """`duration_ms` → `durationMs`; a trailing underscore only dodges a Python keyword."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def snake(name: str) -> str:
    """The native wire name of a field."""
    return name.rstrip("_")


class Model(BaseModel):
    """A frozen value that writes snake_case."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        alias_generator=AliasGenerator(validation_alias=camel, serialization_alias=snake),
        allow_inf_nan=False,
        # Built when first used: a command needs five of a hundred models, and each costs milliseconds.
        defer_build=True,
    )

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data without fields that are None."""
        return self.model_dump(mode="json", exclude_none=True)

    def to_json(self) -> str:
        return self.model_dump_json(exclude_none=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if value is not None)


class CamelModel(Model):
    """A frozen value that writes its seed's camelCase."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=camel, serialization_alias=camel)
    )
