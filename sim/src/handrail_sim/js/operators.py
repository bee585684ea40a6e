"""What the signs between two values mean."""

from __future__ import annotations

import math
from collections.abc import Callable

from handrail_sim.js.values import (
    UNDEFINED,
    Fault,
    Func,
    Obj,
    Value,
    alike,
    same,
    to_key,
    to_number,
    to_primitive,
    to_text,
    truthy,
    type_of,
    whole,
)


def add(one: Value, other: Value) -> Value:
    """Texts are joined, everything else is counted."""
    one, other = to_primitive(one, number=True), to_primitive(other, number=True)
    if isinstance(one, str) or isinstance(other, str):
        return to_text(one) + to_text(other)
    return to_number(one) + to_number(other)


def divide(one: Value, other: Value) -> Value:
    """By nothing it is endless, not a failure."""
    top, below = to_number(one), to_number(other)
    if below == 0:
        return math.nan if top == 0 or math.isnan(top) else math.copysign(math.inf, top)
    return whole(top / below)


def remainder(one: Value, other: Value) -> Value:
    """With the sign of the first."""
    top, below = to_number(one), to_number(other)
    return math.nan if below == 0 or math.isinf(top) else whole(math.fmod(top, below))


def bits(value: Value) -> int:
    """ToInt32."""
    number = to_number(value)
    low = int(number) & 0xFFFFFFFF if math.isfinite(number) else 0
    return low - (1 << 32) if low & 0x80000000 else low


def _ordered(test: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def compare(one: Value, other: Value) -> bool:
        one, other = to_primitive(one, number=True), to_primitive(other, number=True)
        if isinstance(one, str) and isinstance(other, str):
            return test(one, other)
        return test(to_number(one), to_number(other))

    return compare


def is_in(key: Value, thing: Value) -> bool:
    """`key in thing`."""
    if not isinstance(thing, Obj):
        raise Fault("TypeError", f"Cannot use 'in' operator to search in {to_text(thing)}")
    return thing.has(to_key(key))


def is_instance(thing: Value, kind: Value) -> bool:
    """`thing instanceof kind`."""
    if not isinstance(kind, Func):
        raise Fault("TypeError", "Right-hand side of 'instanceof' is not callable")
    wanted = kind.get("prototype")
    above = thing.proto if isinstance(thing, Obj) else None
    while above is not None:
        if above is wanted:
            return True
        above = above.proto
    return False


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": add,
    "-": lambda one, other: to_number(one) - to_number(other),
    "*": lambda one, other: to_number(one) * to_number(other),
    "/": divide,
    "%": remainder,
    "**": lambda one, other: to_number(one) ** to_number(other),
    "===": same,
    "!==": lambda one, other: not same(one, other),
    "==": alike,
    "!=": lambda one, other: not alike(one, other),
    "<": _ordered(lambda one, other: one < other),
    ">": _ordered(lambda one, other: one > other),
    "<=": _ordered(lambda one, other: one <= other),
    ">=": _ordered(lambda one, other: one >= other),
    "&": lambda one, other: bits(one) & bits(other),
    "|": lambda one, other: bits(one) | bits(other),
    "^": lambda one, other: bits(one) ^ bits(other),
    "<<": lambda one, other: bits(bits(one) << (bits(other) & 31)),
    ">>": lambda one, other: bits(one) >> (bits(other) & 31),
    ">>>": lambda one, other: (bits(one) & 0xFFFFFFFF) >> (bits(other) & 31),
    "in": is_in,
    "instanceof": is_instance,
}
UNARY: dict[str, Callable[[Value], Value]] = {
    "!": lambda value: not truthy(value),
    "-": lambda value: -to_number(value),
    "+": to_number,
    "~": lambda value: ~bits(value),
    "typeof": type_of,
    "void": lambda _: UNDEFINED,
}
