"""A script's text as words and operators, by the quoting rules of `sh`. What only a shell can do is refused.

Pure. Nothing is expanded: a `$` stands for itself or is refused, `${secret:NAME}` stays to be filled later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handrail.engine.script.refusal import Refusal
from handrail.engine.secrets import PLACEHOLDER

BLANK = " \t\r"
GLOB = "*?["
SPECIAL = "_{[@*#?-$!"
"""What makes a variable of the dollar sign before it."""
OPERATORS = ("&&", "||", "2>&1", "2>>", "2>", ">>", ">", "<", "|", ";", "\n")
"""Longest first. A `2` is one of these only where a word could begin."""
FORBIDDEN = {
    "$(": "command substitution $( )",
    "`": "command substitution by backquotes",
    "<(": "process substitution <( )",
    ">(": "process substitution >( )",
    "<<": "a here-document",
    "<&": "a copied file descriptor",
    ">&": "a copied file descriptor",
    ">|": "a forced redirection",
    "<>": "a file opened both ways",
    "|&": "a pipe of both streams",
    ";;": "a case branch",
    "(": "a subshell or function",
    ")": "a subshell or function",
    "&": "a command in the background",
}
"""Where a script would need a shell: what it would do, by how it begins. Longest first."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or an operator. A word that was quoted is never a keyword or an assignment."""

    text: str
    operator: bool = False
    quoted: bool = False


def tokens(script: str) -> Iterator[Token]:
    """The script in order. Raises `Refusal`."""
    if "\0" in script:
        raise Refusal("a NUL character")
    reader = _Reader(script)
    while (token := reader.next()) is not None:
        yield token


class _Reader:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def next(self) -> Token | None:
        self._skip()
        if self.at >= len(self.text):
            return None
        operator = self._operator()
        if operator:
            self.at += len(operator)
            return Token(operator, operator=True)
        return self._word()

    def _skip(self) -> None:
        """Blanks, joined lines and comments."""
        while self.at < len(self.text):
            if self.text[self.at] in BLANK:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def _operator(self) -> str | None:
        found = next((one for one in OPERATORS if self.text.startswith(one, self.at)), None)
        if found in {"&&", "||", "2>&1"}:
            return found
        self._forbid(self.at)
        return found

    def _forbid(self, at: int) -> None:
        for start, what in FORBIDDEN.items():
            if self.text.startswith(start, at):
                raise Refusal(what)

    def _word(self) -> Token:
        start, parts, quoted = self.at, [], False
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter in BLANK or letter in "\n;|<>&()":
                break
            if letter in "'\"\\":
                quoted = True
            parts.append(self._piece(letter))
        if self.text[start : self.at].isdecimal() and self.text[self.at : self.at + 1] in {"<", ">"}:
            raise Refusal("a numbered file descriptor")
        if self.at == start:
            raise Refusal(f"{self.text[self.at]!r} where a word should be")
        return Token("".join(parts), quoted=quoted)

    def _piece(self, letter: str) -> str:
        match letter:
            case "'":
                return self._single()
            case '"':
                return self._double()
            case "\\":
                return self._escape()
            case "$" | "`":
                return self._dollar(SPECIAL + "'\"")
        if letter in GLOB:
            raise Refusal(
                f"an unquoted {letter} (no shell is there to expand it)",
                "Put it in quotes, or name the files.",
            )
        self.at += 1
        return letter

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Refusal("a quote that does not end")
        inner = self.text[self.at + 1 : end]
        self.at = end + 1
        return inner

    def _double(self) -> str:
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                self.at += 1
                return "".join(parts)
            if letter in "$`":
                parts.append(self._dollar(SPECIAL))
            elif letter == "\\" and self.text[self.at + 1 : self.at + 2] in {"$", "`", '"', "\\", "\n"}:
                parts.append(self._escape())
            else:
                parts.append(letter)
                self.at += 1
        raise Refusal("a quote that does not end")

    def _escape(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        if not following:
            raise Refusal("a backslash at the end")
        self.at += 2
        return "" if following == "\n" else following

    def _dollar(self, special: str) -> str:
        """A secret's placeholder, or a dollar sign that means nothing to a shell either."""
        self._forbid(self.at)
        secret = PLACEHOLDER.match(self.text, self.at)
        if secret:
            self.at = secret.end()
            return secret[0]
        following = self.text[self.at + 1 : self.at + 2]
        if following and (following.isalnum() or following in special):
            raise Refusal("a variable", "There are none: write the value, or quote the dollar sign with '…'.")
        self.at += 1
        return "$"
