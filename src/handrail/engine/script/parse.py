"""A script as pipelines of commands. Pure: knows neither which commands are allowed nor how they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from handrail.engine.script.refusal import Refusal
from handrail.engine.script.words import Token, tokens

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
class Command:
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
    commands: tuple[Command, ...]


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

    def finish(self) -> Command:
        if not self.argv:
            raise Refusal("a command without a name")
        first = self.argv[0]
        if not first.quoted and first.text in KEYWORDS:
            raise Refusal(f"the keyword {first.text}")
        if not first.quoted and ASSIGNMENT.match(first.text):
            raise Refusal("a variable assignment")
        return Command(
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
    commands: list[Command] = []
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
