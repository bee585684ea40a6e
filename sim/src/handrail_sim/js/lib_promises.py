"""Promise: what will be known later, and the jobs that wait for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from handrail_sim.js.define import arg, constructor, methods
from handrail_sim.js.values import UNDEFINED, Fault, Func, Obj, Throw, Value

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm

Waiter = Callable[[bool, Value], object]
"""Told whether it went well, and with what."""


@dataclass(slots=True)
class Promised:
    """The state of one promise."""

    state: Literal["pending", "fulfilled", "rejected"] = "pending"
    value: Value = UNDEFINED
    waiters: list[Waiter] = field(default_factory=list)


def new_promise(realm: Realm) -> Obj:
    """A pending one, for hosts that will settle it."""
    made = Obj(realm.protos["Promise"], "Promise")
    made.own = Promised()
    return made


def resolve(realm: Realm, promise: Obj, value: Value) -> None:
    """With a value, or as another promise will be."""
    then = value.get("then") if isinstance(value, Obj) else None
    if not isinstance(then, Func):
        _settle(realm, promise, True, value)
        return
    good = realm.function(lambda _, given: resolve(realm, promise, arg(given, 0)))
    bad = realm.function(lambda _, given: reject(realm, promise, arg(given, 0)))
    realm.jobs.append(lambda: then.call(value, [good, bad]))


def reject(realm: Realm, promise: Obj, reason: Value) -> None:
    """It will never have a value."""
    _settle(realm, promise, False, reason)


def watch(realm: Realm, promise: Obj, waiter: Waiter) -> None:
    """Be told when it is settled."""
    state: Promised = promise.own
    if state.state == "pending":
        state.waiters.append(waiter)
    else:
        realm.jobs.append(lambda: waiter(state.state == "fulfilled", state.value))


def _settle(realm: Realm, promise: Obj, good: bool, value: Value) -> None:
    state: Promised = promise.own
    if state.state != "pending":
        return
    state.state, state.value = ("fulfilled" if good else "rejected"), value
    for waiter in state.waiters:
        realm.jobs.append(partial(waiter, good, value))
    state.waiters.clear()


def _then(realm: Realm, this: Obj, on_good: Value, on_bad: Value) -> Obj:
    after = new_promise(realm)

    def go_on(good: bool, value: Value) -> None:
        work = on_good if good else on_bad
        if not isinstance(work, Func):
            (resolve if good else reject)(realm, after, value)
            return
        try:
            resolve(realm, after, work.call(UNDEFINED, [value]))
        except (Throw, Fault, RecursionError) as thrown:
            reject(realm, after, realm.thrown(thrown))

    watch(realm, this, go_on)
    return after


def furnish(realm: Realm) -> None:
    """Hang them up."""

    def make(given: list[Value], _: Func) -> Value:
        made = new_promise(realm)
        good = realm.function(lambda _, given: resolve(realm, made, arg(given, 0)))
        bad = realm.function(lambda _, given: reject(realm, made, arg(given, 0)))
        try:
            given[0].call(UNDEFINED, [good, bad])
        except (Throw, Fault) as thrown:
            reject(realm, made, realm.thrown(thrown))
        return made

    kind, prototype = constructor(realm, "Promise", make)
    methods(
        realm,
        prototype,
        {
            "then": lambda this, given: _then(realm, this, arg(given, 0), arg(given, 1)),
            "catch": lambda this, given: _then(realm, this, UNDEFINED, arg(given, 0)),
            "finally": lambda this, given: _finally(realm, this, given[0]),
        },
    )
    methods(
        realm,
        kind,
        {
            "resolve": lambda _, given: _resolved(realm, arg(given, 0)),
            "reject": lambda _, given: _rejected(realm, arg(given, 0)),
            "all": lambda _, given: _all(realm, realm.listed(given[0])),
            "race": lambda _, given: _race(realm, realm.listed(given[0])),
        },
    )
    later = {"queueMicrotask": lambda _, given: realm.jobs.append(lambda: given[0].call(UNDEFINED, []))}
    methods(realm, realm.globals, later)


def _resolved(realm: Realm, value: Value) -> Obj:
    if isinstance(value, Obj) and value.kind == "Promise":
        return value
    made = new_promise(realm)
    resolve(realm, made, value)
    return made


def _rejected(realm: Realm, reason: Value) -> Obj:
    made = new_promise(realm)
    reject(realm, made, reason)
    return made


def _finally(realm: Realm, this: Obj, work: Func) -> Obj:
    def bad(_: Value, given: list[Value]) -> Value:
        work.call(UNDEFINED, [])
        raise Throw(given[0])

    def good(_: Value, given: list[Value]) -> Value:
        work.call(UNDEFINED, [])
        return given[0]

    return _then(realm, this, realm.function(good), realm.function(bad))


def _all(realm: Realm, parts: list[Value]) -> Obj:
    made = new_promise(realm)
    found: dict[int, Value] = {}
    if not parts:
        resolve(realm, made, realm.array([]))

    def one_more(at: int, good: bool, value: Value) -> None:
        if not good:
            reject(realm, made, value)
            return
        found[at] = value
        if len(found) == len(parts):
            resolve(realm, made, realm.array([found[at] for at in sorted(found)]))

    for at, part in enumerate(parts):
        watch(realm, _resolved(realm, part), partial(one_more, at))
    return made


def _race(realm: Realm, parts: list[Value]) -> Obj:
    made = new_promise(realm)
    for part in parts:
        watch(
            realm,
            _resolved(realm, part),
            lambda good, value: (resolve if good else reject)(realm, made, value),
        )
    return made
