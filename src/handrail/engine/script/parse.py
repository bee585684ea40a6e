"""A script as pipelines of commands. Pure: knows neither which commands are allowed nor how they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from handrail.engine.secrets import PLACEHOLDER

Joint = Literal[";", "&&", "||"]
MOST_CHARACTERS = 12_000
MOST_COMMANDS = 200
KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function"}
    | {"select", "time", "coproc", "in", "{", "}", "[[", "]]", "!"}
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[.*\])?\+?=")
REDIRECTIONS = {"<", ">", ">>", "2>", "2>>"}


@dataclass(frozen=True, slots=True)
class ScriptCommand:
    """One program to run. A file is a name as written; where it may lie is decided elsewhere."""

    argv: tuple[str, ...]
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    append_out: bool = False
    append_err: bool = False
    err_to_out: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands that feed each other; `joint` is how it hangs on the pipeline before it."""

    joint: Joint
    commands: tuple[ScriptCommand, ...]


def parse(script: str) -> list[Pipeline]:
    """Raises `Refusal` for whatever is not a list of pipelines of plain commands."""
    if len(script) > MOST_CHARACTERS:
        raise Refusal(f"{len(script):,} characters; {MOST_CHARACTERS:,} are allowed", "Split it.")
    pipelines = list(_pipelines(tokens(script)))
    count = sum(len(pipeline.commands) for pipeline in pipelines)
    if not count:
        raise Refusal("an empty script", "Write at least one command.")
    if count > MOST_COMMANDS:
        raise Refusal(f"{count} commands; {MOST_COMMANDS} are allowed", "Split it.")
    return pipelines


@dataclass(slots=True)
class _Draft:
    """A command that is being read."""

    argv: list[Token] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    err_to_out: bool = False

    @property
    def empty(self) -> bool:
        return not self.argv and not self.files and not self.err_to_out

    def finish(self) -> ScriptCommand:
        if not self.argv:
            raise Refusal("a command without a name")
        first = self.argv[0]
        if not first.quoted and first.text in KEYWORDS:
            raise Refusal(f"the keyword {first.text}")
        if not first.quoted and ASSIGNMENT.match(first.text):
            raise Refusal("a variable assignment")
        return ScriptCommand(
            tuple(token.text for token in self.argv),
            self.files.get("<"),
            self.files.get(">") or self.files.get(">>"),
            self.files.get("2>") or self.files.get("2>>"),
            ">>" in self.files,
            "2>>" in self.files,
            self.err_to_out,
        )


def _pipelines(stream: Iterator[Token]) -> Iterator[Pipeline]:
    joint: Joint = ";"
    commands: list[ScriptCommand] = []
    draft = _Draft()
    waits = False  # an operator before this place needs a command after it
    for token in stream:
        if not token.operator:
            draft.argv.append(token)
        elif token.text in REDIRECTIONS:
            _redirect(draft, token.text, next(stream, None))
        elif token.text == "2>&1":
            draft.err_to_out = True
        elif token.text == "|":
            commands.append(draft.finish())
            draft, waits = _Draft(), True
        elif draft.empty and not commands and token.text in {";", "\n"}:
            if token.text == ";":
                raise Refusal("a ; without a command before it")
        elif token.text == "\n" and draft.empty:
            pass  # a line may be broken after an operator
        else:
            yield Pipeline(joint, (*commands, draft.finish()))
            commands, draft = [], _Draft()
            joint = ";" if token.text == "\n" else _joint(token.text)
            waits = joint != ";"
    if commands or waits or not draft.empty:
        yield Pipeline(joint, (*commands, draft.finish()))


def _joint(text: str) -> Joint:
    return "&&" if text == "&&" else "||" if text == "||" else ";"


def _redirect(draft: _Draft, how: str, target: Token | None) -> None:
    if target is None or target.operator:
        raise Refusal(f"{how} without a file")
    if how[0] in {sign[0] for sign in draft.files}:
        raise Refusal("two redirections of one stream")
    draft.files[how] = target.text


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


HINT = "Use plain commands of the allowed list, joined by ; && || or |."


class Refusal(Exception):
    """What the script wanted, and what to do instead."""

    def __init__(self, what: str, hint: str = HINT) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
