"""Statements and functions as Python closures. A statement gives None, or how control leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail_sim.js.compile_expressions import ExpressionCompiler, Run, Store
from handrail_sim.js.scope import Scope
from handrail_sim.js.values import UNDEFINED, Fault, Func, Obj, Throw, Value, same, truthy

if TYPE_CHECKING:
    from handrail_sim.js.parse_expressions import Node

Leave = tuple[str, Value]
"""("return", value), ("break", …) or ("continue", …)."""
Step = Callable[[Scope], "Leave | None"]
BREAK: Leave = ("break", UNDEFINED)
CONTINUE: Leave = ("continue", UNDEFINED)


class Compiler(ExpressionCompiler):
    """One method per kind of statement."""

    def statement(self, node: Node) -> Step:
        made: Step = getattr(self, f"_{node[0]}_")(*node[1:])
        return made

    def _maybe(self, node: Node | None) -> Run | None:
        return None if node is None else self.expression(node)

    def body(self, nodes: list[Node]) -> Step:
        """Statements in order; functions are there before the first."""
        functions = [
            (node[1], self._lambda(*node[2][1:], own=False)) for node in nodes if node[0] == "function"
        ]
        steps = [self.statement(node) for node in nodes if node[0] != "function"]

        def run(scope: Scope) -> Leave | None:
            for name, make in functions:
                scope.hoist(name)
                (scope.home(name) or scope).write(name, make(scope))
            for step in steps:
                if (leave := step(scope)) is not None:
                    return leave
            return None

        return run

    def _empty_(self) -> Step:
        return lambda _: None

    def _do_(self, node: Node) -> Step:
        run = self.expression(node)

        def step(scope: Scope) -> None:
            run(scope)

        return step

    def _block_(self, nodes: list[Node]) -> Step:
        run = self.body(nodes)
        return (lambda scope: run(scope.inner())) if _needs_scope(nodes) else run

    def _declare_(self, kind: str, pairs: list[tuple[Node, Node | None]]) -> Step:
        made = [
            (self.store(pattern, "" if kind == "var" else kind), self._maybe(value))
            for pattern, value in pairs
            if kind != "var" or value is not None
        ]

        def step(scope: Scope) -> None:
            for store, run in made:
                store(scope, UNDEFINED if run is None else run(scope))

        return step

    def _if_(self, test: Node, then: Node, other: Node | None) -> Step:
        decide, yes = self.expression(test), self.statement(then)
        no = self.statement(other) if other else self._empty_()
        return lambda scope: yes(scope) if truthy(decide(scope)) else no(scope)

    def _return_(self, node: Node | None) -> Step:
        if node is None:
            return lambda _: ("return", UNDEFINED)
        run = self.expression(node)
        return lambda scope: ("return", run(scope))

    def _throw_(self, node: Node) -> Step:
        run = self.expression(node)

        def step(scope: Scope) -> None:
            raise Throw(run(scope))

        return step

    def _break_(self) -> Step:
        return lambda _: BREAK

    def _continue_(self) -> Step:
        return lambda _: CONTINUE

    # loops

    def _while_(self, test: Node, body: Node) -> Step:
        return self._loop(self.expression(test), self.statement(body), None)

    def _do_while_(self, test: Node, body: Node) -> Step:
        once, again = self.statement(body), self._while_(test, body)

        def step(scope: Scope) -> Leave | None:
            leave = once(scope)
            if leave is not None and leave is not CONTINUE:
                return None if leave is BREAK else leave
            return again(scope)

        return step

    def _loop(self, test: Run | None, body: Step, after: Run | None) -> Step:
        spend = self.realm.spend

        def step(scope: Scope) -> Leave | None:
            while test is None or truthy(test(scope)):
                spend()
                leave = body(scope)
                if leave is not None and leave is not CONTINUE:
                    return None if leave is BREAK else leave
                if after is not None:
                    after(scope)
            return None

        return step

    def _for_(self, first: Node | None, test: Node | None, after: Node | None, body: Node) -> Step:
        begin = self.statement(first) if first else self._empty_()
        fresh = first is not None and first[0] == "declare" and first[1] != "var"
        run = self._fresh_each_time(self.statement(body)) if fresh else self.statement(body)
        loop = self._loop(self._maybe(test), run, self._maybe(after))

        def step(scope: Scope) -> Leave | None:
            inner = scope.inner() if fresh else scope
            begin(inner)
            return loop(inner)

        return step

    def _fresh_each_time(self, body: Step) -> Step:
        """Closures made in one turn keep that turn's `let`; what the turn changed goes on to the next."""

        def step(scope: Scope) -> Leave | None:
            turn = scope.inner()
            turn.names.update(scope.names)
            leave = body(turn)
            scope.names.update({name: turn.names[name] for name in scope.names})
            return leave

        return step

    def _for_of_(self, kind: str, pattern: Node, source: Node, body: Node) -> Step:
        return self._each(kind, pattern, self.expression(source), body, self.realm.listed)

    def _for_in_(self, kind: str, pattern: Node, source: Node, body: Node) -> Step:
        return self._each(kind, pattern, self.expression(source), body, _all_keys)

    def _each(
        self, kind: str, pattern: Node, source: Run, body: Node, items: Callable[[Value], list[Value]]
    ) -> Step:
        store: Store = self.store(pattern, "" if kind == "var" else kind)
        run, spend = self.statement(body), self.realm.spend

        def step(scope: Scope) -> Leave | None:
            for item in items(source(scope)):
                spend()
                turn = scope.inner()
                store(turn, item)
                leave = run(turn)
                if leave is not None and leave is not CONTINUE:
                    return None if leave is BREAK else leave
            return None

        return step

    def _switch_(self, value: Node, cases: list[tuple[Node | None, list[Node]]]) -> Step:
        ask = self.expression(value)
        made = [(self._maybe(test), self.body(body)) for test, body in cases]

        def step(scope: Scope) -> Leave | None:
            wanted, inner = ask(scope), scope.inner()
            hits = [at for at, (test, _) in enumerate(made) if test and same(test(inner), wanted)]
            start = hits[:1] or [at for at, (test, _) in enumerate(made) if test is None]
            for _, body in made[start[0] :] if start else ():
                if (leave := body(inner)) is not None:
                    return None if leave is BREAK else leave
            return None

        return step

    # failures

    def _try_(
        self, body: list[Node], caught: tuple[Node | None, list[Node]] | None, after: list[Node] | None
    ) -> Step:
        attempt = self._block_(body)
        rescue = self._rescue(*caught) if caught else None
        last = self._block_(after) if after is not None else None

        def step(scope: Scope) -> Leave | None:
            leave: Leave | None = None
            try:
                leave = attempt(scope)
            except (Throw, Fault, RecursionError) as thrown:
                if rescue is None:
                    raise
                leave = rescue(scope, self.realm.thrown(thrown))
            finally:
                ended = last(scope) if last is not None else None
            return ended if ended is not None else leave

        return step

    def _rescue(self, pattern: Node | None, body: list[Node]) -> Callable[[Scope, Value], Leave | None]:
        store, run = None if pattern is None else self.store(pattern, "let"), self.body(body)

        def step(scope: Scope, value: Value) -> Leave | None:
            inner = scope.inner()
            if store is not None:
                store(inner, value)
            return run(inner)

        return step

    # functions

    def _lambda(
        self, name: str, parameters: list[Node], body: list[Node], arrow: bool, *, own: bool = True
    ) -> Run:
        """`own`: a function expression knows itself by its name."""
        run, enter = self.body(body), self._entered(parameters)
        hoisted, realm = list(dict.fromkeys(vars_of(body))), self.realm

        def make(scope: Scope) -> Func:
            around = scope.inner() if own and name else scope

            def native(this: Value, arguments: list[Value]) -> Value:
                inner = Scope(around, around.this if arrow else this)
                if not arrow:
                    inner.names["arguments"] = realm.array(list(arguments))
                enter(inner, arguments)
                for one in hoisted:
                    inner.hoist(one)
                leave = run(inner)
                return leave[1] if leave is not None else UNDEFINED

            made = realm.function(native, name)
            if around is not scope:
                around.declare(name, made)
            if not arrow:
                prototype = realm.object({})
                prototype.put("constructor", made)
                made.put("prototype", prototype)
            return made

        return make

    def _entered(self, parameters: list[Node]) -> Callable[[Scope, list[Value]], None]:
        """How the arguments become names."""
        rest = self.store(parameters[-1][1], "let") if parameters and parameters[-1][0] == "to_rest" else None
        stores = [self.store(one, "let") for one in (parameters[:-1] if rest else parameters)]

        def enter(scope: Scope, arguments: list[Value]) -> None:
            for at, store in enumerate(stores):
                store(scope, arguments[at] if at < len(arguments) else UNDEFINED)
            if rest is not None:
                rest(scope, self.realm.array(arguments[len(stores) :]))

        return enter


