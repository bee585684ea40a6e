"""What differs from seed to seed: a task's values are drawn, and its strings are filled with them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from string import Template
from typing import Any

from handrail.errors import InvalidAction


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
