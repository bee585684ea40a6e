"""Array: making, searching, changing, folding."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING

from handrail_sim.js.define import arg, constructor, methods
from handrail_sim.js.realm_iterators import iterator
from handrail_sim.js.values import (
    UNDEFINED,
    Arr,
    Fault,
    Func,
    Native,
    Obj,
    Value,
    same,
    to_number,
    to_text,
    truthy,
)

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm


def furnish(realm: Realm) -> None:
    """Hang it up."""

    def make(given: list[Value], _: Func) -> Value:
        if len(given) == 1 and isinstance(given[0], int):
            return realm.array([UNDEFINED] * given[0])
        return realm.array(list(given))

    kind, prototype = constructor(realm, "Array", make)
    methods(
        realm,
        kind,
        {
            "isArray": lambda _, given: isinstance(arg(given, 0), Arr),
            "of": lambda _, given: realm.array(list(given)),
            "from": lambda _, given: realm.array(_from(realm, given)),
        },
    )
    methods(realm, prototype, {**_changing(realm), **_reading(realm), **_calling(realm)})


def _from(realm: Realm, given: list[Value]) -> list[Value]:
    source, work = given[0], arg(given, 1)
    if isinstance(source, Obj) and not isinstance(source, Arr) and source.has("length"):
        items = [source.get(str(at)) for at in range(int(source.get("length")))]
    else:
        items = realm.listed(source)
    return (
        [work.call(UNDEFINED, [item, at]) for at, item in enumerate(items)]
        if isinstance(work, Func)
        else items
    )


def _changing(realm: Realm) -> dict[str, Native]:
    def push(this: Value, given: list[Value]) -> Value:
        this.items.extend(given)
        return len(this.items)

    def unshift(this: Value, given: list[Value]) -> Value:
        this.items[:0] = given
        return len(this.items)

    def splice(this: Value, given: list[Value]) -> Value:
        start = _place(arg(given, 0, 0), len(this.items))
        count = int(arg(given, 1, len(this.items)))
        gone = this.items[start : start + count]
        this.items[start : start + count] = given[2:]
        return realm.array(gone)

    def sort(this: Value, given: list[Value]) -> Value:
        work = arg(given, 0)
        if isinstance(work, Func):
            this.items.sort(key=cmp_to_key(lambda one, other: _sign(work.call(UNDEFINED, [one, other]))))
        else:
            this.items.sort(key=to_text)
        return this

    def reverse(this: Value, _: list[Value]) -> Value:
        this.items.reverse()
        return this

    return {
        "push": push,
        "pop": lambda this, _: this.items.pop() if this.items else UNDEFINED,
        "shift": lambda this, _: this.items.pop(0) if this.items else UNDEFINED,
        "unshift": unshift,
        "splice": splice,
        "sort": sort,
        "reverse": reverse,
    }


def _sign(value: Value) -> int:
    number = to_number(value)
    return (number > 0) - (number < 0)


def _place(value: Value, size: int) -> int:
    at = int(to_number(value)) if value is not UNDEFINED else 0
    return max(0, size + at) if at < 0 else min(at, size)


def _reading(realm: Realm) -> dict[str, Native]:
    def index(this: Value, given: list[Value]) -> int:
        return next((at for at, item in enumerate(this.items) if same(item, given[0])), -1)

    def cut(this: Value, given: list[Value]) -> Value:
        size, end = len(this.items), arg(given, 1)
        return realm.array(
            this.items[_place(arg(given, 0, 0), size) : size if end is UNDEFINED else _place(end, size)]
        )

    def concat(this: Value, given: list[Value]) -> Value:
        more = [item for one in given for item in (one.items if isinstance(one, Arr) else [one])]
        return realm.array([*this.items, *more])

    def join(this: Value, given: list[Value]) -> str:
        between = to_text(arg(given, 0, ","))
        return between.join("" if item is None or item is UNDEFINED else to_text(item) for item in this.items)

    return {
        "indexOf": index,
        "includes": lambda this, given: index(this, given) >= 0,
        "slice": cut,
        "concat": concat,
        "join": join,
        "toString": lambda this, _: join(this, []),
        "flat": lambda this, _: concat(realm.array([]), this.items),
        "keys": lambda this, _: iterator(realm, list(range(len(this.items)))),
        "values": lambda this, _: iterator(realm, list(this.items)),
        "entries": lambda this, _: iterator(
            realm, [realm.array([at, item]) for at, item in enumerate(this.items)]
        ),
    }


def _calling(realm: Realm) -> dict[str, Native]:
    def each(this: Value, given: list[Value]) -> list[tuple[Value, Value]]:
        """(item, what the function says of it)."""
        work = arg(given, 0)
        if not isinstance(work, Func):
            raise Fault("TypeError", f"{to_text(work)} is not a function")
        return [
            (item, work.call(arg(given, 1), [item, at, this])) for at, item in enumerate(list(this.items))
        ]

    def first(this: Value, given: list[Value]) -> int:
        for at, item in enumerate(list(this.items)):
            if truthy(given[0].call(UNDEFINED, [item, at, this])):
                return at
        return -1

    def reduce(this: Value, given: list[Value]) -> Value:
        items = list(enumerate(this.items))
        if len(given) < 2 and not items:
            raise Fault("TypeError", "Reduce of empty array with no initial value")
        held = given[1] if len(given) > 1 else items.pop(0)[1]
        for at, item in items:
            held = given[0].call(UNDEFINED, [held, item, at, this])
        return held

    def every(this: Value, given: list[Value]) -> bool:
        return all(truthy(given[0].call(UNDEFINED, [item, at])) for at, item in enumerate(list(this.items)))

    def flat_map(this: Value, given: list[Value]) -> Value:
        found = [said for _, said in each(this, given)]
        return realm.array([item for one in found for item in (one.items if isinstance(one, Arr) else [one])])

    def for_each(this: Value, given: list[Value]) -> Value:
        each(this, given)
        return UNDEFINED

    return {
        "forEach": for_each,
        "map": lambda this, given: realm.array([said for _, said in each(this, given)]),
        "filter": lambda this, given: realm.array([item for item, said in each(this, given) if truthy(said)]),
        "find": lambda this, given: this.items[at] if (at := first(this, given)) >= 0 else UNDEFINED,
        "findIndex": first,
        "some": lambda this, given: first(this, given) >= 0,
        "every": every,
        "reduce": reduce,
        "flatMap": flat_map,
    }
