"""One task of the evaluation as its file writes it: what is asked for, on which phone, and what proves it.

Also what differs from seed to seed: values are drawn, and strings are filled with them. Data only: `checks`
decides whether a condition holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from string import Template
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from handrail.errors import InvalidAction

TESTS = ("equals", "contains", "has", "lacks", "count", "between", "exists")


class TaskPart(BaseModel):
    """A misspelt key is an error, not a wish that is ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TaskState(TaskPart):
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
    def _one_test(self) -> TaskState:
        if len(self.tests) != 1:
            raise ValueError(f"give one of {', '.join(TESTS)}, not {' and '.join(self.tests) or 'none'}")
        return self

    @property
    def tests(self) -> list[str]:
        """The names of those that were given."""
        return [name for name in TESTS if name in self.model_fields_set]


class Unchanged(TaskPart):
    """Nothing that a person keeps on the phone has changed, but what these paths lead to."""

    unchanged_except: tuple[str, ...] = Field(strict=False)


class TaskWords(TaskPart):
    """What must stand in the model's last words, whatever their case."""

    contains: tuple[str, ...] = Field(default=(), strict=False)
    """All of them."""
    any_of: tuple[str, ...] = Field(default=(), strict=False)
    lacks: tuple[str, ...] = Field(default=(), strict=False)
    denies: bool = False
    """It says that something is not so, was not done or can't be done."""


class TaskAnswer(TaskPart):
    """The message of `finish`."""

    answer: TaskWords


class Visited(TaskPart):
    """Apps that were in front of the model when it chose a step: an answer without a look is a guess."""

    visited: tuple[str, ...] = Field(min_length=1, strict=False)


class Steps(TaskPart):
    """How many steps the model took, at least: no verdict on a screen that it has not seen."""

    steps: int = Field(ge=1)


class TaskQuestion(TaskPart):
    """How often the person was asked, at least."""

    asked: int = Field(ge=1)


_KINDS: dict[str, type[TaskPart]] = {
    "state": TaskState,
    "unchanged_except": Unchanged,
    "answer": TaskAnswer,
    "visited": Visited,
    "steps": Steps,
    "asked": TaskQuestion,
}


def _kind(given: Any) -> str | None:
    if isinstance(given, dict):
        return next((name for name in _KINDS if name in given), None)
    return next((name for name, cls in _KINDS.items() if isinstance(given, cls)), None)


Condition = Annotated[
    Annotated[TaskState, Tag("state")]
    | Annotated[Unchanged, Tag("unchanged_except")]
    | Annotated[TaskAnswer, Tag("answer")]
    | Annotated[Visited, Tag("visited")]
    | Annotated[Steps, Tag("steps")]
    | Annotated[TaskQuestion, Tag("asked")],
    Discriminator(
        _kind,
        custom_error_type="condition",
        custom_error_message=f"should have one of {', '.join(_KINDS)}",
    ),
]


LONGEST_BUDGET = 200


class Sms(TaskPart):
    """A message that arrives; with `after_ms` while the model is at work."""

    sender: str = Field(alias="from")
    text: str
    after_ms: int = Field(default=0, ge=0, le=60_000)


class Setup(TaskPart):
    """What makes a new phone the one that the task speaks of, in the order of these fields."""

    shell: tuple[str, ...] = Field(default=(), strict=False)
    """Commands of the phone's shell, such as `am start …` and `sim notify …`."""
    sms: tuple[Sms, ...] = Field(default=(), strict=False)
    faults: tuple[str | dict[str, Any], ...] = Field(default=(), strict=False)
    """As in a fault file: a name, or a table with `fault` and its options."""


class Line(TaskPart):
    """What the scripted person says to the questions that `to` names: a label, an action or a capability."""

    to: str = "*"
    approve: bool
    data: str | None = None


class EvalTask(TaskPart):
    """A task, its strings already filled with the values that the seed drew."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    title: str = Field(min_length=1, max_length=100)
    instruction: str = Field(min_length=1)
    tags: tuple[str, ...] = Field(min_length=1, strict=False)
    seed: int = 1
    steps: int = Field(ge=1, le=LONGEST_BUDGET)
    """The budget."""
    values: dict[str, Any] = Field(default_factory=dict)
    setup: Setup = Setup()
    person: tuple[Line, ...] = Field(default=(), strict=False)
    """The first line that fits a question answers it; where none does, the answer is no."""
    policy: str = ""
    """A policy.toml of this task's own."""
    secrets: dict[str, str] = Field(default_factory=dict)
    check: tuple[Condition, ...] = Field(min_length=1, strict=False)
    """All of them must hold."""
    reference: tuple[dict[str, Any] | str, ...] = Field(min_length=1, strict=False)
    """The steps of one solution, as in a scripted model; `keep` reads what only the screen tells."""


def draw(values: Any, name: str) -> dict[str, str]:
    """`{code: {digits: 6}, town: {one_of: [Ferry, Hill]}, who: Ada}`; the same name draws the same."""
    if not isinstance(values, dict):
        raise InvalidAction("values: should be a mapping", path="values")
    return {key: _one(given, Random(f"{name} {key}"), f"values.{key}") for key, given in values.items()}  # noqa: S311


def _one(given: Any, random: Random, at: str) -> str:
    match given:
        case str() | int():
            return str(given)
        case {"digits": int(count)} if len(given) == 1 and 1 <= count <= 20:
            first = random.choice("123456789")  # a leading zero would get lost in number fields
            return first + "".join(random.choice("0123456789") for _ in range(count - 1))
        case {"one_of": [_, *_] as options} if len(given) == 1:
            return str(random.choice(options))
        case _:
            raise InvalidAction(
                f"{at}: {str(given)[:60]} is no value",
                path=at,
                hint="A text, `{digits: 6}` or `{one_of: [A, B]}`.",
            )


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Every `$name` in every text; names that are not known stay as they are, `${secret:…}` too."""
    if isinstance(value, str):
        return Template(value).safe_substitute(values)
    if isinstance(value, dict):
        return {name: filled(one, values) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    return value
