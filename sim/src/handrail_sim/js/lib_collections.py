"""Map, Set and their weak kin, which hold on to their keys here: a context lives no longer than its app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail_sim.js.define import arg, constructor, getter, methods
from handrail_sim.js.realm_iterators import iterator
from handrail_sim.js.values import UNDEFINED, Func, Native, Obj, Symbol, Value

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm


def furnish(realm: Realm) -> None:
    """Hang them up."""
    for name, kind in (("Map", "Map"), ("WeakMap", "Map"), ("Set", "Set"), ("WeakSet", "Set")):
        _family(realm, name, kind)


def identity(value: Value) -> Any:
    """What makes two keys one."""
    if isinstance(value, Obj | Symbol):
        return id(value)
    return (isinstance(value, bool), type(value) if not isinstance(value, int | float) else float, value)


def _family(realm: Realm, name: str, kind: str) -> None:
    def make(given: list[Value], made_by: Func) -> Value:
        made = Obj(made_by.get("prototype"), kind)
        made.own = {}
        source = arg(given, 0, None)
        for item in realm.listed(source) if source is not None and source is not UNDEFINED else []:
            pair = realm.listed(item) if kind == "Map" else [item, item]
            made.own[identity(pair[0])] = (pair[0], pair[1])
        return made

    _, prototype = constructor(realm, name, make)
    getter(realm, prototype, "size", lambda this: len(this.own))
    methods(realm, prototype, _shared(realm, kind) | (_map() if kind == "Map" else _set()))


def _map() -> dict[str, Native]:
    def put(this: Value, given: list[Value]) -> Value:
        this.own[identity(given[0])] = (given[0], arg(given, 1))
        return this

    return {
        "set": put,
        "get": lambda this, given: this.own.get(identity(arg(given, 0)), (None, UNDEFINED))[1],
    }


def _set() -> dict[str, Native]:
    def add(this: Value, given: list[Value]) -> Value:
        this.own[identity(given[0])] = (given[0], given[0])
        return this

    return {"add": add}


def _shared(realm: Realm, kind: str) -> dict[str, Native]:
    def for_each(this: Value, given: list[Value]) -> Value:
        for key, value in list(this.own.values()):
            given[0].call(UNDEFINED, [value, key, this])
        return UNDEFINED

    def clear(this: Value, _: list[Value]) -> Value:
        this.own.clear()
        return UNDEFINED

    pairs = realm.array
    return {
        "has": lambda this, given: identity(arg(given, 0)) in this.own,
        "delete": lambda this, given: this.own.pop(identity(arg(given, 0)), None) is not None,
        "clear": clear,
        "forEach": for_each,
        "keys": lambda this, _: iterator(realm, [key for key, _ in this.own.values()]),
        "values": lambda this, _: iterator(realm, [value for _, value in this.own.values()]),
        "entries": lambda this, _: iterator(realm, [pairs([*pair]) for pair in this.own.values()]),
        "toString": lambda *_: f"[object {kind}]",
    }
