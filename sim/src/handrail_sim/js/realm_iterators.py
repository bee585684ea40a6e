"""Iterators of the library's own: what `keys()`, `values()` and `entries()` give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail_sim.js.values import UNDEFINED, Obj, Value

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm


def iterator(realm: Realm, items: list[Value]) -> Obj:
    """An object with `next`."""
    left = iter(items)

    def step(_: Value, __: list[Value]) -> Value:
        for value in left:
            return realm.object({"value": value, "done": False})
        return realm.object({"value": UNDEFINED, "done": True})

    return realm.object({"next": realm.function(step, "next")})
