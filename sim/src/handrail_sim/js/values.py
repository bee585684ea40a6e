"""What there is at run time: undefined, objects with prototypes, arrays, functions, and how they convert.

Numbers are Python's int and float, strings are str, null is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Undefined:
    """There is one of it."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = Undefined()
Value = Any
Native = Callable[[Value, list[Value]], Value]
"""this and the arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A key that no text equals."""

    name: str


ITERATOR = Symbol("Symbol.iterator")


@dataclass(slots=True, eq=False)
class Accessor:
    """A property that is asked for its value."""

    get: Func | None = None
    set: Func | None = None


class Obj:
    """Properties in their order, and where to look further."""

    __slots__ = ("hidden", "kind", "own", "props", "proto", "sealed")

    def __init__(self, proto: Obj | None = None, kind: str = "Object") -> None:
        self.props: dict[Any, Value] = {}
        self.proto = proto
        self.kind = kind
        self.own: Any = None
        """What the host keeps in it: a map's entries, a promise's state."""
        self.sealed = False
        self.hidden: set[Any] = set()
        """Keys that are not listed."""

    def find(self, key: Any) -> Value:
        """The property here or above, accessors as they are; None if there is none anywhere."""
        one: Obj | None = self
        while one is not None:
            if key in one.props:
                return one, one.props[key]
            one = one.proto
        return None

    def get(self, key: Any, this: Value = None) -> Value:
        found = self.find(key)
        if found is None:
            return UNDEFINED
        value = found[1]
        if isinstance(value, Accessor):
            return UNDEFINED if value.get is None else value.get.call(self if this is None else this, [])
        return value

    def set(self, key: Any, value: Value) -> None:
        found = self.find(key)
        if found is not None and isinstance(found[1], Accessor):
            if found[1].set is not None:
                found[1].set.call(self, [value])
        elif not self.sealed:
            self.props[key] = value

    def has(self, key: Any) -> bool:
        return self.find(key) is not None

    def delete(self, key: Any) -> bool:
        if self.sealed and key in self.props:
            return False
        self.props.pop(key, None)
        return True

    def names(self) -> list[str]:
        """Own ones that are listed, numbers first."""
        shown = [key for key in self.props if isinstance(key, str) and key not in self.hidden]
        numbers = sorted((key for key in shown if key.isdecimal()), key=int)
        return [*numbers, *(key for key in shown if not key.isdecimal())]

    def put(self, key: Any, value: Value) -> None:
        """As a library defines its methods: there, and not listed."""
        self.props[key] = value
        self.hidden.add(key)


class Arr(Obj):
    """An array."""

    __slots__ = ("items",)

    def __init__(self, items: list[Value], proto: Obj | None = None) -> None:
        super().__init__(proto, "Array")
        self.items = items

    def find(self, key: Any) -> Value:
        if key == "length":
            return self, len(self.items)
        at = index_of(key)
        if at is not None:
            return (self, self.items[at]) if at < len(self.items) else None
        return super().find(key)

    def set(self, key: Any, value: Value) -> None:
        at = index_of(key)
        if self.sealed:
            return
        if key == "length":
            size = int(value)
            self.items[:] = [*self.items[:size], *[UNDEFINED] * (size - len(self.items))]
        elif at is not None:
            self.items.extend([UNDEFINED] * (at + 1 - len(self.items)))
            self.items[at] = value
        else:
            super().set(key, value)

    def names(self) -> list[str]:
        return [*map(str, range(len(self.items))), *super().names()]


class Func(Obj):
    """Something to call. What `new` makes is decided by its `prototype`, or by `maker` for the host's own."""

    __slots__ = ("maker", "name", "native")

    def __init__(self, native: Native, name: str = "", proto: Obj | None = None) -> None:
        super().__init__(proto, "Function")
        self.native = native
        self.name = name
        self.maker: Callable[[list[Value], Func], Value] | None = None
        self.put("name", name)

    def call(self, this: Value, arguments: list[Value]) -> Value:
        return self.native(this, arguments)

    def new(self, arguments: list[Value]) -> Value:
        if self.maker is not None:
            return self.maker(arguments, self)
        prototype = self.get("prototype")
        made = Obj(prototype if isinstance(prototype, Obj) else None)
        result = self.native(made, arguments)
        return result if isinstance(result, Obj) else made


class Throw(Exception):
    """`throw`, with whatever was thrown."""

    def __init__(self, value: Value) -> None:
        super().__init__(value)
        self.value = value


class Fault(Exception):
    """An error of the engine's own, as yet without an object: the realm makes one of the named kind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def index_of(key: Any) -> int | None:
    """The number behind "12" and 12."""
    if type(key) is int:
        return key if key >= 0 else None
    return int(key) if type(key) is str and key.isdecimal() and (key == "0" or key[0] != "0") else None


def truthy(value: Value) -> bool:
    """What `if` thinks of it."""
    return isinstance(value, Obj | Symbol) or (bool(value) and value == value)  # noqa: PLR0124 - NaN is not


def type_of(value: Value) -> str:
    """What `typeof` says."""
    if value is None:
        return "object"
    for kind, name in _TYPES:
        if isinstance(value, kind):
            return name
    return "object"


_TYPES: tuple[tuple[Any, str], ...] = (
    (Undefined, "undefined"),
    (bool, "boolean"),
    ((int, float), "number"),
    (str, "string"),
    (Symbol, "symbol"),
    (Func, "function"),
)


def to_number(value: Value) -> int | float:
    """What `Number(value)` says."""
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return _number_in(value.strip())
    return math.nan if value is UNDEFINED else _number_in(to_text(value))


def _number_in(text: str) -> int | float:
    if not text:
        return 0
    try:
        return whole(float(int(text, 0) if text[:2].lower() in ("0x", "0b", "0o") else float(text)))
    except ValueError:
        return math.inf if text == "Infinity" else -math.inf if text == "-Infinity" else math.nan


def whole(number: float) -> int | float:
    """3.0 is 3: there is one kind of number."""
    is_whole = math.isfinite(number) and number == int(number) and abs(number) < 2**53
    return int(number) if is_whole else number


def to_text(value: Value) -> str:
    """What `String(value)` says."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return _number_text(value)
    if isinstance(value, Symbol):
        raise Fault("TypeError", "Cannot convert a Symbol value to a string")
    return to_text(to_primitive(value)) if isinstance(value, Obj) else "undefined"


def _number_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(whole(value))


def to_primitive(value: Value, *, number: bool = False) -> Value:
    """An object as its own methods tell it; the rest as it is."""
    if not isinstance(value, Obj):
        return value
    for name in ("valueOf", "toString") if number else ("toString", "valueOf"):
        method = value.get(name)
        if isinstance(method, Func):
            found = method.call(value, [])
            if not isinstance(found, Obj):
                return found
    raise Fault("TypeError", "Cannot convert object to primitive value")


def to_key(value: Value) -> Any:
    """As a property's name."""
    return value if isinstance(value, str | Symbol) else to_text(value)


def same(one: Value, other: Value) -> bool:
    """`===`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    return one is other


def alike(one: Value, other: Value) -> bool:
    """`==`."""
    if one is None or one is UNDEFINED or other is None or other is UNDEFINED:
        return (one is None or one is UNDEFINED) and (other is None or other is UNDEFINED)
    if isinstance(one, Obj) and isinstance(other, Obj):
        return one is other
    if isinstance(one, Obj) or isinstance(other, Obj):
        return alike(to_primitive(one), to_primitive(other))
    if type_of(one) == type_of(other):
        return same(one, other)
    return to_number(one) == to_number(other)
