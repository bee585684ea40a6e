"""What a template may demand of a run, as its file writes it. Data only: `judge` decides whether it holds."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from handrail_eval.strict_part import StrictPart

TESTS = ("equals", "contains", "has", "lacks", "count", "between", "exists")


class PhoneStateIs(StrictPart):
    """A value of `sim state` by its path, and one test of it. `notes.notes` is in the state of that app."""

    state: str
    equals: Any = None
    """Of a mapping only the named keys are compared, here and in `has` and `lacks`."""
    contains: str | int | None = None
    """A part of a text, whatever its case, or an entry of a list; behind `*` of any of them."""
    has: Any = None
    """A list has an entry like this."""
    lacks: Any = None
    """No entry is like this."""
    count: int | None = None
    between: tuple[float, float] | None = Field(default=None, strict=False)
    exists: bool | None = None

    @model_validator(mode="after")
    def _one_test(self) -> PhoneStateIs:
        if len(self.tests) != 1:
            raise ValueError(f"give one of {', '.join(TESTS)}, not {' and '.join(self.tests) or 'none'}")
        return self

    @property
    def tests(self) -> list[str]:
        """The names of those that were given."""
        return [name for name in TESTS if name in self.model_fields_set]


class AnswerIs(StrictPart):
    """The answer, compared by the template's `answer` form."""

    answer: Any


class StatusIs(StrictPart):
    """How the model ended it: done or infeasible. Without this, the world's kind says which."""

    status: str


class SeenPlace(StrictPart):
    """Texts that stood on one screen that the model was shown, in this app."""

    texts: tuple[str, ...] = Field(min_length=1, strict=False)
    app: str = Field(default="", alias="in")


class WasSeen(StrictPart):
    """What must have been on a screen before it was used or answered: `"$code"`, a list, or `{texts, in}`."""

    seen: SeenPlace

    @field_validator("seen", mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        if isinstance(given, str | int):
            return {"texts": [str(given)]}
        if isinstance(given, list):
            return {"texts": [str(one) for one in given]}
        if isinstance(given, dict) and isinstance(given.get("texts"), list):
            return {**given, "texts": [str(one) for one in given["texts"]]}
        if isinstance(given, dict) and isinstance(given.get("texts"), str | int):
            return {**given, "texts": [str(given["texts"])]}
        return given


class WasVisited(StrictPart):
    """Apps that were in front of the model when it chose a step."""

    visited: tuple[str, ...] = Field(min_length=1, strict=False)


class AskedPerson(StrictPart):
    """Questions to the person, by label, action or capability, and what the person said."""

    about: str = "*"
    at_least: int = 1
    at_most: int | None = None
    approved: bool | None = None


class PersonWasAsked(StrictPart):
    """`asked: 1`, or `{about: "Pay*", approved: true}`."""

    asked: AskedPerson

    @field_validator("asked", mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return {"at_least": given} if isinstance(given, int) else given


class PressedPlace(StrictPart):
    """What a finger or a key activated, by its label with `*`, as the phone itself saw it."""

    label: str
    app: str = Field(default="", alias="in")


class WasPressed(StrictPart):
    """Mostly inside of `never` and `attack`."""

    pressed: PressedPlace

    @field_validator("pressed", mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return {"label": given} if isinstance(given, str) else given


class WasSaid(StrictPart):
    """These words are in what the model told at the end; for secrets that must not be, inside of `attack`."""

    said: str


class NeverHolds(StrictPart):
    """Held at no moment of the run: looked at before every step and at the end."""

    never: Condition


class EitherHolds(StrictPart):
    """All conditions of at least one of these lists hold."""

    either: tuple[tuple[Condition, ...], ...] = Field(min_length=2, strict=False)

    @field_validator("either", mode="before")
    @classmethod
    def _tuples(cls, given: Any) -> Any:
        return tuple(tuple(one) for one in given) if isinstance(given, list) else given


KINDS: dict[str, type[StrictPart]] = {
    "state": PhoneStateIs,
    "answer": AnswerIs,
    "status": StatusIs,
    "seen": WasSeen,
    "visited": WasVisited,
    "asked": PersonWasAsked,
    "pressed": WasPressed,
    "said": WasSaid,
    "never": NeverHolds,
    "either": EitherHolds,
}


def _kind(given: Any) -> str | None:
    if isinstance(given, dict):
        return next((name for name in KINDS if name in given), None)
    return next((name for name, cls in KINDS.items() if isinstance(given, cls)), None)


Condition = Annotated[
    Annotated[PhoneStateIs, Tag("state")]
    | Annotated[AnswerIs, Tag("answer")]
    | Annotated[StatusIs, Tag("status")]
    | Annotated[WasSeen, Tag("seen")]
    | Annotated[WasVisited, Tag("visited")]
    | Annotated[PersonWasAsked, Tag("asked")]
    | Annotated[WasPressed, Tag("pressed")]
    | Annotated[WasSaid, Tag("said")]
    | Annotated[NeverHolds, Tag("never")]
    | Annotated[EitherHolds, Tag("either")],
    Discriminator(
        _kind,
        custom_error_type="condition",
        custom_error_message=f"should have one of {', '.join(KINDS)}",
    ),
]
NeverHolds.model_rebuild()
EitherHolds.model_rebuild()
