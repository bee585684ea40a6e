"""From the text of a command line to a `Script`. Knows the grammar, runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as written; quoted ones are neither split nor expanded as patterns."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`, or `${name OP word}` with OP one of :- - := = :+ + :? ? # ## % %% length."""

    name: str
    quoted: bool = False
    operator: str = ""
    word: Word = ()
    index: Word | None = None
    """`${name[index]}`; `@` and `*` are every element."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(script)` or backticks: the output, without its last newlines."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((expression))`."""

    expression: Word
    quoted: bool = False


Part: TypeAlias = Text | Variable | Substitution | Arithmetic
Word: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd OP target`, OP one of < > >> >& <& <<."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=word`, `name[index]=word`, `name+=word`, or with `values` an array `name=(…)`."""

    name: str
    word: Word = ()
    index: Word | None = None
    appends: bool = False
    values: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ … ]]`: its words, and its operators as plain text."""

    tokens: tuple[Word | str, ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, a command with its arguments, redirections."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """`{ … }`, or `( … )` as a subshell."""

    script: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with their bodies in order, and the else part."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words; do body; done`; without `in`, over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """`while` or `until`."""

    condition: Script
    body: Script
    until: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern|pattern) body;; … esac`."""

    word: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """`name() body`."""

    name: str
    body: Node


Node: TypeAlias = Simple | Group | If | For | While | Case | Test | Function


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`, perhaps negated by `!`."""

    stages: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Pipelines joined by && and ||; `background` when it ended in &."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in order."""

    statements: tuple[Statement, ...]


class ShellSyntaxError(Exception):
    """The text is not a shell command; the message is mksh's, without its prefix."""


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
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()

    def lines(self) -> None:
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
        match = self.keyword()
        if match not in expected:
            raise self.unexpected()
        self.at += len(match)
        return match

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


ENDS = " \t\n;&|<>()"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?$!#@*-])(?:\[([^\]\n]*)\])?")
_OPERATOR = re.compile(r":[-=+?]|##|%%|//|[-=+?#%/]")
_PLAIN = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
_C_ESCAPES = dict(zip("ntrabfveE", "\n\t\r\a\b\f\v\x1b\x1b", strict=True))
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
        """The word that starts here, or an empty word."""
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self._part(parts, ends)
        return tuple(parts)

    def _part(self, parts: list[Part], ends: str) -> None:
        char = self.text[self.at]
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            if following != "\n":
                parts.append(Text(following or "\\", quoted=True))
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
        hit = _OPERATOR.match(self.text, self.at)
        if length or not hit:
            raise ShellSyntaxError("bad substitution")
        self.at = hit.end()
        word = self.word("}")
        if not self.text.startswith("}", self.at):
            raise ShellSyntaxError("no closing quote")
        self.at += 1
        return Variable(name, quoted, hit.group(), word, index=place)

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
            self.blank()
            ending = "" if self.looking_at(";;") else self.operator("&", ";", "\n")
            statements.append(Statement(first, rest, ending == "&"))
            if not ending:
                break
        return Script(tuple(statements))

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
                until = self.take("while", "until") == "until"
                condition = self.script()
                return While(condition, self._body(), until, self._redirects())
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
            if match := self.operator(*_TEST_OPERATORS):
                tokens.append(match)
                continue
            word = self._word()
            if word == (Text("]]"),):
                return Test(tuple(tokens), self._redirects())
            tokens.append(word)

    def _redirects(self) -> tuple[Redirect, ...]:
        matches: list[Redirect] = []
        while redirect := self._redirect():
            matches.append(redirect)
        return tuple(matches)

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
