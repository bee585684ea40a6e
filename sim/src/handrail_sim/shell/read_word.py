"""Reading one word: quotes, escapes, `$…` and backticks. Knows nothing of commands or operators."""

from __future__ import annotations

import re
from typing import Protocol

from handrail_sim.shell.syntax import (
    Arithmetic,
    Part,
    Script,
    ShellSyntaxError,
    Substitution,
    Text,
    Variable,
    Word,
)

ENDS = " \t\n;&|<>()"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?$!#@*-])(?:\[([^\]\n]*)\])?")
_OPERATOR = re.compile(r":[-=+?]|##|%%|//|[-=+?#%/]")
_PLAIN = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
_C_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}
_C_NUMBER = re.compile(r"x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})")


class Grammar(Protocol):
    """What word reading needs of the grammar: a script up to a closing parenthesis."""

    def nested(self, text: str, at: int, closing: str) -> tuple[Script, int]: ...


class WordReader:
    """Reads words of `text` from `at`; moves `at` behind what it read."""

    def __init__(self, text: str, at: int, grammar: Grammar) -> None:
        self.text = text
        self.at = at
        self._grammar = grammar

    def word(self, ends: str = ENDS) -> Word:
        """The word that starts here; empty when there is none."""
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self._part(parts, ends)
        return tuple(parts)

    def _part(self, parts: list[Part], ends: str) -> None:
        char = self.text[self.at]
        if char == "\\":
            self._escape(parts)
        elif char == "'":
            parts.append(Text(self._until_quote(), quoted=True))
        elif char == '"':
            self.at += 1
            self._double(parts, '"')
        elif char == "$":
            parts.append(self._dollar(quoted=False))
        elif char == "`":
            parts.append(self._backtick(quoted=False))
        else:
            parts.append(Text(self._run(ends)))

    def _run(self, ends: str) -> str:
        start = self.at
        if ends == ENDS and (match := _PLAIN.match(self.text, start)):
            self.at = match.end()
            return match.group()
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] not in ends + "\\'\"$`":
            self.at += 1
        return self.text[start : self.at]

    def _escape(self, parts: list[Part]) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following != "\n":
            parts.append(Text(following or "\\", quoted=True))

    def _until_quote(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise ShellSyntaxError("no closing quote")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double(self) -> Word:
        """The rest of the text as inside double quotes: the body of a here-document."""
        parts: list[Part] = []
        self._double(parts, "")
        return tuple(parts)

    def _double(self, parts: list[Part], closing: str) -> None:
        plain: list[str] = []
        parts.append(Text("", quoted=True))  # "" is a word, although an empty one
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closing:
                self.at += 1
                break
            if char in "$`":
                parts.append(Text("".join(plain), quoted=True))
                plain = []
                parts.append(self._dollar(quoted=True) if char == "$" else self._backtick(quoted=True))
            else:
                plain.append(self._double_char(char))
        else:
            if closing:
                raise ShellSyntaxError("no closing quote")
        if plain:
            parts.append(Text("".join(plain), quoted=True))

    def _double_char(self, char: str) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        if char != "\\" or following not in {"$", "`", '"', "\\", "\n"}:
            self.at += 1
            return char
        self.at += 2
        return "" if following == "\n" else following

    def _dollar(self, *, quoted: bool) -> Part:
        following = self.text[self.at + 1 : self.at + 2]
        if self.text.startswith("$((", self.at):
            return self._arithmetic(quoted)
        if following == "(":
            script, self.at = self._grammar.nested(self.text, self.at + 2, ")")
            return Substitution(script, quoted)
        if following == "{":
            self.at += 2
            return self._braced(quoted)
        if following == "'" and not quoted:
            self.at += 2
            return Text(self._c_string(), quoted=True)
        return self._named(quoted, following)

    def _named(self, quoted: bool, following: str) -> Part:
        if match := _NAME.match(self.text, self.at + 1):
            self.at = match.end()
            return Variable(match.group(), quoted)
        if following and following in "?$!#@*-0123456789":
            self.at += 2
            return Variable(following, quoted)
        self.at += 1
        return Text("$", quoted)

    def _braced(self, quoted: bool) -> Part:
        match = _BRACED.match(self.text, self.at)
        if not match:
            raise ShellSyntaxError("bad substitution")
        mark, name, index = match.groups()
        place = None if index is None else WordReader(index, 0, self._grammar).double()
        length = mark == "#"
        if mark == "!" and place is None:
            raise ShellSyntaxError("bad substitution")
        self.at = match.end()
        if self.text.startswith("}", self.at):
            self.at += 1
            return Variable(name, quoted, {"#": "length", "!": "keys"}.get(mark, ""), index=place)
        found = _OPERATOR.match(self.text, self.at)
        if length or not found:
            raise ShellSyntaxError("bad substitution")
        self.at = found.end()
        word = self.word("}")
        if not self.text.startswith("}", self.at):
            raise ShellSyntaxError("no closing quote")
        self.at += 1
        return Variable(name, quoted, found.group(), word, index=place)

    def _arithmetic(self, quoted: bool) -> Part:
        start, depth = self.at + 3, 0
        for end in range(start, len(self.text)):
            char = self.text[end]
            if char == ")" and depth == 0:
                break
            depth += (char == "(") - (char == ")")
        else:
            raise ShellSyntaxError("no closing quote")
        self.at = end + 2
        return Arithmetic(WordReader(self.text[start:end], 0, self._grammar).double(), quoted)

    def _backtick(self, *, quoted: bool) -> Part:
        self.at += 1
        inner: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != "`":
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in {"$", "`", "\\"}:
                self.at += 1
            inner.append(self.text[self.at])
            self.at += 1
        if self.at >= len(self.text):
            raise ShellSyntaxError("no closing quote")
        self.at += 1
        script, _ = self._grammar.nested("".join(inner), 0, "")
        return Substitution(script, quoted)

    def _c_string(self) -> str:
        out: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "'":
                return "".join(out)
            out.append(self._c_escape() if char == "\\" else char)
        raise ShellSyntaxError("no closing quote")

    def _c_escape(self) -> str:
        if match := _C_NUMBER.match(self.text, self.at):
            self.at = match.end()
            byte, octal, short, full = match.groups()
            if byte or octal:
                value = int(byte, 16) if byte else int(octal, 8) & 0xFF
                return bytes([value]).decode("utf-8", "surrogateescape")
            return chr(min(int(short or full, 16), 0x10FFFF))
        char = self.text[self.at : self.at + 1]
        self.at += 1
        return _C_ESCAPES.get(char, char)
