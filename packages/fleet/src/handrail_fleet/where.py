"""Which phones are meant: `sdk >= 33 and not simulated`, over labels. Reads text, and runs nothing of it.

expression = term { "or" term }      term = factor { "and" factor }
factor = "not" factor | "(" expression ")" | NAME [ operator VALUE ]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from handrail.errors import InvalidAction
from handrail.protocol.read import nearest

Label = bool | int | str | Sequence[str]
Labels = Mapping[str, Label]
MOST = 500
"""Characters of one expression: also bounds how deep it can nest."""
_TOKEN = re.compile(
    r"\s*(?:(?P<op>==|!=|<=|>=|=|<|>)|(?P<mark>[()])|\"(?P<quoted>[^\"]*)\"|(?P<word>[\w.:@-]+))"
)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_WORDS = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Where:
    """An expression that was read. `names` are the labels that it asks about, with their places."""

    text: str
    matches: Callable[[Labels], bool]
    names: tuple[tuple[str, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Where:
        """Raises `InvalidAction` that says where. An empty text means every phone."""
        if len(text) > MOST:
            raise InvalidAction(f"--where has more than {MOST} characters", path="where", hint="Say less.")
        if not text.strip():
            return cls(text, lambda _: True)
        reader = _WhereReader(text)
        return cls(text, reader.whole(), tuple(reader.names))

    def check_names(self, phones: Iterable[Labels]) -> None:
        """A label that no phone has is a slip of the pen. Raises `InvalidAction` with what was meant."""
        known = {name for one in phones for name in one} | {tag for phone in phones for tag in _tags(phone)}
        for name, at in self.names:
            if known and name not in known:
                close = nearest(name, sorted(known))
                meant = f"Did you mean {' or '.join(close)}?" if close else f"There are {_list(known)}."
                _fail(self.text, at, f"no phone has a label {name!r}", meant)


class _WhereReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self.names: list[tuple[str, int]] = []

    def whole(self) -> Callable[[Labels], bool]:
        made = self._either()
        if (left := self._peek()) is not None:
            _fail(self._text, left.at, f"{left.text!r} is one too many", "Join parts with and, or.")
        return made

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _takes(self, word: str) -> bool:
        found = self._peek()
        if found is None or found.kind == "quoted" or found.text != word:
            return False
        self._next += 1
        return True

    def _either(self) -> Callable[[Labels], bool]:
        parts = [self._all()]
        while self._takes("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda labels: any(part(labels) for part in parts)

    def _all(self) -> Callable[[Labels], bool]:
        parts = [self._factor()]
        while self._takes("and"):
            parts.append(self._factor())
        return parts[0] if len(parts) == 1 else lambda labels: all(part(labels) for part in parts)

    def _factor(self) -> Callable[[Labels], bool]:
        if self._takes("not"):
            inner = self._factor()
            return lambda labels: not inner(labels)
        if self._takes("("):
            inside = self._either()
            if not self._takes(")"):
                at = found.at if (found := self._peek()) else len(self._text)
                _fail(self._text, at, "a ) is missing", "Close what ( opened.")
            return inside
        return self._comparison()

    def _comparison(self) -> Callable[[Labels], bool]:
        found = self._peek()
        if found is None or found.kind != "word" or not _NAME.fullmatch(found.text) or found.text in _WORDS:
            at, what = (found.at, repr(found.text)) if found else (len(self._text), "the end")
            _fail(self._text, at, f"a label is expected, not {what}", "For example sdk >= 33.")
        self._next += 1
        name = found.text
        self.names.append((name, found.at))
        operator = self._peek()
        if operator is None or operator.kind != "op":
            return lambda labels: _is_set(labels, name)
        self._next += 1
        value = self._peek()
        if value is None or value.kind not in ("word", "quoted") or value.text in _WORDS:
            at = value.at if value else len(self._text)
            _fail(self._text, at, f"{operator.text} needs a value", 'For example model = "Pixel 7".')
        self._next += 1
        return _compared(name, operator.text, value.text)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            hint = 'There are labels, = != < <= > >=, and, or, not, ( ) and "texts".'
            _fail(text, at, f"{text[at]!r} means nothing here", hint)
        kind = match.lastgroup
        found.append(_Token(kind, match[kind], match.start(kind) - (kind == "quoted")))
        at = match.end()
    return found


def _is_set(labels: Labels, name: str) -> bool:
    """A tag, or a label that is neither missing, false nor empty."""
    return bool(labels.get(name)) or name in _tags(labels)


def _tags(labels: Labels) -> Sequence[str]:
    tags = labels.get("tags", ())
    return tags if isinstance(tags, list | tuple) else ()


_ORDERS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _compared(name: str, operator: str, value: str) -> Callable[[Labels], bool]:
    if operator in _ORDERS:
        wanted = _version(value)
        order = _ORDERS[operator]

        def ordered(labels: Labels) -> bool:
            """What is no number is on no side of one."""
            has = _version(str(labels.get(name, "")))
            return has is not None and wanted is not None and order(has, wanted)

        return ordered
    return lambda labels: _equal(labels.get(name), value) == (operator != "!=")


def _equal(has: Label | None, value: str) -> bool:
    if isinstance(has, list | tuple):
        return value in has
    if isinstance(has, bool):
        return value.lower() == ("true" if has else "false")
    return has is not None and str(has).casefold() == value.casefold()


def _version(text: str) -> tuple[int, ...] | None:
    """`14`, `7.1.2`: parts are compared as numbers."""
    parts = text.split(".")
    numbers = tuple(int(part) for part in parts if part.isdecimal() and len(part) < 10)
    return numbers if len(numbers) == len(parts) else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _fail(text: str, at: int, what: str, hint: str) -> NoReturn:
    shown = f"{text}\n{' ' * at}^"
    raise InvalidAction(f"--where, place {at + 1}: {what}\n{shown}", path="where", hint=hint, place=at + 1)
