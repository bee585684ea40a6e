"""Source text to tokens. Whether a slash divides or begins a regular expression, what precedes it decides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

KEYWORDS = frozenset(
    {"break", "case", "catch", "const", "continue", "default", "delete", "do", "else", "finally", "for"}
    | {"function", "if", "in", "instanceof", "let", "new", "return", "switch", "this", "throw", "try"}
    | {"typeof", "var", "void", "while", "true", "false", "null"}
)
_NOT_HERE = frozenset({"class", "async", "await", "yield", "import", "export", "with"})
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][\w$]*")
_PUNCT = re.compile(
    r">>>=|\.\.\.|===|!==|>>>|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|\+\+|--|\*\*|<<|>>|&&|\|\||\?\?|\?\."
    r"|\+=|-=|\*=|/=|%=|&=|\|=|\^=|[{}()\[\];,<>+\-*/%&|^!~?:=.]"
)
_STRING = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_REGEX = re.compile(r"/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+)/([a-z]*)")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_AFTER_VALUE = frozenset({")", "]", "}"})
_VALUES = frozenset({"this", "true", "false", "null"})


class SyntaxFault(Exception):
    """The source is not of this language, or of a part of it that is not here."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind`: name, keyword, punct, number, string, template, regex or end."""

    kind: str
    value: Any
    new_line: bool
    """A line break stands before it."""


def tokens(source: str) -> list[Token]:
    """All of them, `end` last."""
    found: list[Token] = []
    at = 0
    while True:
        space = _SPACE.match(source, at)
        gap = space.group() if space else ""
        at += len(gap)
        if at >= len(source):
            found.append(Token("end", "", True))
            return found
        kind, value, at = _next(source, at, found[-1] if found else None)
        found.append(Token(kind, value, "\n" in gap))


def _next(source: str, at: int, before: Token | None) -> tuple[str, Any, int]:
    char = source[at]
    if char == "`":
        return _template(source, at)
    if char == "/" and not _ends_value(before) and (regex := _REGEX.match(source, at)):
        return "regex", (regex[1], regex[2]), regex.end()
    for kind, pattern in (("name", _NAME), ("number", _NUMBER), ("string", _STRING), ("punct", _PUNCT)):
        if found := pattern.match(source, at):
            return *_shaped(kind, found.group()), found.end()
    raise SyntaxFault(f"Invalid or unexpected token {char!r}")


def _shaped(kind: str, text: str) -> tuple[str, Any]:
    if kind == "name":
        if text in _NOT_HERE:
            raise SyntaxFault(f"{text!r} is beyond this engine")
        return ("keyword" if text in KEYWORDS else "name"), text
    if kind == "number":
        return kind, int(text, 0) if text[:2].lower() in ("0x", "0b", "0o") else _decimal(text)
    return kind, unescaped(text[1:-1]) if kind == "string" else text


def _decimal(text: str) -> int | float:
    return int(text) if text.isdecimal() else float(text)


def _ends_value(token: Token | None) -> bool:
    if token is None:
        return False
    if token.kind in ("name", "number", "string", "template", "regex"):
        return True
    return token.value in _AFTER_VALUE or token.value in _VALUES


def unescaped(text: str) -> str:
    """What a string literal says."""
    return _ESCAPE.sub(lambda found: _character(found[1]), text)


def _character(code: str) -> str:
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:].strip("{}"), 16))
    return _ESCAPES.get(code, code)


def _template(source: str, at: int) -> tuple[str, Any, int]:
    """Texts and the sources of the expressions between them."""
    texts: list[str] = []
    inner: list[str] = []
    start = at = at + 1
    while at < len(source):
        if source[at] == "\\":
            at += 2
        elif source[at] == "`":
            texts.append(unescaped(source[start:at]))
            return "template", (texts, inner), at + 1
        elif source.startswith("${", at):
            texts.append(unescaped(source[start:at]))
            end = _closing(source, at + 2)
            inner.append(source[at + 2 : end])
            start = at = end + 1
        else:
            at += 1
    raise SyntaxFault("Unterminated template literal")


def _closing(source: str, at: int) -> int:
    depth = 1
    while at < len(source):
        if text := _STRING.match(source, at):
            at = text.end()
            continue
        if source[at] == "`":
            at = _template(source, at)[2]
            continue
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if not depth:
            return at
        at += 1
    raise SyntaxFault("Unterminated template literal")
