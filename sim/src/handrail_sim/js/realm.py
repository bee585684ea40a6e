"""One JS context: its global object, its prototypes, its pending promise jobs. Runs programs from text."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from handrail_sim.js.compile import Compiler, vars_of
from handrail_sim.js.compile_expressions import is_nothing
from handrail_sim.js.lex import SyntaxFault
from handrail_sim.js.parse import parse
from handrail_sim.js.scope import GlobalScope
from handrail_sim.js.values import (
    UNDEFINED,
    Arr,
    Fault,
    Func,
    Native,
    Obj,
    Symbol,
    Throw,
    Value,
    index_of,
    to_text,
)

WORK = 300_000
"""Calls and turns of loops that one program may take; an endless one fails instead of stopping the phone."""


class Realm:
    """A fresh world with the standard library."""

    def __init__(self) -> None:
        from handrail_sim.js.library import furnish  # noqa: PLC0415 - it furnishes this class

        self.protos: dict[str, Obj] = {"Object": Obj()}
        for name in ("Function", "Array", "String", "Number", "Boolean", "Symbol", "Error", "RegExp"):
            self.protos[name] = Obj(self.protos["Object"])
        self.globals = self.object({})
        self.scope = GlobalScope(self.globals)
        self.jobs: deque[Callable[[], object]] = deque()
        self.spent = 0
        self._programs: dict[str, Callable[[], Value]] = {}
        self._compiler = Compiler(self)
        furnish(self)

    # running

    def run(self, source: str) -> Value:
        """The value of the last expression of a program. Raises `Throw`."""
        self.spent = 0
        try:
            return self._program(source)()
        except (Fault, SyntaxFault, RecursionError) as fault:
            raise Throw(self.thrown(fault)) from None
        finally:
            self.settle()

    def call(self, function: Value, this: Value = UNDEFINED, *arguments: Value) -> Value:
        """Call a function from outside, and do the jobs that follow. Raises `Throw`."""
        self.spent = 0
        try:
            if not isinstance(function, Func):
                raise Fault("TypeError", "not a function")
            return function.call(this, list(arguments))
        except (Fault, RecursionError) as fault:
            raise Throw(self.thrown(fault)) from None
        finally:
            self.settle()

    def settle(self) -> None:
        """Promise jobs until none is left; one that throws does not stop the others."""
        while self.jobs:
            job = self.jobs.popleft()
            try:
                job()
            except (Throw, Fault, RecursionError):
                continue

    def spend(self) -> None:
        self.spent += 1
        if self.spent > WORK:
            raise Fault("RangeError", "the program took too long")

    def _program(self, source: str) -> Callable[[], Value]:
        known = self._programs.get(source)
        if known is not None:
            return known
        nodes = parse(source)
        last = nodes[-1] if nodes and nodes[-1][0] == "do" else None
        body = self._compiler.body(nodes[:-1] if last else nodes)
        value = self._compiler.expression(last[1]) if last else None
        names = vars_of(nodes)

        def program() -> Value:
            for name in names:
                self.scope.hoist(name)
            body(self.scope)
            return UNDEFINED if value is None else value(self.scope)

        self._programs[source] = program
        return program

    # making

    def object(self, props: Mapping[str, Value]) -> Obj:
        made = Obj(self.protos["Object"])
        made.props.update(props)
        return made

    def array(self, items: list[Value]) -> Arr:
        return Arr(items, self.protos["Array"])

    def function(self, native: Native, name: str = "") -> Func:
        return Func(native, name, self.protos["Function"])

    def regex(self, source: str, flags: str) -> Value:
        return self.globals.get("RegExp").new([source, flags])

    def error(self, kind: str, message: str) -> Value:
        return self.globals.get(kind).new([message])

    def thrown(self, fault: BaseException) -> Value:
        """What `catch` gets."""
        if isinstance(fault, Throw):
            return fault.value
        if isinstance(fault, Fault):
            return self.error(fault.kind, str(fault))
        if isinstance(fault, RecursionError):
            return self.error("RangeError", "Maximum call stack size exceeded")
        return self.error("SyntaxError", str(fault))

    # members

    def get(self, value: Value, key: Any) -> Value:
        """`value.key`, also of texts and numbers."""
        if isinstance(value, Obj):
            return value.get(key)
        if is_nothing(value):
            said = key if isinstance(key, str) else "symbol"
            raise Fault("TypeError", f"Cannot read property '{said}' of {to_text(value)}")
        if isinstance(value, str):
            at = index_of(key)
            if key == "length":
                return len(value)
            if at is not None:
                return value[at] if at < len(value) else UNDEFINED
        return self.protos[_boxed(value)].get(key, value)

    def put(self, value: Value, key: Any, given: Value) -> None:
        if is_nothing(value):
            raise Fault("TypeError", f"Cannot set property '{key}' of {to_text(value)}")
        if isinstance(value, Obj):
            value.set(key, given)

    def copy_into(self, target: Obj, source: Value) -> None:
        """`{...source}`."""
        for key in source.names() if isinstance(source, Obj) else ():
            target.set(key, source.get(key))

    def listed(self, value: Value) -> list[Value]:
        """All that a `for … of` would see."""
        if isinstance(value, Arr):
            return list(value.items)
        if isinstance(value, str):
            return list(value)
        if isinstance(value, Obj) and value.kind in ("Map", "Set"):
            pairs = list(value.own.values())
            return (
                [self.array([key, item]) for key, item in pairs]
                if value.kind == "Map"
                else [k for k, _ in pairs]
            )
        if isinstance(value, Obj) and isinstance(step := value.get("next"), Func):
            return self._drained(value, step)
        raise Fault("TypeError", f"{type(value).__name__} is not iterable")

    def _drained(self, iterator: Obj, step: Func) -> list[Value]:
        found = []
        while not (turn := step.call(iterator, [])).get("done"):
            self.spend()
            found.append(turn.get("value"))
        return found


def _boxed(value: Value) -> str:
    if isinstance(value, str):
        return "String"
    if isinstance(value, bool):
        return "Boolean"
    return "Symbol" if isinstance(value, Symbol) else "Number"
