"""From a parsed word to the strings a command gets: variables, substitutions, splitting, file patterns."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from fnmatch import translate

from handrail_sim.shell.arithmetic import evaluate
from handrail_sim.shell.session import Session
from handrail_sim.shell.syntax import Arithmetic, Script, ShellSyntaxError, Substitution, Text, Variable, Word

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Expander:
    """Expands words for one session; `substitute` runs a script, `glob` asks the file system."""

    session: Session
    substitute: Callable[[Script], Awaitable[str]]
    glob: Callable[[str], list[str]]

    async def words(self, words: tuple[Word, ...]) -> list[str]:
        found: list[str] = []
        for word in words:
            found += await self.fields(word)
        return found

    async def fields(self, word: Word) -> list[str]:
        """The arguments a word becomes: none, one or many."""
        if len(word) == 1 and isinstance(word[0], Text):
            text = word[0]
            if text.quoted or not (_MAGIC.search(text.text) or text.text.startswith("~")):
                return [text.text]
        fields = _Fields(self.session.variables.get("IFS", " \t\n"))
        for at, part in enumerate(word):
            if isinstance(part, Text):
                fields.add(self._tilde(part) if at == 0 else part.text, part.quoted)
            elif isinstance(part, Variable) and part.quoted and (each := self._each(part)) is not None:
                fields.add_each(each)
            elif part.quoted:
                fields.add(await self._value(part), quoted=True)
            else:
                fields.add_split(await self._value(part))
        return [name for field in fields.finish() for name in self._matches(field)]

    def _each(self, part: Variable) -> list[str] | None:
        """What `"$@"`, `"${a[@]}"` and `"${!a[@]}"` become: a word for each."""
        if part.name == "@" and not part.operator and part.index is None:
            return self.session.parameters
        if part.index != (Text("", quoted=True), Text("@", quoted=True)) or part.operator not in {"", "keys"}:
            return None
        held = self.session.elements(part.name)
        return [str(key) for key in held] if part.operator else list(held.values())

    async def _indexed(self, part: Variable, index: str) -> str:
        held = self.session.elements(part.name)
        if index in {"@", "*"}:
            if part.operator == "length":
                return str(len(held))
            return " ".join(map(str, held) if part.operator == "keys" else held.values())
        at = int(evaluate(index, self.session.get))
        value = held.get(at if at >= 0 else max(held, default=0) + 1 + at)
        return await self._operated(part, value) if part.operator else value or ""

    async def single(self, word: Word) -> str:
        """One string, neither split nor matched: an assignment or the target of a redirection."""
        values = [part.text if isinstance(part, Text) else await self._value(part) for part in word]
        return self._home("".join(values)) if word and _opens_with_tilde(word) else "".join(values)

    async def pattern(self, word: Word) -> str:
        """For `case` and `${x#…}`: quoted characters lose their special meaning."""
        out: list[str] = []
        for part in word:
            value = part.text if isinstance(part, Text) else await self._value(part)
            out.append(escape(value) if part.quoted else value)
        return "".join(out)

    def _tilde(self, part: Text) -> str:
        return self._home(part.text) if not part.quoted and part.text.startswith("~") else part.text

    def _home(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            return self.session.variables.get("HOME", "/").rstrip("/") + (text[1:] or "/")
        return text

    async def _value(self, part: Variable | Substitution | Arithmetic) -> str:
        if isinstance(part, Substitution):
            return await self.substitute(part.script)
        if isinstance(part, Arithmetic):
            return str(evaluate(await self.single(part.expression), self.session.get))
        if part.index is not None:
            return await self._indexed(part, await self.single(part.index))
        value = self.session.get(part.name)
        if value is None and not part.operator and "u" in self.session.modes and part.name not in {"@", "*"}:
            raise ShellSyntaxError(f"{part.name}: parameter not set")
        return await self._operated(part, value) if part.operator else value or ""

    async def _operated(self, part: Variable, value: str | None) -> str:
        operator = part.operator
        if operator == "length":
            return str(len(value or ""))
        if operator in {"#", "##", "%", "%%"}:
            return _trim(value or "", await self.pattern(part.word), operator)
        if operator in {"/", "//"}:
            return await self._replaced(part, value or "")
        present = bool(value) if operator[0] == ":" else value is not None
        if operator[-1] == "+":
            return await self.single(part.word) if present else ""
        if present:
            return value or ""
        word = await self.single(part.word)
        if operator[-1] == "?":
            raise ShellSyntaxError(f"{part.name}: {word or 'parameter null or not set'}")
        if operator[-1] == "=":
            self.session.put(part.name, word)
        return word

    async def _replaced(self, part: Variable, value: str) -> str:
        pattern, _, replacement = (await self.pattern(part.word)).partition("/")
        expression = re.compile(_regex(pattern), re.DOTALL)
        return expression.sub(lambda _: replacement, value, count=0 if part.operator == "//" else 1)

    def _matches(self, field: list[tuple[str, bool]]) -> list[str]:
        literal = "".join(text for text, _ in field)
        if not any(not quoted and _MAGIC.search(text) for text, quoted in field):
            return [literal]
        if "f" in self.session.modes:
            return [literal]
        pattern = "".join(escape(text) if quoted else text for text, quoted in field)
        return self.glob(pattern) or [literal]


class _Fields:
    """Collects pieces into fields; unquoted values are split at IFS."""

    def __init__(self, ifs: str) -> None:
        self._done: list[list[tuple[str, bool]]] = []
        self._open: list[tuple[str, bool]] | None = None
        self._ifs = ifs

    def add(self, text: str, quoted: bool) -> None:
        self._open = [*(self._open or []), (text, quoted)]

    def add_each(self, values: list[str]) -> None:
        for at, value in enumerate(values):
            if at:
                self._close()
            self.add(value, quoted=True)

    def add_split(self, text: str) -> None:
        if not self._ifs:
            if text:
                self.add(text, quoted=False)
            return
        separator = f"[{re.escape(self._ifs)}]"
        pieces = re.split(f"{separator}+" if self._ifs.isspace() else separator, text)
        for at, piece in enumerate(pieces):
            if at:
                self._close()
            if piece:
                self.add(piece, quoted=False)

    def _close(self) -> None:
        if self._open is not None:
            self._done.append(self._open)
            self._open = None

    def finish(self) -> list[list[tuple[str, bool]]]:
        self._close()
        return self._done


def escape(text: str) -> str:
    """The text as a pattern that matches only itself."""
    return _MAGIC.sub(lambda found: f"[{found.group()}]", text)


def _regex(pattern: str) -> str:
    """The body of fnmatch's regular expression, without its anchors."""
    return translate(pattern).removeprefix("(?s:").removesuffix(")\\Z")


def _trim(value: str, pattern: str, operator: str) -> str:
    """`#` and `%` cut the shortest match at the start or the end, doubled the longest."""
    expression = re.compile(f"(?:{_regex(pattern)})\\Z", re.DOTALL)
    sizes = range(len(value) + 1) if len(operator) == 1 else range(len(value), -1, -1)
    for size in sizes:
        part = value[:size] if operator[0] == "#" else value[len(value) - size :]
        if expression.match(part):
            return value[size:] if operator[0] == "#" else value[: len(value) - size]
    return value


def _opens_with_tilde(word: Word) -> bool:
    return isinstance(word[0], Text) and not word[0].quoted and word[0].text.startswith("~")