def vars_of(nodes: list[Node]) -> list[str]:
    """Names that `var` declares, in blocks and loops too, but not in inner functions."""
    return [name for node in nodes for name in _vars_in(node)]


def _vars_in(node: Node | None) -> list[str]:
    if node is None:
        return []
    kind = node[0]
    if kind == "declare":
        return [name for pattern, _ in node[2] for name in _bound(pattern)] if node[1] == "var" else []
    if kind in ("for_of", "for_in"):
        return (_bound(node[2]) if node[1] == "var" else []) + _vars_in(node[4])
    return [name for inner in _inside(node) for name in _vars_in(inner)]


def _inside(node: Node) -> list[Node | None]:
    """The statements that a statement consists of."""
    match node:
        case ("block", nodes):
            return list(nodes)
        case ("if", _, then, other):
            return [then, other]
        case ("while" | "do_while", _, body):
            return [body]
        case ("for", first, _, _, body):
            return [first, body]
        case ("try", nodes, caught, after):
            return [*nodes, *(caught[1] if caught else ()), *(after or ())]
        case ("switch", _, cases):
            return [one for _, body in cases for one in body]
    return []


def _bound(pattern: Node) -> list[str]:
    kind = pattern[0]
    if kind == "to_name":
        return [pattern[1]]
    if kind == "to_rest":
        return _bound(pattern[1])
    if kind == "to_array":
        return [name for one in pattern[1] for name in _bound(one)]
    return [name for _, one in pattern[1] for name in _bound(one)] if kind == "to_object" else []


def _needs_scope(nodes: list[Node]) -> bool:
    return any(node[0] == "function" or (node[0] == "declare" and node[1] != "var") for node in nodes)


def _all_keys(value: Value) -> list[Value]:
    """Own listed keys, then those of the prototypes."""
    found: dict[str, None] = {}
    one = value if isinstance(value, Obj) else None
    while one is not None:
        found.update(dict.fromkeys(one.names()))
        one = one.proto
    return list(found)
