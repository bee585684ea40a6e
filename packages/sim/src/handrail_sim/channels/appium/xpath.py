"""XPath 1.0 over the page source, without namespaces, variables and text nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, isnan, nan

from handrail_sim.screen.accessibility import Node

_WORDS = re.compile(
    r"""\s*(?:
        (?P<text>"[^"]*"|'[^']*')
      | (?P<number>\d+(?:\.\d*)?|\.\d+)
      | (?P<mark>//|::|\.\.|!=|<=|>=|[/@()\[\],.|=<>+*$-])
      | (?P<name>[^\W\d][\w.$-]*(?::(?!:)[^\W\d][\w.-]*)?)
    )""",
    re.VERBOSE,
)
_OPERATORS = frozenset({"and", "or", "div", "mod"})


class BadXPath(Exception):
    """The expression can't be read."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is text, number, mark, name, operator (a name or * between two values) or end."""

    kind: str
    word: str


END = Token("end", "")


def tokens(text: str) -> list[Token]:
    """All words; a name after a value is an operator, as XPath 1.0 tells them apart."""
    matches: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _WORDS.match(text, at)
        if match is None:
            raise BadXPath(f"unexpected {text[at:].strip()[:1]!r} at {at} in {text}")
        kind, word = str(match.lastgroup), match[match.lastgroup or 0]
        if kind == "text":
            word = word[1:-1]
        elif _after_value(matches) and (word in _OPERATORS or word == "*"):
            kind = "operator"
        matches.append(Token(kind, word))
        at = match.end()
    return matches


def _after_value(tokens: list[Token]) -> bool:
    if not tokens:
        return False
    last = tokens[-1]
    if last.kind in {"text", "number", "name"}:
        return True
    return last.kind == "mark" and last.word in {")", "]", ".", "..", "*"}


@dataclass(slots=True, eq=False)
class Element:
    """An element of the source; the document itself has no tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    node: Node | None = None
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    order: int = 0

    def descendants(self) -> Iterator[Element]:
        for child in self.children:
            yield child
            yield from child.descendants()

    def ancestors(self) -> Iterator[Element]:
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def siblings(self, *, after: bool) -> Iterator[Element]:
        """Those after it in order, or those before it, the nearest first."""
        around = self.parent.children if self.parent is not None else [self]
        at = next(number for number, one in enumerate(around) if one is self)
        return iter(around[at + 1 :] if after else around[:at][::-1])


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute as a node."""

    owner: Element
    name: str

    @property
    def value(self) -> str:
        return self.owner.attributes[self.name]

    @property
    def order(self) -> int:
        return self.owner.order


Found = Element | Attribute
Value = list[Found] | str | float | bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression is evaluated."""

    at: Found
    position: int = 1
    size: int = 1


def string(value: Value) -> str:
    """As the function `string`; elements of a source have no text of their own."""
    if isinstance(value, list):
        return "" if not value or isinstance(value[0], Element) else value[0].value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if isnan(value) else str(int(value)) if value == int(value) else str(value)
    return value


def number(value: Value) -> float:
    """As the function `number`."""
    if isinstance(value, float | bool):
        return float(value)
    try:
        return float(string(value).strip())
    except ValueError:
        return nan


def truth(value: Value) -> bool:
    """As the function `boolean`."""
    if isinstance(value, float) and not isinstance(value, bool):
        return value != 0 and not isnan(value)
    return bool(value)


def compare(operator: str, one: Value, other: Value) -> bool:
    """A node-set holds if one of its nodes does."""
    if isinstance(one, list) and not isinstance(other, bool):
        return any(compare(operator, string([each]), other) for each in one)
    if isinstance(other, list) and not isinstance(one, bool):
        return any(compare(operator, one, string([each])) for each in other)
    if operator in {"=", "!="}:
        if isinstance(one, bool) or isinstance(other, bool):
            same = truth(one) is truth(other)
        elif isinstance(one, float) or isinstance(other, float):
            same = number(one) == number(other)
        else:
            same = string(one) == string(other)
        return same is (operator == "=")
    left, right = number(one), number(other)
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[operator]


def arithmetic(operator: str, one: Value, other: Value) -> float:
    """`+ - * div mod` on numbers."""
    left, right = number(one), number(other)
    if operator in {"div", "mod"} and right == 0:
        return nan
    results: dict[str, Callable[[], float]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "div": lambda: left / right,
        "mod": lambda: left - right * int(left / right),
    }
    return results[operator]()


def _substring(text: str, start: float, *length: float) -> str:
    first = round(start) - 1
    last = len(text) if not length else first + round(length[0])
    return text[max(0, first) : max(0, last)]


def _translate(text: str, old: str, new: str) -> str:
    return text.translate({ord(one): new[at : at + 1] or None for at, one in reversed(list(enumerate(old)))})


def _matches(text: str, pattern: str, flags: str = "") -> bool:
    try:
        return re.search(pattern, text, re.IGNORECASE if "i" in flags else 0) is not None
    except re.error as problem:
        raise BadXPath(f"{pattern}: {problem}") from None


TEXTS: dict[str, Callable[..., str | bool | float]] = {
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "ends-with": lambda text, part: text.endswith(part),
    "matches": _matches,
    "concat": lambda *parts: "".join(parts),
    "string-length": lambda text: float(len(text)),
    "normalize-space": lambda text: " ".join(text.split()),
    "substring-before": lambda text, part: text.partition(part)[0] if part in text else "",
    "substring-after": lambda text, part: text.partition(part)[2],
    "translate": _translate,
    "lower-case": str.lower,
    "upper-case": str.upper,
    "string": lambda text: text,
}
"""Functions of texts, those of XPath 2 that people use included: Appium's engine has them."""
NUMBERS: dict[str, Callable[[float], float]] = {
    "floor": lambda value: float(floor(value)),
    "ceiling": lambda value: float(ceil(value)),
    "round": lambda value: float(floor(value + 0.5)),
    "number": lambda value: value,
    "abs": abs,
}


def apply(name: str, arguments: list[Value], place: Place) -> Value:
    try:
        if name in PLAIN:
            return PLAIN[name](arguments, place)
        if name in NUMBERS:
            return NUMBERS[name](number(arguments[0] if arguments else [place.at]))
        if name in TEXTS:
            return TEXTS[name](*(string(one) for one in arguments or [[place.at]]))
    except (TypeError, IndexError, ValueError, OverflowError):
        raise BadXPath(f"wrong arguments of {name}()") from None
    raise BadXPath(f"unknown function {name}()")


def _count(arguments: list[Value], _: Place) -> float:
    if not isinstance(arguments[0], list):
        raise BadXPath("count() needs nodes")
    return float(len(arguments[0]))


def _name(arguments: list[Value], place: Place) -> str:
    nodes = arguments[0] if arguments else [place.at]
    if not isinstance(nodes, list) or not nodes:
        return ""
    return nodes[0].tag if isinstance(nodes[0], Element) else nodes[0].name


PLAIN: dict[str, Callable[[list[Value], Place], Value]] = {
    "last": lambda _, place: float(place.size),
    "position": lambda _, place: float(place.position),
    "true": lambda _given, _place: True,
    "false": lambda _given, _place: False,
    "not": lambda given, _: not truth(given[0]),
    "boolean": lambda given, _: truth(given[0]),
    "count": _count,
    "name": _name,
    "local-name": _name,
    "substring": lambda given, _: _substring(string(given[0]), *(number(one) for one in given[1:])),
}


MOST_DEPTH = 60
Evaluate = Callable[[Place], Value]
Step = Callable[[Found], list[Found]]


def find(expression: str, root: Element) -> list[Element]:
    parser = _Parser(tokens(expression))
    value = parser.whole()(Place(root))
    if not isinstance(value, list):
        raise BadXPath(f"{expression} gives no elements")
    return [element for element in value if isinstance(element, Element) and element.tag]


def _element(at: Found) -> Element:
    return at if isinstance(at, Element) else at.owner


def _following(at: Element) -> Iterable[Element]:
    for element in [at, *at.ancestors()]:
        for sibling in element.siblings(after=True):
            yield sibling
            yield from sibling.descendants()


def _preceding(at: Element) -> Iterable[Element]:
    for element in [at, *at.ancestors()]:
        for sibling in element.siblings(after=False):
            yield from reversed([sibling, *sibling.descendants()])


_AXES: dict[str, Callable[[Element], Iterable[Element]]] = {
    "child": lambda at: at.children,
    "descendant": lambda at: at.descendants(),
    "descendant-or-self": lambda at: [at, *at.descendants()],
    "self": lambda at: [at],
    "parent": lambda at: [] if at.parent is None else [at.parent],
    "ancestor": lambda at: at.ancestors(),
    "ancestor-or-self": lambda at: [at, *at.ancestors()],
    "following-sibling": lambda at: at.siblings(after=True),
    "preceding-sibling": lambda at: at.siblings(after=False),
    "following": _following,
    "preceding": _preceding,
}


def _in_order(match: Iterable[Found]) -> list[Found]:
    once = {(entry.order, entry.name if isinstance(entry, Attribute) else ""): entry for entry in match}
    return [once[key] for key in sorted(once)]


def _filtered(matches: list[Found], tests: list[Evaluate]) -> list[Found]:
    for test in tests:
        saved, size = [], len(matches)
        for position, entry in enumerate(matches, 1):
            value = test(Place(entry, position, size))
            if value == position if isinstance(value, float) else truth(value):
                saved.append(entry)
        matches = saved
    return matches


class _Parser:
    """Recursive descent; every rule gives a function that evaluates it."""

    def __init__(self, words: list[Token]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0

    def whole(self) -> Evaluate:
        made = self._expression()
        if self._peek() is not END:
            raise BadXPath(f"unexpected {self._peek().word!r}")
        return made

    def _peek(self, ahead: int = 0) -> Token:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else END

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _take(self, *words: str) -> str:
        """One of these marks or operators, if it is next."""
        token = self._peek()
        if token.kind in {"mark", "operator"} and token.word in words:
            self._at += 1
            return token.word
        return ""

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise BadXPath(f"expected {word!r}, found {self._peek().word!r}")

    def _expression(self, level: int = 0) -> Evaluate:
        if level == len(_LEVELS):
            return self._unary()
        words, combine = _LEVELS[level]
        left = self._expression(level + 1)
        while word := self._take(*words):
            left = combine(word, left, self._expression(level + 1))
        return left

    def _unary(self) -> Evaluate:
        if self._take("-"):
            inner = self._unary()
            return lambda place: -number(inner(place))
        made = self._path()
        while self._take("|"):
            made = _union(made, self._path())
        return made

    def _path(self) -> Evaluate:
        token, after = self._peek(), self._peek(1)
        if token is END:
            raise BadXPath("the expression ends too early")
        primary = token.kind in {"text", "number"} or (token.kind == "mark" and token.word == "(")
        if primary or (token.kind == "name" and after.word == "(" and token.word not in {"node", "text"}):
            return self._filter()
        if token.kind == "mark" and token.word in {"/", "//"}:
            steps = self._steps(self._next().word == "//")
            return lambda place: _walk([_top(place.at)], steps)
        steps = self._steps(False)
        return lambda place: _walk([place.at], steps)

    def _filter(self) -> Evaluate:
        """A value in parentheses, a call, a literal; then predicates and a way on from there."""
        made, tests = self._primary(), self._predicates()
        slash = self._take("/", "//")
        steps = self._steps(slash == "//") if slash else []
        if not tests and not steps:
            return made

        def evaluate(place: Place) -> Value:
            value = made(place)
            if not isinstance(value, list):
                raise BadXPath("predicates need nodes")
            return _walk(_filtered(value, tests), steps)

        return evaluate

    def _primary(self) -> Evaluate:
        token = self._next()
        if token.kind == "text":
            return lambda _: token.word
        if token.kind == "number":
            return lambda _: float(token.word)
        if token.kind == "mark":
            self._depth += 1
            if self._depth > MOST_DEPTH:
                raise BadXPath("too deep")
            made = self._expression()
            self._depth -= 1
            self._expect(")")
            return made
        return self._call(token.word)

    def _call(self, name: str) -> Evaluate:
        self._expect("(")
        arguments: list[Evaluate] = []
        while not self._take(")"):
            arguments.append(self._expression())
            if self._peek().word != ")":
                self._expect(",")
        return lambda place: apply(name, [left(place) for left in arguments], place)

    def _steps(self, deep: bool) -> list[Step]:
        matches: list[Step] = []
        if self._peek() is END and not deep:
            return matches
        while True:
            if deep:
                matches.append(lambda at: list(_AXES["descendant-or-self"](_element(at))))
            matches.append(self._step())
            slash = self._take("/", "//")
            if not slash:
                return matches
            deep = slash == "//"

    def _step(self) -> Step:
        if self._take(".."):
            return lambda at: list(_AXES["parent"](at)) if isinstance(at, Element) else [at.owner]
        if self._take("."):
            return lambda at: [at]
        if self._take("@"):
            return self._attribute()
        axis = "child"
        if self._peek(1).word == "::":
            axis = self._next().word
            self._next()
            if axis == "attribute":
                return self._attribute()
            if axis not in _AXES:
                raise BadXPath(f"unknown axis {axis}")
        wanted = self._node_test()
        walk, tests = _AXES[axis], self._predicates()

        def step(at: Found) -> list[Found]:
            around: list[Found] = [element for element in walk(_element(at)) if wanted(element)]
            return _filtered(around, tests)

        return step

    def _node_test(self) -> Callable[[Element], bool]:
        token = self._next()
        if token.word == "*":
            return lambda element: bool(element.tag)
        if token.kind != "name":
            raise BadXPath(f"unexpected {token.word!r}")
        if self._take("("):
            self._expect(")")
            return (lambda _: True) if token.word == "node" else (lambda _: False)
        return lambda element: element.tag == token.word

    def _attribute(self) -> Step:
        token, tests = self._next(), self._predicates()
        if token.kind != "name" and token.word != "*":
            raise BadXPath(f"unexpected {token.word!r}")

        def step(at: Found) -> list[Found]:
            owner = _element(at)
            names = owner.attributes if token.word == "*" else [token.word]
            return _filtered([Attribute(owner, name) for name in names if name in owner.attributes], tests)

        return step

    def _predicates(self) -> list[Evaluate]:
        matches: list[Evaluate] = []
        while self._take("["):
            self._depth += 1
            if self._depth > MOST_DEPTH:
                raise BadXPath("too deep")
            matches.append(self._expression())
            self._depth -= 1
            self._expect("]")
        return matches


def _top(at: Found) -> Element:
    element = _element(at)
    return next((above for above in element.ancestors() if above.parent is None), element)


def _walk(start: list[Found], steps: list[Step]) -> list[Found]:
    matches = start
    for step in steps:
        matches = _in_order(each for entry in matches for each in step(entry))
    return matches


def _union(entry: Evaluate, other: Evaluate) -> Evaluate:
    def evaluate(place: Place) -> Value:
        left, right = entry(place), other(place)
        if not isinstance(left, list) or not isinstance(right, list):
            raise BadXPath("| needs nodes")
        return _in_order([*left, *right])

    return evaluate


def _either(_: str, left: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: truth(left(place)) or truth(other(place))


def _both(_: str, left: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: truth(left(place)) and truth(other(place))


def _compared(word: str, left: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: compare(word, left(place), other(place))


def _computed(word: str, left: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: arithmetic(word, left(place), other(place))


_LEVELS: list[tuple[tuple[str, ...], Callable[[str, Evaluate, Evaluate], Evaluate]]] = [
    (("or",), _either),
    (("and",), _both),
    (("=", "!="), _compared),
    (("<", ">", "<=", ">="), _compared),
    (("+", "-"), _computed),
    (("*", "div", "mod"), _computed),
]
