"""`$(( … ))` as mksh counts: signed 32-bit integers, C's operators. Knows variables only by `get`."""

from __future__ import annotations

import re
from collections.abc import Callable

from handrail_sim.shell.syntax import ShellSyntaxError

_TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!~&|^?:,])"
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
)
_LEVELS += (("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_APPLY: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a or b)),
    "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b & 31),
    ">>": lambda a, b: a >> (b & 31),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


def wrap(value: int) -> int:
    """Into the range of a C int."""
    return (value + 2**31) % 2**32 - 2**31


def evaluate(text: str, get: Callable[[str], str | None]) -> int:
    """The value of an expression; raises `ShellSyntaxError` for what is none."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:
            raise ShellSyntaxError(f"{text}: unexpected '{text[at:].strip()[:1]}'")
        tokens.append(match[1])
        at = match.end()
    if not tokens:
        return 0
    reader = _Reader(text, tokens[:1000], get)
    value = reader.ternary(0)
    if reader.tokens:
        raise ShellSyntaxError(f"{text}: unexpected '{reader.tokens[0]}'")
    return value


class _Reader:
    """Precedence climbing over a list of tokens."""

    def __init__(self, text: str, tokens: list[str], get: Callable[[str], str | None]) -> None:
        self.text = text
        self.tokens = tokens
        self.get = get

    def ternary(self, depth: int) -> int:
        if depth > 20:
            raise ShellSyntaxError(f"{self.text}: expression too deep")
        condition = self.binary(0, depth)
        if self.tokens[:1] != ["?"]:
            return condition
        self.tokens.pop(0)
        first = self.ternary(depth + 1)
        self._expect(":")
        second = self.ternary(depth + 1)
        return first if condition else second

    def binary(self, level: int, depth: int) -> int:
        if level == len(_LEVELS):
            return self.unary(depth)
        value = self.binary(level + 1, depth)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            operator = self.tokens.pop(0)
            other = self.binary(level + 1, depth)
            if operator in "/%" and other == 0:
                raise ShellSyntaxError(f"{self.text}: zero divisor")
            value = wrap(_APPLY[operator](value, other))
        return value

    def unary(self, depth: int) -> int:
        if not self.tokens:
            raise ShellSyntaxError(f"{self.text}: unexpected end of expression")
        token = self.tokens.pop(0)
        if token in {"-", "+", "!", "~"}:
            if depth > 20:
                raise ShellSyntaxError(f"{self.text}: expression too deep")
            value = self.unary(depth + 1)
            return {"-": wrap(-value), "+": value, "!": int(not value), "~": ~value}[token]
        if token == "(":  # noqa: S105 - a parenthesis
            value = self.ternary(depth + 1)
            self._expect(")")
            return value
        return self._value(token)

    def _value(self, token: str) -> int:
        if token[0].isdigit():
            return wrap(int(token, 16 if token[:2].lower() == "0x" else 10))
        if token[0].isalpha() or token[0] == "_":
            value = (self.get(token) or "0").strip()
            return wrap(int(value)) if re.fullmatch(r"-?\d{1,19}", value) else 0
        raise ShellSyntaxError(f"{self.text}: unexpected '{token}'")

    def _expect(self, token: str) -> None:
        if self.tokens[:1] != [token]:
            raise ShellSyntaxError(f"{self.text}: missing '{token}'")
        self.tokens.pop(0)
