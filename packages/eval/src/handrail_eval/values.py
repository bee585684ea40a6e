"""What differs from seed to seed: values are drawn by their kinds, and texts are filled with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from handrail.errors import InvalidAction
from handrail_eval.expressions import evaluate, later
from handrail_eval.people import InventedPeople

FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 280
_HINT = (
    "A text, a number, a list, or one of {digits: 4}, {between: [3, 9]}, {money: [900, 5900]}, "
    "{one_of: [A, B]}, {some_of: [A, B, C], count: 2}, {shuffled: [A, B]}, {time: ['06:00', '09:55']}, "
    "{date: [1, 20]}, {person: {}}, {people: 5}, {expr: 'price * count'}."
)


class SeedDrawing:
    """The values of one template with one seed: the same names draw the same, in any order of worlds."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = f"{name} {seed}"
        self._people = InventedPeople(Random(f"{self._name} people"))  # noqa: S311
        start = Random(f"{self._name} now")  # noqa: S311
        self.now = FIRST_DAY + timedelta(days=start.randrange(DAYS), minutes=start.randrange(8 * 60, 17 * 60))
        day = self.now.date()
        self.values: dict[str, Any] = {
            "seed": seed,
            "today": str(day),
            "tomorrow": str(day + timedelta(days=1)),
            "weekday": f"{day:%A}",
        }

    def add(self, given: Any, at: str = "values") -> None:
        """Draw these; later ones may use earlier ones."""
        if not isinstance(given, dict):
            raise InvalidAction(f"{at}: should be a mapping", path=at)
        for key, one in given.items():
            self.values[key] = self._one(one, key, f"{at}.{key}")

    def _one(self, given: Any, key: str, at: str) -> Any:
        if not isinstance(given, dict) or not any(kind in given for kind in _KINDS):
            return filled(given, self.values)
        kind = next(name for name in _KINDS if name in given)
        told = {name: one if name == "expr" else filled(one, self.values) for name, one in given.items()}
        gone = told.pop("except", [])
        gone = gone if isinstance(gone, list) else [gone]
        random = Random(f"{self._name} {key}")  # noqa: S311
        try:
            for _ in range(200):
                found = _KINDS[kind](self, random, told)
                if found not in gone:
                    return found
        except InvalidAction as error:
            raise InvalidAction(f"{at}: {error.message}", path=at, hint=error.hint) from None
        except Exception as error:
            raise InvalidAction(
                f"{at}: {str(given)[:80]} is not a valid value: {error}", path=at, hint=_HINT
            ) from None
        raise InvalidAction(f"{at}: everything that could be drawn is excepted", path=at)

    def person(self, told: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._people.next(), **dict(told.get("person") or {})}

    def people(self, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [dict(self._people.next()) for _ in range(int(told["people"]))]


def _digits(_: SeedDrawing, random: Random, told: Mapping[str, Any]) -> str:
    """The first is no zero: it would get lost in number fields."""
    return random.choice("123456789") + "".join(random.choices("0123456789", k=int(told["digits"]) - 1))


def _number(name: str, step: int) -> Callable[[SeedDrawing, Random, Mapping[str, Any]], int]:
    def drawn(_: SeedDrawing, random: Random, told: Mapping[str, Any]) -> int:
        low, high = told[name]
        return random.randrange(int(low), int(high) + 1, int(told.get("step", step)))

    return drawn


def _time(_: SeedDrawing, random: Random, told: Mapping[str, Any]) -> str:
    low, high = (int(one[:2]) * 60 + int(one[3:]) for one in told["time"])
    return later("00:00", random.randrange(low, high + 1, int(told.get("step", 5))))


def _date(drawing: SeedDrawing, random: Random, told: Mapping[str, Any]) -> str:
    low, high = told["date"]
    return str(drawing.now.date() + timedelta(days=random.randint(int(low), int(high))))


_KINDS: dict[str, Callable[[SeedDrawing, Random, Mapping[str, Any]], Any]] = {
    "digits": _digits,
    "between": _number("between", 1),
    "money": _number("money", 5),
    "one_of": lambda _, random, told: random.choice(told["one_of"]),
    "some_of": lambda _, random, told: random.sample(told["some_of"], int(told["count"])),
    "shuffled": lambda _, random, told: random.sample(told["shuffled"], len(told["shuffled"])),
    "time": _time,
    "date": _date,
    "person": lambda drawing, _, told: drawing.person(told),
    "people": lambda drawing, _, told: drawing.people(told),
    "expr": lambda drawing, _, told: evaluate(told["expr"], drawing.values),
}
_NAME = re.compile(r"\$(?:\{([a-z_]\w*(?:\.\w+)*)\}|([a-z_]\w*(?:\.\w+)*))", re.ASCII)


def filled(value: Any, values: Mapping[str, Any], *, texts: bool = False) -> Any:
    """Every `$name` and `${name.part}` in every text; names that are not known stay, `${secret:…}` too.

    A text that is nothing but `$name` becomes the value as it is, a number or a list; with `texts` and inside
    of other words and in the name of a mapping's entry it is written out.
    """
    if isinstance(value, str):
        whole = _NAME.fullmatch(value)
        if whole is not None and whole[2] and not texts:
            found, rest = _looked_up(whole[2], values)
            if not rest and found is not _NONE:
                return found
        return _NAME.sub(lambda match: _written(match, values), value)
    if isinstance(value, dict):
        return {
            filled(name, values, texts=True): filled(one, values, texts=texts) for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [filled(one, values, texts=texts) for one in value]
    return value


_NONE = object()


def _looked_up(path: str, values: Mapping[str, Any]) -> tuple[Any, str]:
    """The value, and what of the path is not part of it: `$code.` ends a sentence."""
    head, *parts = path.split(".")
    found: Any = values.get(head, _NONE)
    while parts and isinstance(found, dict) and parts[0] in found:
        found = found[parts.pop(0)]
    while parts and isinstance(found, list) and parts[0].isdecimal() and int(parts[0]) < len(found):
        found = found[int(parts.pop(0))]
        while parts and isinstance(found, dict) and parts[0] in found:
            found = found[parts.pop(0)]
    return found, "".join(f".{part}" for part in parts)


def _written(match: re.Match[str], values: Mapping[str, Any]) -> str:
    found, rest = _looked_up(match[1] or match[2], values)
    if found is _NONE:
        return match[0]
    if isinstance(found, dict) and "name" in found:
        found = found["name"]
    if isinstance(found, list):
        found = ", ".join(map(str, found))
    return f"{found}{rest}"


def names_in(value: Any) -> set[str]:
    """Which values a template's texts speak of."""
    if isinstance(value, str):
        return {(one[0] or one[1]).split(".")[0] for one in _NAME.findall(value)}
    if isinstance(value, dict):
        inner = [*value.values(), *value]
        words = re.findall(r"[a-z_]\w*", str(value["expr"])) if "expr" in value else []
        return {name for one in inner for name in names_in(one)} | set(words)
    if isinstance(value, list | tuple):
        return {name for one in value for name in names_in(one)}
    return set()
