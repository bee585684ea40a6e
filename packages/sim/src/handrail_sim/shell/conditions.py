"""`test`, `[ … ]` and `[[ … ]]`: questions about files, strings and numbers."""

from __future__ import annotations

import stat as modes
from collections.abc import Callable
from fnmatch import fnmatchcase

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.session import SHELL

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_STRINGS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
_KINDS = {"-b": modes.S_IFBLK, "-c": modes.S_IFCHR, "-d": modes.S_IFDIR, "-f": modes.S_IFREG}
_KINDS |= {"-p": modes.S_IFIFO, "-S": modes.S_IFSOCK}
_ACCESS = {"-r": 4, "-w": 2, "-x": 1}
_UNARY = frozenset({*_KINDS, *_ACCESS, "-e", "-a", "-s", "-z", "-n", "-h", "-L", "-t", "-G", "-O"})


class _Bad(Exception):
    """Not a question."""


class _Question:
    """Recursive descent over the words of a test."""

    def __init__(self, call: Call, words: list[str]) -> None:
        self.call = call
        self.words = words
        self.patterns = call.argv[0] == "[["

    def either(self) -> bool:
        result = self.both()
        while self.words and self.words[0] in {"-o", "||"}:
            self.words.pop(0)
            result = self.both() or result
        return result

    def both(self) -> bool:
        result = self.primary()
        while self.words and self.words[0] in {"-a", "&&"}:
            self.words.pop(0)
            result = self.primary() and result
        return result

    def primary(self) -> bool:
        words = self.words
        if not words:
            raise _Bad("argument expected")
        if len(words) >= 3 and (words[1] in _NUMBERS or words[1] in _STRINGS):
            first, operator, second = words[:3]
            del words[:3]
            return self._compare(first, operator, second)
        word = words.pop(0)
        if word == "!" and words:
            return not self.primary()
        if word == "(" and words:
            result = self.either()
            if self.words[:1] != [")"]:
                raise _Bad("missing )")
            self.words.pop(0)
            return result
        if word in _UNARY and words:
            return self._ask(word, words.pop(0))
        return word != ""

    def _compare(self, first: str, operator: str, second: str) -> bool:
        if operator in _NUMBERS:
            try:
                return _NUMBERS[operator](int(first or "0"), int(second or "0"))
            except ValueError:
                raise _Bad(f"{first if not first.lstrip('-').isdigit() else second}: bad number") from None
        if self.patterns and operator in {"=", "==", "!="}:
            return fnmatchcase(first, second) == (operator != "!=")
        return _STRINGS[operator](first, second)

    def _ask(self, question: str, value: str) -> bool:
        if question in {"-z", "-n"}:
            return (value == "") == (question == "-z")
        if question == "-t":
            return self.call.session.tty
        files, path = self.call.session.files, self.call.path(value)
        if question in _ACCESS:
            return files.may(path, _ACCESS[question])
        try:
            stat = files.stat(path, follow=question not in {"-h", "-L"})
        except OSError:
            return False
        if question in _KINDS:
            return modes.S_IFMT(stat.mode) == _KINDS[question]
        if question == "-s":
            return stat.size > 0
        return stat.is_link if question in {"-h", "-L"} else True


async def judge(call: Call, words: list[str]) -> int:
    """The status of a question: 0 yes, 1 no, 2 not a question."""
    if not words:
        return 1
    question = _Question(call, words)
    try:
        result = question.either()
        if question.words:
            raise _Bad(f"{question.words[0]}: unexpected operator/operand")
    except _Bad as problem:
        return await call.err(f"{SHELL}: {call.argv[0]}: {problem}", 2)
    return int(not result)


async def test(call: Call) -> int:
    """`test …` and `[ … ]`."""
    words = call.args
    if call.argv[0] == "[":
        if words[-1:] != ["]"]:
            return await call.err(f"{SHELL}: [: missing ]", 2)
        words = words[:-1]
    return await judge(call, words)


FAMILY: dict[str, Command] = {"test": test, "[": test}
