"""Object, Function, Error, Symbol, Reflect: what a context has before any number, text or list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from handrail_sim.js.define import arg, constructor, methods
from handrail_sim.js.values import (
    ITERATOR,
    UNDEFINED,
    Accessor,
    Arr,
    Fault,
    Func,
    Native,
    Obj,
    Symbol,
    Value,
    same,
    to_key,
    to_text,
    truthy,
)

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm

_ERRORS = ("TypeError", "RangeError", "ReferenceError", "SyntaxError")


def furnish(realm: Realm) -> None:
    """Hang them up."""
    _objects(realm)
    _functions(realm)
    _errors(realm)
    _symbols(realm)
    _reflect(realm)


def _objects(realm: Realm) -> None:
    kind, prototype = constructor(realm, "Object", partial(_made, realm))
    listing: dict[str, Native] = {
        "keys": lambda _, given: realm.array(list(_listed(given[0]))),
        "values": lambda _, given: realm.array(list(_listed(given[0]).values())),
        "entries": lambda _, given: realm.array([realm.array([*pair]) for pair in _listed(given[0]).items()]),
        "getOwnPropertyNames": lambda _, given: realm.array(_names(given[0])),
    }
    shaping: dict[str, Native] = {
        "assign": partial(_assign, realm),
        "create": lambda _, given: Obj(given[0] if isinstance(given[0], Obj) else None),
        "freeze": _freeze,
        "isFrozen": lambda _, given: not isinstance(given[0], Obj) or given[0].sealed,
        "defineProperty": _define,
        "getOwnPropertyDescriptor": partial(_describe, realm),
        "getPrototypeOf": lambda _, given: given[0].proto if isinstance(given[0], Obj) else None,
        "setPrototypeOf": _set_proto,
        "is": lambda _, given: same(given[0], given[1]),
    }
    methods(realm, kind, listing | shaping)
    methods(
        realm,
        prototype,
        {
            "hasOwnProperty": lambda this, given: _has_own(this, to_key(arg(given, 0))),
            "toString": lambda this, _: f"[object {this.kind if isinstance(this, Obj) else 'Object'}]",
            "valueOf": lambda this, _: this,
        },
    )


def _made(realm: Realm, given: list[Value], _: Func) -> Value:
    return given[0] if given and isinstance(given[0], Obj) else realm.object({})


def _listed(thing: Value) -> dict[str, Value]:
    return {key: thing.get(key) for key in thing.names()} if isinstance(thing, Obj) else {}


def _assign(realm: Realm, _: Value, given: list[Value]) -> Value:
    for source in given[1:]:
        realm.copy_into(given[0], source)
    return given[0]


def _freeze(_: Value, given: list[Value]) -> Value:
    if isinstance(given[0], Obj):
        given[0].sealed = True
    return given[0]


def _define(_: Value, given: list[Value]) -> Value:
    thing, key, how = given[0], to_key(given[1]), given[2]
    if how.has("get") or how.has("set"):
        value: Value = Accessor(_function(how.get("get")), _function(how.get("set")))
    else:
        value = how.get("value") if how.has("value") else thing.props.get(key, UNDEFINED)
    if isinstance(thing, Arr):
        thing.set(key, value)
        return thing
    thing.props[key] = value
    (thing.hidden.discard if truthy(how.get("enumerable")) else thing.hidden.add)(key)
    return thing


def _function(value: Value) -> Func | None:
    return value if isinstance(value, Func) else None


def _describe(realm: Realm, _: Value, given: list[Value]) -> Value:
    thing, key = given[0], to_key(given[1])
    if not isinstance(thing, Obj) or key not in thing.props:
        return UNDEFINED
    value = thing.props[key]
    shown = {"enumerable": key not in thing.hidden, "configurable": not thing.sealed}
    if isinstance(value, Accessor):
        return realm.object({"get": value.get or UNDEFINED, "set": value.set or UNDEFINED, **shown})
    return realm.object({"value": value, "writable": not thing.sealed, **shown})


def _names(thing: Value) -> list[Value]:
    listed = thing.names()
    return [*listed, *(key for key in thing.props if isinstance(key, str) and key not in listed)]


def _has_own(thing: Value, key: Any) -> bool:
    return isinstance(thing, Obj) and (key in thing.props or key in thing.names())


def _set_proto(_: Value, given: list[Value]) -> Value:
    given[0].proto = given[1]
    return given[0]


def _functions(realm: Realm) -> None:
    constructor(realm, "Function", _no_new)

    def bind(this: Value, given: list[Value]) -> Value:
        bound, first = arg(given, 0), given[1:]
        return realm.function(lambda _, more: this.call(bound, [*first, *more]), f"bound {this.name}")

    methods(
        realm,
        realm.protos["Function"],
        {
            "call": lambda this, given: this.call(arg(given, 0), given[1:]),
            "apply": lambda this, given: this.call(arg(given, 0), _items(realm, arg(given, 1))),
            "bind": bind,
            "toString": lambda this, _: f"function {this.name}() {{ [bytecode] }}",  # as Hermes
        },
    )


def _no_new(_: list[Value], __: Func) -> Value:
    raise Fault("TypeError", "code from text is beyond this engine")


def _items(realm: Realm, value: Value) -> list[Value]:
    return [] if value is None or value is UNDEFINED else realm.listed(value)


def _errors(realm: Realm) -> None:
    def family(name: str, above: Obj) -> None:
        def make(given: list[Value], kind: Func) -> Value:
            made = Obj(kind.get("prototype"), "Error")
            said = arg(given, 0)
            made.put("message", "" if said is UNDEFINED else to_text(said))
            made.put("stack", f"{name}: {made.get('message')}\n    at anonymous (native)")
            return made

        realm.protos[name] = realm.protos.get(name) or Obj(above)
        _, prototype = constructor(realm, name, make)
        prototype.put("name", name)

    family("Error", realm.protos["Object"])
    for name in _ERRORS:
        family(name, realm.protos["Error"])
    said = {"toString": lambda this, _: f"{to_text(this.get('name'))}: {to_text(this.get('message'))}"}
    methods(realm, realm.protos["Error"], said)


def _symbols(realm: Realm) -> None:
    shared: dict[str, Symbol] = {}
    kind = realm.function(lambda _, given: Symbol(to_text(arg(given, 0, ""))), "Symbol")
    kind.put("iterator", ITERATOR)

    def known(_: Value, given: list[Value]) -> Value:
        name = to_text(arg(given, 0))
        return shared.setdefault(name, Symbol(name))

    methods(realm, kind, {"for": known})
    methods(realm, realm.protos["Symbol"], {"toString": lambda this, _: f"Symbol({this.name})"})
    realm.globals.put("Symbol", kind)


def _reflect(realm: Realm) -> None:
    reflect = realm.object({})
    methods(
        realm,
        reflect,
        {
            "apply": lambda _, given: given[0].call(given[1], _items(realm, arg(given, 2))),
            "construct": lambda _, given: given[0].new(_items(realm, arg(given, 1))),
            "ownKeys": lambda _, given: realm.array(_names(given[0])),
            "has": lambda _, given: given[0].has(to_key(given[1])),
            "get": lambda _, given: given[0].get(to_key(given[1])),
        },
    )
    realm.globals.put("Reflect", reflect)
