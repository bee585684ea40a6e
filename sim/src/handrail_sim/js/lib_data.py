"""Number, Boolean, Math, JSON; and how values become plain data and come from it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from handrail_sim.js.define import arg, constructor, methods
from handrail_sim.js.operators import bits
from handrail_sim.js.values import (
    UNDEFINED,
    Arr,
    Fault,
    Func,
    Native,
    Obj,
    Symbol,
    Value,
    to_number,
    to_text,
    truthy,
    whole,
)

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm


def furnish(realm: Realm) -> None:
    """Hang them up."""
    _numbers(realm)
    _math(realm)
    realm.globals.put("JSON", _json(realm))
    constructor(realm, "Boolean", lambda given, _: truthy(arg(given, 0)))
    methods(realm, realm.protos["Boolean"], {"toString": lambda this, _: to_text(this)})


def _numbers(realm: Realm) -> None:
    number, prototype = constructor(realm, "Number", lambda given, _: to_number(arg(given, 0, 0)))
    number.put("MAX_SAFE_INTEGER", 2**53 - 1)
    realm.globals.put("NaN", math.nan)
    realm.globals.put("Infinity", math.inf)
    methods(
        realm,
        prototype,
        {
            "toString": lambda this, given: _in_base(this, int(arg(given, 0, 10))),
            "toFixed": lambda this, given: f"{to_number(this):.{int(arg(given, 0, 0))}f}",
            "valueOf": lambda this, _: this,
        },
    )
    shared: dict[str, Native] = {
        "isNaN": partial(_checked, math.isnan),
        "isFinite": partial(_checked, math.isfinite),
        "parseInt": lambda _, given: _leading(to_text(arg(given, 0)), whole_only=True),
        "parseFloat": lambda _, given: _leading(to_text(arg(given, 0)), whole_only=False),
    }
    methods(realm, realm.globals, shared)
    own: dict[str, Native] = {"isInteger": lambda _, given: _is_whole(arg(given, 0))}
    methods(realm, number, shared | own)


def _is_whole(value: Value) -> bool:
    return isinstance(value, int | float) and isinstance(whole(value), int) and not isinstance(value, bool)


def _checked(test: Callable[[float], bool], _: Value, given: list[Value]) -> bool:
    return test(to_number(arg(given, 0)))


def _math(realm: Realm) -> None:
    made = realm.object({"PI": math.pi})

    def numbers(given: list[Value]) -> list[float]:
        return [to_number(one) for one in given]

    one: dict[str, Any] = {
        "floor": math.floor,
        "ceil": math.ceil,
        "abs": abs,
        "sqrt": math.sqrt,
        "trunc": math.trunc,
        "round": lambda value: math.floor(value + 0.5),
        "sign": lambda value: (value > 0) - (value < 0),
        "log2": math.log2,
    }
    methods(realm, made, {name: partial(_safely, work) for name, work in one.items()})
    methods(
        realm,
        made,
        {
            "max": lambda _, given: max(numbers(given), default=-math.inf),
            "min": lambda _, given: min(numbers(given), default=math.inf),
            "pow": lambda _, given: to_number(given[0]) ** to_number(given[1]),
            "hypot": lambda _, given: math.hypot(*numbers(given)),
            "random": lambda *_: 0.5,  # the phone is the same every time
            "imul": lambda _, given: bits(bits(given[0]) * bits(given[1])),
        },
    )
    realm.globals.put("Math", made)


def _safely(work: Any, _: Value, given: list[Value]) -> Value:
    value = to_number(arg(given, 0))
    return whole(work(value)) if math.isfinite(value) else value


def _in_base(value: Value, base: int) -> str:
    if base == 10 or not isinstance(value, int):
        return to_text(value)
    digits, left = "", abs(value)
    while left:
        left, digit = divmod(left, base)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return ("-" if value < 0 else "") + (digits or "0")


def _leading(text: str, *, whole_only: bool) -> Value:
    text = text.strip()
    for end in range(len(text), 0, -1):
        try:
            value = whole(float(text[:end]))
        except ValueError:
            continue
        if text[:end].strip("+-").isdecimal() or not whole_only:
            return value
    return math.nan


def _json(realm: Realm) -> Obj:
    made = realm.object({})

    def stringify(_: Value, given: list[Value]) -> Value:
        plain = to_plain(arg(given, 0))
        space = arg(given, 2)
        indent = int(space) if isinstance(space, int | float) and space else None
        if plain is UNDEFINED:
            return UNDEFINED
        return json.dumps(plain, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))

    def read(_: Value, given: list[Value]) -> Value:
        try:
            return from_plain(realm, json.loads(to_text(arg(given, 0))))
        except ValueError as error:
            raise Fault("SyntaxError", f"JSON Parse error: {error}") from None

    methods(realm, made, {"stringify": stringify, "parse": read})
    return made


def to_plain(value: Value, above: tuple[Obj, ...] = ()) -> Any:
    """As `JSON.stringify` sees it. Raises `Fault` on a circle."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Func | Symbol) or value is UNDEFINED:
        return UNDEFINED
    if not isinstance(value, Obj):
        return value
    if any(one is value for one in above):
        raise Fault("TypeError", "Converting circular structure to JSON")
    if isinstance(own := value.get("toJSON"), Func):
        return to_plain(own.call(value, []), above)
    below = (*above, value)
    if isinstance(value, Arr):
        found = [to_plain(item, below) for item in value.items]
        return [None if item is UNDEFINED else item for item in found]
    parts = {key: to_plain(value.get(key), below) for key in value.names()}
    return {key: part for key, part in parts.items() if part is not UNDEFINED}


def from_plain(realm: Realm, value: Any) -> Value:
    """Python's data as objects of this realm."""
    if isinstance(value, dict):
        return realm.object({str(key): from_plain(realm, item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return realm.array([from_plain(realm, item) for item in value])
    return value
