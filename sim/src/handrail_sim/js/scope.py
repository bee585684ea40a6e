"""Names and what they stand for: scopes inside scopes, the outermost one is the global object."""

from __future__ import annotations

from handrail_sim.js.values import UNDEFINED, Fault, Obj, Value


class Scope:
    """One function's or block's names."""

    __slots__ = ("constants", "names", "parent", "this")

    def __init__(self, parent: Scope | None, this: Value = UNDEFINED) -> None:
        self.parent = parent
        self.names: dict[str, Value] = {}
        self.constants: set[str] = set()
        self.this = this

    def inner(self) -> Scope:
        """A block of the same function."""
        return Scope(self, self.this)

    def declare(self, name: str, value: Value, *, constant: bool = False) -> None:
        self.names[name] = value
        if constant:
            self.constants.add(name)

    def hoist(self, name: str) -> None:
        """A `var`: there from the start, and not twice."""
        self.names.setdefault(name, UNDEFINED)

    def home(self, name: str) -> Scope | None:
        one: Scope | None = self
        while one is not None and not one.holds(name):
            one = one.parent
        return one

    def holds(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> Value:
        return self.names[name]

    def write(self, name: str, value: Value) -> None:
        if name in self.constants:
            raise Fault("TypeError", "Assignment to constant variable.")
        self.names[name] = value


class GlobalScope(Scope):
    """`var` and functions become properties of the global object; `let` and `const` stay beside it."""

    __slots__ = ("object",)

    def __init__(self, thing: Obj) -> None:
        super().__init__(None, thing)
        self.object = thing

    def hoist(self, name: str) -> None:
        if not self.object.has(name):
            self.object.set(name, UNDEFINED)

    def holds(self, name: str) -> bool:
        return name in self.names or self.object.has(name)

    def read(self, name: str) -> Value:
        return self.names[name] if name in self.names else self.object.get(name)

    def write(self, name: str, value: Value) -> None:
        if name in self.names:
            super().write(name, value)
        else:
            self.object.set(name, value)
