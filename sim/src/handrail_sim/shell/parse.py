"""From the text of a command line to a `Script`. Knows the grammar, runs nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from handrail_sim.shell.cursor import RESERVED, Cursor
from handrail_sim.shell.read_word import WordReader
from handrail_sim.shell.syntax import (
    Assignment,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Script,
    ShellSyntaxError,
    Simple,
    Statement,
    Test,
    Text,
    While,
    Word,
)

MAX_SOURCE = 1 << 20
MAX_NESTING = 25
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([^\]\n]*)\])?(\+?)=")
_TEST_OPERATORS = ("&&", "||", "(", ")", "<", ">")
_REDIRECT = re.compile(r"([0-9]{0,4})(<<<|<<-|<<|<&|>&|>>|>\||<>|<|>)")
_FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\([ \t]*\)")
_CLOSERS = frozenset(["then", "else", "elif", "fi", "do", "done", "esac", "}"])


@lru_cache(maxsize=512)
def parse(text: str) -> Script:
    """The whole text as a script; raises `ShellSyntaxError`."""
    if len(text) > MAX_SOURCE:
        raise ShellSyntaxError("input line too long")
    parser = Parser(text)
    script = parser.script()
    if parser.at < len(parser.text):
        raise parser.unexpected()
    return script


class Parser(Cursor):
    """Recursive descent; `depth` bounds nesting so that no input can exhaust the stack."""

    def __init__(self, text: str, at: int = 0, depth: int = 0) -> None:
        super().__init__(text, at)
        self.depth = depth
        if depth > MAX_NESTING:
            raise ShellSyntaxError("nesting too deep")

    def nested(self, text: str, at: int, closing: str) -> tuple[Script, int]:
        """A script inside another text, as in `$( … )`; and where it ended."""
        inner = Parser(text, at, self.depth + 1)
        script = inner.script()
        if closing:
            inner.expect(closing)
        elif not inner.at_end():
            raise inner.unexpected()
        return script, inner.at

    def script(self) -> Script:
        """Statements until something that can't start one."""
        statements: list[Statement] = []
        while True:
            self.lines()
            if self.at_end() or self.looking_at(")") or self.looking_at(";;") or self.keyword() in _CLOSERS:
                break
            first, rest = self._and_or()
            ending = self._ending()
            statements.append(Statement(first, rest, ending == "&"))
            if not ending:
                break
        return Script(tuple(statements))

    def _ending(self) -> str:
        self.blank()
        return "" if self.looking_at(";;") else self.operator("&", ";", "\n")

    def _and_or(self) -> tuple[Pipeline, tuple[tuple[str, Pipeline], ...]]:
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while operator := self.operator("&&", "||"):
            self.lines()
            rest.append((operator, self._pipeline()))
        return first, tuple(rest)

    def _pipeline(self) -> Pipeline:
        negated = False
        while self.keyword() == "!":
            self.take("!")
            negated = not negated
        stages = [self._command()]
        while self._pipe():
            self.lines()
            stages.append(self._command())
        return Pipeline(tuple(stages), negated)

    def _pipe(self) -> bool:
        self.blank()
        return not self.looking_at("||") and bool(self.operator("|"))

    def _command(self) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ShellSyntaxError("nesting too deep")
        node = self._function() or self._compound() or self._simple()
        self.depth -= 1
        return node

    def _function(self) -> Node | None:
        self.blank()
        match = _FUNCTION.match(self.text, self.at)
        if not match or match[1] in RESERVED:
            return None
        self.at = match.end()
        self.lines()
        return Function(match[1], self._command())

    def _compound(self) -> Node | None:
        if self.operator("("):
            script = self.script()
            self.expect(")")
            return Group(script, True, self._redirects())
        match self.keyword():
            case "{":
                return self._braces()
            case "[[":
                return self._test()
            case "if":
                return self._if()
            case "for":
                return self._for()
            case "case":
                return self._case()
            case "while" | "until":
                return self._while()
        return None

    def _braces(self) -> Node:
        self.take("{")
        script = self.script()
        self.take("}")
        return Group(script, False, self._redirects())

    def _if(self) -> Node:
        branches: list[tuple[Script, Script]] = []
        otherwise: Script | None = None
        follower = self.take("if")
        while follower in {"if", "elif"}:
            condition = self.script()
            self.take("then")
            branches.append((condition, self.script()))
            follower = self.take("elif", "else", "fi")
        if follower == "else":
            otherwise = self.script()
            self.take("fi")
        return If(tuple(branches), otherwise, self._redirects())

    def _while(self) -> Node:
        until = self.take("while", "until") == "until"
        condition = self.script()
        return While(condition, self._body(), until, self._redirects())

    def _for(self) -> Node:
        self.take("for")
        name = _plain(self._word())
        self.lines()
        words: tuple[Word, ...] | None = None
        if self.keyword() == "in":
            self.take("in")
            words = self._words()
        self.operator(";")
        return For(name, words, self._body(), self._redirects())

    def _body(self) -> Script:
        self.lines()
        self.take("do")
        script = self.script()
        self.take("done")
        return script

    def _case(self) -> Node:
        self.take("case")
        word = self._word()
        self.lines()
        self.take("in")
        arms: list[tuple[tuple[Word, ...], Script]] = []
        self.lines()
        while self.keyword() != "esac":
            arms.append(self._arm())
            self.lines()
        self.take("esac")
        return Case(word, tuple(arms), self._redirects())

    def _arm(self) -> tuple[tuple[Word, ...], Script]:
        self.operator("(")
        patterns = [self._word()]
        while self._pipe():
            patterns.append(self._word())
        self.expect(")")
        script = self.script()
        self.lines()
        if not self.operator(";;") and self.keyword() != "esac":
            raise self.unexpected()
        return tuple(patterns), script

    def _simple(self) -> Node:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            if redirect := self._redirect():
                redirects.append(redirect)
            elif not words and (match := _ASSIGNMENT.match(self.text, self.at)):
                self.at = match.end()
                assignments.append(self._assignment(match))
            elif word := self._read():
                words.append(word)
            else:
                break
        if not (words or assignments or redirects):
            raise self.unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _assignment(self, match: re.Match[str]) -> Assignment:
        name, index, plus = match.groups()
        place = None if index is None else WordReader(index, 0, self).double()
        if place is not None or not self.operator("("):
            return Assignment(name, self._read(), place, bool(plus))
        values: list[Word] = []
        self.lines()
        while not self.operator(")"):
            values.append(self._word())
            self.lines()
        return Assignment(name, appends=bool(plus), values=tuple(values))

    def _test(self) -> Node:
        """`[[ … ]]`: words are neither split nor matched with files, so that operators need no quotes."""
        self.take("[[")
        tokens: list[Word | str] = []
        while True:
            self.lines()
            if self.at_end():
                raise ShellSyntaxError("syntax error: unexpected EOF")
            if found := self.operator(*_TEST_OPERATORS):
                tokens.append(found)
                continue
            word = self._word()
            if word == (Text("]]"),):
                return Test(tuple(tokens), self._redirects())
            tokens.append(word)

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while redirect := self._redirect():
            found.append(redirect)
        return tuple(found)

    def _redirect(self) -> Redirect | None:
        self.blank()
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        digits, operator = match.groups()
        self.at = match.end()
        fd = int(digits) if digits else (0 if operator.startswith("<") else 1)
        target = self._word()
        if operator == "<<<":
            return Redirect(fd, "<<", (*target, Text("\n", quoted=True)))
        if operator.startswith("<<"):
            return Redirect(fd, "<<", self._heredoc(target, strip=operator == "<<-"))
        return Redirect(fd, {">|": ">", "<>": "<"}.get(operator, operator), target)

    def _heredoc(self, delimiter: Word, *, strip: bool) -> Word:
        """The lines after this one; cut out of the text, as the grammar goes on behind the operator."""
        start = self.text.find("\n", self.at) + 1
        end, at, lines = _plain(delimiter), start or len(self.text), ""
        while at < len(self.text):
            line, _, _ = self.text[at:].partition("\n")
            at += len(line) + 1
            line = line.lstrip("\t") if strip else line
            if line == end:
                break
            lines += line + "\n"
        self.text = self.text[:start] + self.text[at:] if start else self.text
        if any(isinstance(part, Text) and part.quoted for part in delimiter):
            return (Text(lines, quoted=True),)
        return WordReader(lines, 0, self).double()

    def _words(self) -> tuple[Word, ...]:
        words: list[Word] = []
        self.blank()
        while word := self._read():
            words.append(word)
            self.blank()
        return tuple(words)

    def _word(self) -> Word:
        self.blank()
        word = self._read()
        if not word:
            raise self.unexpected()
        return word

    def _read(self) -> Word:
        """The word that starts exactly here; nothing is skipped, for `A= command` assigns the empty word."""
        reader = WordReader(self.text, self.at, self)
        word = reader.word()
        self.at = reader.at
        return word


def _plain(word: Word) -> str:
    return "".join(part.text for part in word if isinstance(part, Text))
