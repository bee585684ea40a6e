"""Tokens to expressions, by binding strength; and the patterns that parameters and declarations are."""

from __future__ import annotations

from typing import Any

from handrail_sim.js.lex import SyntaxFault, Token, tokens

Node = tuple[Any, ...]
_LEVELS = (
    ("??",), ("||",), ("&&",), ("|",), ("^",), ("&",),
    ("==", "!=", "===", "!=="), ("<", ">", "<=", ">=", "in", "instanceof"),
    ("<<", ">>", ">>>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_STRENGTH = {sign: level for level, signs in enumerate(_LEVELS, 1) for sign in signs}
_POWER = len(_LEVELS) + 1
_ASSIGN = frozenset(f"{sign}=" for sign in ("", *"+-*/%&|^", "**", "<<", ">>", ">>>", "&&", "||", "??"))
_UNARY = frozenset({"!", "-", "+", "~", "typeof", "void", "delete"})
_LITERALS = {"true": True, "false": False, "null": None}


class Expressions:
    """A place in a list of tokens."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self.no_in = False
        """Inside the head of a `for`, where `in` is no operator."""

    # tokens

    @property
    def peek(self) -> Token:
        return self._tokens[self._at]

    def next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def take(self, value: str) -> bool:
        """Go past this punctuation mark or keyword if it is next."""
        token = self.peek
        if token.value == value and token.kind in ("punct", "keyword"):
            self._at += 1
            return True
        return False

    def expect(self, value: str) -> None:
        if not self.take(value):
            raise SyntaxFault(f"Unexpected token {self.peek.value!r}, expected {value!r}")

    def name(self) -> str:
        token = self.next()
        if token.kind != "name":
            raise SyntaxFault(f"Unexpected token {token.value!r}, expected a name")
        return str(token.value)

    # expressions

    def in_parentheses(self) -> Node:
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found

    def expression(self, *, no_in: bool = False) -> Node:
        """With commas."""
        held, self.no_in = self.no_in, no_in
        try:
            parts = [self.assigned()]
            while self.take(","):
                parts.append(self.assigned())
        finally:
            self.no_in = held
        return parts[0] if len(parts) == 1 else ("comma", parts)

    def assigned(self) -> Node:
        """One expression without a comma."""
        if self._begins_arrow():
            return self._arrow()
        left = self._choice()
        sign = self.peek.value
        if self.peek.kind == "punct" and sign in _ASSIGN:
            self.next()
            target = self.as_pattern(left) if sign == "=" else left
            return ("assign", sign, target, self.assigned())
        return left

    def _choice(self) -> Node:
        test = self._binary(0)
        if not self.take("?"):
            return test
        held, self.no_in = self.no_in, False
        then = self.assigned()
        self.no_in = held
        self.expect(":")
        return ("choose", test, then, self.assigned())

    def _binary(self, least: int) -> Node:
        left = self._unary()
        while True:
            token = self.peek
            sign = token.value if token.kind in ("punct", "keyword") else ""
            if sign == "**":
                self.next()
                left = ("binary", sign, left, self._binary(_POWER))
                continue
            level = _STRENGTH.get(sign, 0)
            if level <= least or (sign == "in" and self.no_in):
                return left
            self.next()
            kind = "logic" if sign in ("&&", "||", "??") else "binary"
            left = (kind, sign, left, self._binary(level))

    def _unary(self) -> Node:
        token = self.peek
        if token.kind in ("punct", "keyword"):
            if token.value in _UNARY:
                self.next()
                return ("unary", token.value, self._unary())
            if token.value in ("++", "--"):
                self.next()
                return ("update", token.value, self._unary(), True)
        found = self._postfix()
        if self.peek.value in ("++", "--") and self.peek.kind == "punct" and not self.peek.new_line:
            return ("update", self.next().value, found, False)
        return found

    def _postfix(self) -> Node:
        found = self._new() if self.peek.value == "new" and self.peek.kind == "keyword" else self._primary()
        optional = False
        while True:
            if self.take("?."):
                optional = True
                found = self._after_question(found)
            elif self.take("."):
                found = ("member", found, ("value", self._word()), False)
            elif self.take("["):
                found = ("member", found, self._index(), False)
            elif self.peek.value == "(" and self.peek.kind == "punct":
                found = ("call", found, self._arguments(), False)
            else:
                return ("chain", found) if optional else found

    def _after_question(self, found: Node) -> Node:
        if self.take("["):
            return ("member", found, self._index(), True)
        if self.peek.value == "(":
            return ("call", found, self._arguments(), True)
        return ("member", found, ("value", self._word()), True)

    def _index(self) -> Node:
        found = self.expression()
        self.expect("]")
        return found

    def _word(self) -> str:
        token = self.next()
        if token.kind not in ("name", "keyword"):
            raise SyntaxFault(f"Unexpected token {token.value!r} after a dot")
        return str(token.value)

    def _arguments(self) -> list[Node]:
        self.expect("(")
        return self._listed(")")

    def _listed(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self.take(end):
            if self.take("..."):
                found.append(("spread", self.assigned()))
            elif self.peek.value == "," and end == "]":
                found.append(("undefined",))
            else:
                found.append(self.assigned())
            if not self.take(","):
                self.expect(end)
                break
        return found

    def _new(self) -> Node:
        self.expect("new")
        made = self._new() if self.peek.value == "new" else self._primary()
        while True:
            if self.take("."):
                made = ("member", made, ("value", self._word()), False)
            elif self.take("["):
                made = ("member", made, self._index(), False)
            else:
                break
        return ("new", made, self._arguments() if self.peek.value == "(" else [])

    def _primary(self) -> Node:
        token = self.next()
        kind, value = token.kind, token.value
        if kind in ("number", "string"):
            return ("value", value)
        if kind == "name":
            return ("name", value)
        if kind == "template":
            texts, inner = value
            return ("template", texts, [type(self)(tokens(one)).expression() for one in inner])
        if kind == "regex":
            return ("regex", *value)
        return self._marked(token)

    def _marked(self, token: Token) -> Node:
        """What begins with a punctuation mark or a keyword."""
        value = token.value
        if value in _LITERALS and token.kind == "keyword":
            return ("value", _LITERALS[value])
        if value == "(":
            found = self.expression()
            self.expect(")")
            return found
        if value == "[":
            return ("array", self._listed("]"))
        if value == "{":
            return self._object()
        if value == "function":
            return self.function_rest()
        if value == "this":
            return ("this",)
        raise SyntaxFault("Unexpected end of input" if token.kind == "end" else f"Unexpected token {value!r}")

    # objects

    def _object(self) -> Node:
        parts: list[Node] = []
        while not self.take("}"):
            parts.append(("spread", self.assigned()) if self.take("...") else self._property())
            if not self.take(","):
                self.expect("}")
                break
        return ("object", parts)

    def _property(self) -> Node:
        token, after = self.peek, self._tokens[self._at + 1]
        if token.value in ("get", "set") and token.kind == "name" and after.value not in (",", ":", "(", "}"):
            self.next()
            return (token.value, self._key(), self._function("", self._parameters()))
        key = self._key()
        if self.peek.value == "(":
            return ("is", key, self._function("", self._parameters()))
        if self.take(":"):
            return ("is", key, self.assigned())
        default = self.assigned() if self.take("=") else None  # only a pattern may have one
        named: Node = ("name", token.value)
        return ("is", key, named if default is None else ("assign", "=", named, default))

    def _key(self) -> Node:
        token = self.next()
        return self._index() if token.value == "[" and token.kind == "punct" else ("value", token.value)

    # functions and patterns

    def _begins_arrow(self) -> bool:
        token, after = self.peek, self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        if token.kind == "name":
            return after.value == "=>" and after.kind == "punct"
        if token.value != "(" or token.kind != "punct":
            return False
        depth = 0
        for at in range(self._at, len(self._tokens)):
            one = self._tokens[at]
            if one.kind == "punct":
                depth += 1 if one.value in ("(", "[", "{") else -1 if one.value in (")", "]", "}") else 0
            if not depth:
                return bool(self._tokens[at + 1].value == "=>")
        return False

    def _arrow(self) -> Node:
        if self.peek.kind == "name":
            parameters: list[Node] = [("to_name", self.name(), None)]
        else:
            parameters = self._parameters()
        self.expect("=>")
        if self.peek.value == "{" and self.peek.kind == "punct":
            return ("lambda", "", parameters, self.block(), True)
        return ("lambda", "", parameters, [("return", self.assigned())], True)

    def function_rest(self) -> Node:
        """After `function`."""
        name = self.name() if self.peek.kind == "name" else ""
        return self._function(name, self._parameters())

    def _function(self, name: str, parameters: list[Node]) -> Node:
        return ("lambda", name, parameters, self.block(), False)

    def block(self) -> list[Node]:
        """`{ … }`, by the class for statements."""
        raise NotImplementedError

    def _parameters(self) -> list[Node]:
        self.expect("(")
        found: list[Node] = []
        while not self.take(")"):
            if self.take("..."):
                found.append(("to_rest", self.pattern()))
            else:
                target = self.pattern()
                found.append((*target[:-1], self.assigned()) if self.take("=") else target)
            if not self.take(","):
                self.expect(")")
                break
        return found

    def pattern(self) -> Node:
        """What can be declared: a name, `[a, b]`, `{a, b: c}`; the last item is the default."""
        return self.as_pattern(self._primary())

    def as_pattern(self, found: Node) -> Node:
        kind = found[0]
        if kind == "name":
            return ("to_name", found[1], None)
        if kind == "assign" and found[1] == "=":
            target = found[2] if found[2][0].startswith("to_") else self.as_pattern(found[2])
            return (*target[:-1], found[3])
        if kind == "spread":
            return ("to_rest", self.as_pattern(found[1]))
        if kind == "array":
            return ("to_array", [self.as_pattern(one) for one in found[1]], None)
        if kind == "object":
            return ("to_object", [self._as_entry(one) for one in found[1]], None)
        if kind == "member":
            return ("to_member", found, None)
        if kind == "undefined":
            return ("to_nothing", None)
        raise SyntaxFault("Invalid assignment target")

    def _as_entry(self, part: Node) -> tuple[Node | None, Node]:
        return (
            (None, self.as_pattern(part[1])) if part[0] == "spread" else (part[1], self.as_pattern(part[2]))
        )
