"""Expressions as Python closures over a scope. What needs prototypes is asked of the realm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from handrail_sim.js.operators import BINARY, UNARY
from handrail_sim.js.scope import Scope
from handrail_sim.js.values import (
    UNDEFINED,
    Accessor,
    Fault,
    Func,
    Obj,
    Value,
    to_key,
    to_number,
    to_text,
    truthy,
)

if TYPE_CHECKING:
    from handrail_sim.js.parse_expressions import Node
    from handrail_sim.js.realm import Realm

Run = Callable[[Scope], Value]
Store = Callable[[Scope, Value], None]


class _Short(Exception):
    """Something before `?.` was not there: the whole chain is undefined."""


def is_nothing(value: Value) -> bool:
    """null or undefined."""
    return value is None or value is UNDEFINED


class ExpressionCompiler:
    """One method per kind of node."""

    def __init__(self, realm: Realm) -> None:
        self.realm = realm

    def expression(self, node: Node) -> Run:
        made: Run = getattr(self, f"_{node[0]}")(*node[1:])
        return made

    def _value(self, value: Value) -> Run:
        return lambda _: value

    def _undefined(self) -> Run:
        return lambda _: UNDEFINED

    def _this(self) -> Run:
        return lambda scope: scope.this

    def _name(self, name: str) -> Run:
        if name == "undefined":
            return self._undefined()

        def run(scope: Scope) -> Value:
            home = scope.home(name)
            if home is None:
                raise Fault("ReferenceError", f"Property '{name}' doesn't exist")
            return home.read(name)

        return run

    def _comma(self, parts: list[Node]) -> Run:
        runs = [self.expression(part) for part in parts]
        return lambda scope: [run(scope) for run in runs][-1]

    def _template(self, texts: list[str], inner: list[Node]) -> Run:
        runs = [self.expression(one) for one in inner]

        def run(scope: Scope) -> str:
            said = [to_text(one(scope)) for one in runs]
            return texts[0] + "".join(words + text for words, text in zip(said, texts[1:], strict=True))

        return run

    def _regex(self, source: str, flags: str) -> Run:
        return lambda _: self.realm.regex(source, flags)

    # signs

    def _binary(self, sign: str, left: Node, right: Node) -> Run:
        work, one, other = BINARY[sign], self.expression(left), self.expression(right)
        return lambda scope: work(one(scope), other(scope))

    def _logic(self, sign: str, left: Node, right: Node) -> Run:
        one, other = self.expression(left), self.expression(right)
        stops = _STOPS[sign]

        def run(scope: Scope) -> Value:
            value = one(scope)
            return value if stops(value) else other(scope)

        return run

    def _choose(self, test: Node, then: Node, other: Node) -> Run:
        decide, yes, no = map(self.expression, (test, then, other))
        return lambda scope: yes(scope) if truthy(decide(scope)) else no(scope)

    def _unary(self, sign: str, operand: Node) -> Run:
        if sign == "delete":
            return self._delete(operand)
        if sign == "typeof" and operand[0] == "name":
            known, read = operand[1], self._name(operand[1])
            return lambda scope: UNARY[sign](UNDEFINED if scope.home(known) is None else read(scope))
        work, run = UNARY[sign], self.expression(operand)
        return lambda scope: work(run(scope))

    def _delete(self, operand: Node) -> Run:
        if operand[0] != "member":
            return lambda _: False
        of, at = self.expression(operand[1]), self.expression(operand[2])

        def run(scope: Scope) -> bool:
            thing = of(scope)
            return thing.delete(to_key(at(scope))) if isinstance(thing, Obj) else True

        return run

    def _update(self, sign: str, operand: Node, first: bool) -> Run:
        read, store, by = self.expression(operand), self.store(operand), 1 if sign == "++" else -1

        def run(scope: Scope) -> Value:
            old = to_number(read(scope))
            store(scope, old + by)
            return old + by if first else old

        return run

    # storing

    def _assign(self, sign: str, target: Node, value: Node) -> Run:
        give = self.expression(value)
        if sign == "=":
            put = self.store(target)

            def run(scope: Scope) -> Value:
                made = give(scope)
                put(scope, made)
                return made

            return run
        if sign[:-1] in _STOPS:
            return self._assign_if(sign[:-1], target, give)
        read, put, work = self.expression(target), self.store(target), BINARY[sign[:-1]]

        def change(scope: Scope) -> Value:
            made = work(read(scope), give(scope))
            put(scope, made)
            return made

        return change

    def _assign_if(self, sign: str, target: Node, give: Run) -> Run:
        read, put, stops = self.expression(target), self.store(target), _STOPS[sign]

        def run(scope: Scope) -> Value:
            old = read(scope)
            if stops(old):
                return old
            made = give(scope)
            put(scope, made)
            return made

        return run

    def store(self, target: Node, declare: str = "") -> Store:
        """How to put a value into a name, a member or a pattern; `declare`: let, const or "" for what is."""
        kind = target[0].removeprefix("to_")
        if kind == "name":
            return self._with_default(target[2:], _store_name(target[1], declare))
        if kind == "member":
            inner = target[1] if target[0] == "to_member" else target
            return self._store_member(inner)
        if kind == "array":
            return self._with_default(target[2:], self._store_array(target[1], declare))
        if kind == "object":
            return self._with_default(target[2:], self._store_object(target[1], declare))
        if kind == "nothing":
            return lambda _scope, _value: None
        raise Fault("SyntaxError", "Invalid left-hand side in assignment")

    def _with_default(self, default: Node, put: Store) -> Store:
        if not default or default[0] is None:
            return put
        give = self.expression(default[0])
        return lambda scope, value: put(scope, give(scope) if value is UNDEFINED else value)

    def _store_member(self, node: Node) -> Store:
        of, at = self.expression(node[1]), self.expression(node[2])
        return lambda scope, value: self.realm.put(of(scope), to_key(at(scope)), value)

    def _store_array(self, parts: list[Node], declare: str) -> Store:
        rest = parts[-1] if parts and parts[-1][0] == "to_rest" else None
        puts = [self.store(part, declare) for part in (parts[:-1] if rest else parts)]
        put_rest = self.store(rest[1], declare) if rest else None

        def run(scope: Scope, value: Value) -> None:
            items = self.realm.listed(value)
            for at, put in enumerate(puts):
                put(scope, items[at] if at < len(items) else UNDEFINED)
            if put_rest is not None:
                put_rest(scope, self.realm.array(items[len(puts) :]))

        return run

    def _store_object(self, entries: list[tuple[Node | None, Node]], declare: str) -> Store:
        named = [
            (self.expression(key), self.store(part, declare)) for key, part in entries if key is not None
        ]
        rest = next((self.store(part, declare) for key, part in entries if key is None), None)

        def run(scope: Scope, value: Value) -> None:
            if is_nothing(value):
                raise Fault("TypeError", f"Cannot destructure '{value!r}'")
            taken = []
            for key, put in named:
                taken.append(to_key(key(scope)))
                put(scope, self.realm.get(value, taken[-1]))
            if rest is not None:
                left = [key for key in value.names() if key not in taken] if isinstance(value, Obj) else []
                rest(scope, self.realm.object({key: value.get(key) for key in left}))

        return run

    # members and calls

    def _member(self, of: Node, at: Node, optional: bool) -> Run:
        thing, key, get = self.expression(of), self.expression(at), self.realm.get

        def run(scope: Scope) -> Value:
            value = thing(scope)
            if optional and is_nothing(value):
                raise _Short
            return get(value, to_key(key(scope)))

        return run

    def _chain(self, inner: Node) -> Run:
        run = self.expression(inner)

        def whole(scope: Scope) -> Value:
            try:
                return run(scope)
            except _Short:
                return UNDEFINED

        return whole

    def _call(self, callee: Node, arguments: list[Node], optional: bool) -> Run:
        find, give = self._callee(callee), self._given(arguments)
        said = _said(callee)

        def run(scope: Scope) -> Value:
            this, function = find(scope)
            if optional and is_nothing(function):
                raise _Short
            if not isinstance(function, Func):
                raise Fault("TypeError", f"{said} is not a function")
            self.realm.spend()
            return function.native(this, give(scope))

        return run

    def _callee(self, callee: Node) -> Callable[[Scope], tuple[Value, Value]]:
        if callee[0] == "member":
            of, at, optional = self.expression(callee[1]), self.expression(callee[2]), callee[3]

            def find(scope: Scope) -> tuple[Value, Value]:
                this = of(scope)
                if optional and is_nothing(this):
                    raise _Short
                return this, self.realm.get(this, to_key(at(scope)))

            return find
        run = self.expression(callee)
        return lambda scope: (UNDEFINED, run(scope))

    def _given(self, parts: list[Node]) -> Callable[[Scope], list[Value]]:
        if not any(part[0] == "spread" for part in parts):
            runs = [self.expression(part) for part in parts]
            return lambda scope: [run(scope) for run in runs]
        mixed = [
            (part[0] == "spread", self.expression(part[1] if part[0] == "spread" else part)) for part in parts
        ]

        def give(scope: Scope) -> list[Value]:
            found: list[Value] = []
            for spread, run in mixed:
                found += self.realm.listed(run(scope)) if spread else [run(scope)]
            return found

        return give

    def _new(self, kind: Node, arguments: list[Node]) -> Run:
        find, give, said = self.expression(kind), self._given(arguments), _said(kind)

        def run(scope: Scope) -> Value:
            function = find(scope)
            if not isinstance(function, Func):
                raise Fault("TypeError", f"{said} is not a constructor")
            self.realm.spend()
            return function.new(give(scope))

        return run

    # literals

    def _array(self, parts: list[Node]) -> Run:
        give = self._given(parts)
        return lambda scope: self.realm.array(give(scope))

    def _object(self, parts: list[Node]) -> Run:
        steps = [self._part(part) for part in parts]

        def run(scope: Scope) -> Obj:
            made = self.realm.object({})
            for step in steps:
                step(scope, made)
            return made

        return run

    def _part(self, part: Node) -> Callable[[Scope, Obj], None]:
        kind, give = part[0], self.expression(part[-1])
        if kind == "spread":
            return lambda scope, made: self.realm.copy_into(made, give(scope))
        key = self.expression(part[1])
        if kind == "is":
            return lambda scope, made: made.props.__setitem__(to_key(key(scope)), give(scope))

        def accessor(scope: Scope, made: Obj) -> None:
            name = to_key(key(scope))
            found = made.props.get(name)
            known = found if isinstance(found, Accessor) else Accessor()
            made.props[name] = known
            setattr(known, kind, give(scope))

        return accessor

    def _lambda(self, name: str, parameters: list[Node], body: list[Node], arrow: bool) -> Run:
        raise NotImplementedError


_STOPS: dict[str, Callable[[Value], bool]] = {
    "&&": lambda value: not truthy(value),
    "||": truthy,
    "??": lambda value: not is_nothing(value),
}


def _store_name(name: str, declare: str) -> Store:
    if declare:
        return lambda scope, value: scope.declare(name, value, constant=declare == "const")

    def put(scope: Scope, value: Value) -> None:
        home = scope.home(name)
        while home is None and scope.parent is not None:
            scope = scope.parent  # sloppy mode: an unknown name becomes global
        (home or scope).write(name, value)

    return put


def _said(node: Any) -> str:
    if node[0] == "member":
        return f"{_said(node[1])}.{node[2][1]}" if node[2][0] == "value" else f"{_said(node[1])}[…]"
    return str(node[1]) if node[0] == "name" else "this" if node[0] == "this" else "expression"
