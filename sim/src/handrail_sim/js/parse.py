"""Tokens to statements: a tree of tuples, the first item of each says what it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from handrail_sim.js.lex import SyntaxFault, tokens
from handrail_sim.js.parse_expressions import Expressions, Node

KEPT = 64  # programs; a debugger sends the same few again and again


@lru_cache(maxsize=KEPT)
def parse(source: str) -> list[Node]:
    """The statements of a program. Raises `SyntaxFault`."""
    parser = Parser(tokens(source))
    found = []
    while parser.peek.kind != "end":
        found.append(parser.statement())
    return found


class Parser(Expressions):
    """Statements; expressions are in the class below."""

    def statement(self) -> Node:
        token = self.peek
        if token.kind == "keyword" and token.value in _BY_WORD:
            self.next()
            return _BY_WORD[token.value](self)
        if token.value == "{" and token.kind == "punct":
            return ("block", self.block())
        if self.take(";"):
            return ("empty",)
        made: Node = ("do", self.expression())
        self.end()
        return made

    def block(self) -> list[Node]:
        """`{ … }`."""
        self.expect("{")
        found = []
        while not self.take("}"):
            if self.peek.kind == "end":
                raise SyntaxFault("Unexpected end of input")
            found.append(self.statement())
        return found

    def end(self) -> None:
        """A semicolon, or where one may be left out."""
        token = self.peek
        if not self.take(";") and not (token.new_line or token.kind == "end" or token.value == "}"):
            raise SyntaxFault(f"Unexpected token {token.value!r}")

    def declared(self, kind: str) -> Node:
        """After `var`, `let` or `const`: patterns with what they begin as."""
        pairs: list[tuple[Node, Node | None]] = []
        while True:
            pattern = self.pattern()
            pairs.append((pattern, self.assigned() if self.take("=") else None))
            if not self.take(","):
                return ("declare", kind, pairs)

    def declaration(self, kind: str) -> Node:
        made = self.declared(kind)
        self.end()
        return made

    def function_statement(self) -> Node:
        made = self.function_rest()
        return ("function", made[1], made)

    def if_(self) -> Node:
        test = self.in_parentheses()
        then = self.statement()
        return ("if", test, then, self.statement() if self.take("else") else None)

    def while_(self) -> Node:
        return ("while", self.in_parentheses(), self.statement())

    def do_(self) -> Node:
        body = self.statement()
        self.expect("while")
        test = self.in_parentheses()
        self.take(";")
        return ("do_while", test, body)

    def for_(self) -> Node:
        self.expect("(")
        first: Node | None = None
        if self.peek.value in ("var", "let", "const") and self.peek.kind == "keyword":
            first = self._for_head(str(self.next().value))
        elif self.peek.value != ";":
            first = ("do", self.expression(no_in=True))
        if self.peek.value in ("of", "in") and first is not None:
            return self._for_each(first)
        self.expect(";")
        test = None if self.peek.value == ";" else self.expression()
        self.expect(";")
        step = None if self.peek.value == ")" else self.expression()
        self.expect(")")
        return ("for", first, test, step, self.statement())

    def _for_head(self, kind: str) -> Node:
        self.no_in = True
        try:
            return self.declared(kind)
        finally:
            self.no_in = False

    def _for_each(self, first: Node) -> Node:
        how = self.next().value
        source = self.expression()
        self.expect(")")
        if first[0] == "declare":
            return ("for_" + how, first[1], first[2][0][0], source, self.statement())
        return ("for_" + how, "", self.as_pattern(first[1]), source, self.statement())

    def return_(self) -> Node:
        token = self.peek
        bare = token.new_line or token.kind == "end" or token.value in (";", "}")
        made: Node = ("return", None if bare and token.kind != "string" else self.expression())
        self.end()
        return made

    def throw_(self) -> Node:
        made: Node = ("throw", self.expression())
        self.end()
        return made

    def jump(self, word: str) -> Node:
        self.end()
        return (word,)

    def try_(self) -> Node:
        body = self.block()
        caught: tuple[Node | None, list[Node]] | None = None
        if self.take("catch"):
            name = None
            if self.take("("):
                name = self.pattern()
                self.expect(")")
            caught = (name, self.block())
        return ("try", body, caught, self.block() if self.take("finally") else None)

    def switch_(self) -> Node:
        value = self.in_parentheses()
        self.expect("{")
        cases: list[tuple[Node | None, list[Node]]] = []
        while not self.take("}"):
            test = None
            if not self.take("default"):
                self.expect("case")
                test = self.expression()
            self.expect(":")
            body: list[Node] = []
            while self.peek.value not in ("case", "default", "}"):
                body.append(self.statement())
            cases.append((test, body))
        return ("switch", value, cases)


_BY_WORD: dict[Any, Callable[[Parser], Node]] = {
    "var": lambda parser: parser.declaration("var"),
    "let": lambda parser: parser.declaration("let"),
    "const": lambda parser: parser.declaration("const"),
    "break": lambda parser: parser.jump("break"),
    "continue": lambda parser: parser.jump("continue"),
    "function": Parser.function_statement,
    "if": Parser.if_,
    "while": Parser.while_,
    "do": Parser.do_,
    "for": Parser.for_,
    "return": Parser.return_,
    "throw": Parser.throw_,
    "try": Parser.try_,
    "switch": Parser.switch_,
}
