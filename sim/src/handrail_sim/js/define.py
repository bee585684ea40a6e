"""Shorthand for those who furnish a realm: methods and constructors from Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from handrail_sim.js.values import UNDEFINED, Accessor, Func, Native, Obj, Value

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm


def arg(arguments: list[Value], at: int, default: Value = UNDEFINED) -> Value:
    """An argument that may not have been given."""
    return arguments[at] if at < len(arguments) else default


def methods(realm: Realm, thing: Obj, named: Mapping[str, Native]) -> None:
    """Functions as properties that are not listed."""
    for name, native in named.items():
        thing.put(name, realm.function(native, name))


def getter(realm: Realm, thing: Obj, name: str, read: Callable[[Value], Value]) -> None:
    """A property that is asked for."""
    thing.put(name, Accessor(get=realm.function(lambda this, _: read(this), name)))


def constructor(
    realm: Realm, name: str, make: Callable[[list[Value], Func], Value], call: Native | None = None
) -> tuple[Func, Obj]:
    """A global that `new` works on, and its prototype; `call` is what it does without `new`."""
    prototype = realm.protos.setdefault(name, Obj(realm.protos["Object"]))
    made = realm.function(call or (lambda _, arguments: make(arguments, made)), name)
    made.maker = make
    made.put("prototype", prototype)
    prototype.put("constructor", made)
    realm.globals.put(name, made)
    return made, prototype
