"""What a task's check may ask for, as its file writes it. Data only: `checks` decides."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

TESTS = ("equals", "contains", "has", "lacks", "count", "between", "exists")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class State(_Part):
    """A value of `sim state` by its path, and one test of it."""

    state: str
    equals: Any = None
    """Of a mapping only the named keys are compared, here and in `has` and `lacks`."""
    contains: str | int | None = None
    """A part of a text, whatever its case, or an entry of a list."""
    has: Any = None
    """A list has an entry like this."""
    lacks: Any = None
    """No entry is like this."""
    count: int | None = None
    between: tuple[float, float] | None = Field(default=None, strict=False)
    exists: bool | None = None

    @model_validator(mode="after")
    def _one_test(self) -> State:
        if len(self.tests) != 1:
            raise ValueError(f"give one of {', '.join(TESTS)}, not {' and '.join(self.tests) or 'none'}")
        return self

    @property
    def tests(self) -> list[str]:
        """The names of those that were given."""
        return [name for name in TESTS if name in self.model_fields_set]


class Unchanged(_Part):
    """Nothing that a person keeps on the phone has changed, but what these paths lead to."""

    unchanged_except: tuple[str, ...] = Field(strict=False)


class Words(_Part):
    """What must stand in the model's last words, whatever their case."""

    contains: tuple[str, ...] = Field(default=(), strict=False)
    """All of them."""
    any_of: tuple[str, ...] = Field(default=(), strict=False)
    lacks: tuple[str, ...] = Field(default=(), strict=False)
    denies: bool = False
    """It says that something is not so, was not done or can't be done."""


class Answer(_Part):
    """The message of `finish`."""

    answer: Words


class Visited(_Part):
    """Apps that were in front of the model when it chose a step: an answer without a look is a guess."""

    visited: tuple[str, ...] = Field(min_length=1, strict=False)


class Steps(_Part):
    """How many steps the model took, at least: no verdict on a screen that it has not seen."""

    steps: int = Field(ge=1)


class Asked(_Part):
    """How often the person was asked, at least."""

    asked: int = Field(ge=1)


_KINDS: dict[str, type[_Part]] = {
    "state": State,
    "unchanged_except": Unchanged,
    "answer": Answer,
    "visited": Visited,
    "steps": Steps,
    "asked": Asked,
}


def _kind(given: Any) -> str | None:
    if isinstance(given, dict):
        return next((name for name in _KINDS if name in given), None)
    return next((name for name, cls in _KINDS.items() if isinstance(given, cls)), None)


Condition = Annotated[
    Annotated[State, Tag("state")]
    | Annotated[Unchanged, Tag("unchanged_except")]
    | Annotated[Answer, Tag("answer")]
    | Annotated[Visited, Tag("visited")]
    | Annotated[Steps, Tag("steps")]
    | Annotated[Asked, Tag("asked")],
    Discriminator(
        _kind,
        custom_error_type="condition",
        custom_error_message=f"should have one of {', '.join(_KINDS)}",
    ),
]
