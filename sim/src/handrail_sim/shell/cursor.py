"""A place in the text of a script: blanks, reserved words, operators. Knows no grammar."""

from __future__ import annotations

import re

from handrail_sim.shell.syntax import ShellSyntaxError

_WORDS = """
if then else elif fi do done while until for case esac in { } ! [[
"""
RESERVED = frozenset(_WORDS.split())
_BLANK = re.compile(r"(?:[ \t]|\\\n|#[^\n]*)*")
_KEYWORD = re.compile(r"([a-z]+|[{}!]|\[\[)(?=[ \t\n;&|()<>]|\Z)")
_TOKEN = re.compile(r";;|&&|\|\||[;&|()<>]|[^\s;&|()<>]+")


class Cursor:
    """Where the parser is."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def at_end(self) -> bool:
        self.blank()
        return self.at >= len(self.text)

    def looking_at(self, token: str) -> bool:
        return self.text.startswith(token, self.at)

    def blank(self) -> None:
        """Over spaces, joined lines and comments."""
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()

    def lines(self) -> None:
        """Over blanks and newlines."""
        self.blank()
        while self.looking_at("\n"):
            self.at += 1
            self.blank()

    def keyword(self) -> str:
        """The next word if it is a reserved one, else the empty string."""
        self.blank()
        match = _KEYWORD.match(self.text, self.at)
        return match[1] if match and match[1] in RESERVED else ""

    def take(self, *expected: str) -> str:
        found = self.keyword()
        if found not in expected:
            raise self.unexpected()
        self.at += len(found)
        return found

    def operator(self, *operators: str) -> str:
        """Step over one of these; the empty string when none is here."""
        self.blank()
        for operator in operators:
            if self.looking_at(operator):
                self.at += len(operator)
                return operator
        return ""

    def expect(self, operator: str) -> None:
        if not self.operator(operator):
            raise self.unexpected()

    def unexpected(self) -> ShellSyntaxError:
        if self.at_end():
            return ShellSyntaxError("syntax error: unexpected EOF")
        match = _TOKEN.match(self.text, self.at)
        return ShellSyntaxError(f"syntax error: unexpected '{match.group() if match else 'newline'}'")
