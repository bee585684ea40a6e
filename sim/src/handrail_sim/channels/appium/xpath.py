"""XPath 1.0 over the page source, without namespaces, variables and text nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from handrail_sim.channels.appium.xpath_tokens import END, BadXPath, Token, tokens
from handrail_sim.channels.appium.xpath_values import (
    Attribute,
    Element,
    Found,
    Place,
    Value,
    apply,
    arithmetic,
    compare,
    number,
    truth,
)

MOST_DEPTH = 60
Evaluate = Callable[[Place], Value]
Step = Callable[[Found], list[Found]]


def find(expression: str, root: Element) -> list[Element]:
    """The elements that an expression means, in the order of the document."""
    parser = _Parser(tokens(expression))
    value = parser.whole()(Place(root))
    if not isinstance(value, list):
        raise BadXPath(f"{expression} gives no elements")
    return [one for one in value if isinstance(one, Element) and one.tag]


def _element(at: Found) -> Element:
    return at if isinstance(at, Element) else at.owner


def _following(at: Element) -> Iterable[Element]:
    for one in [at, *at.ancestors()]:
        for sibling in one.siblings(after=True):
            yield sibling
            yield from sibling.descendants()


def _preceding(at: Element) -> Iterable[Element]:
    for one in [at, *at.ancestors()]:
        for sibling in one.siblings(after=False):
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


def _in_order(found: Iterable[Found]) -> list[Found]:
    """Each once, in the order of the document."""
    once = {(one.order, one.name if isinstance(one, Attribute) else ""): one for one in found}
    return [once[key] for key in sorted(once)]


def _filtered(found: list[Found], tests: list[Evaluate]) -> list[Found]:
    for test in tests:
        kept, size = [], len(found)
        for position, one in enumerate(found, 1):
            value = test(Place(one, position, size))
            if value == position if isinstance(value, float) else truth(value):
                kept.append(one)
        found = kept
    return found


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
        """Binary operators, the loosest first."""
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
        given: list[Evaluate] = []
        while not self._take(")"):
            given.append(self._expression())
            if self._peek().word != ")":
                self._expect(",")
        return lambda place: apply(name, [one(place) for one in given], place)

    def _steps(self, deep: bool) -> list[Step]:
        """The steps of a path, each from one node to many."""
        found: list[Step] = []
        if self._peek() is END and not deep:
            return found
        while True:
            if deep:
                found.append(lambda at: list(_AXES["descendant-or-self"](_element(at))))
            found.append(self._step())
            slash = self._take("/", "//")
            if not slash:
                return found
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
            around: list[Found] = [one for one in walk(_element(at)) if wanted(one)]
            return _filtered(around, tests)

        return step

    def _node_test(self) -> Callable[[Element], bool]:
        token = self._next()
        if token.word == "*":
            return lambda one: bool(one.tag)
        if token.kind != "name":
            raise BadXPath(f"unexpected {token.word!r}")
        if self._take("("):
            self._expect(")")
            return (lambda _: True) if token.word == "node" else (lambda _: False)
        return lambda one: one.tag == token.word

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
        found: list[Evaluate] = []
        while self._take("["):
            self._depth += 1
            if self._depth > MOST_DEPTH:
                raise BadXPath("too deep")
            found.append(self._expression())
            self._depth -= 1
            self._expect("]")
        return found


def _top(at: Found) -> Element:
    one = _element(at)
    return next((above for above in one.ancestors() if above.parent is None), one)


def _walk(start: list[Found], steps: list[Step]) -> list[Found]:
    found = start
    for step in steps:
        found = _in_order(each for one in found for each in step(one))
    return found


def _union(one: Evaluate, other: Evaluate) -> Evaluate:
    def evaluate(place: Place) -> Value:
        left, right = one(place), other(place)
        if not isinstance(left, list) or not isinstance(right, list):
            raise BadXPath("| needs nodes")
        return _in_order([*left, *right])

    return evaluate


def _either(_: str, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: truth(one(place)) or truth(other(place))


def _both(_: str, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: truth(one(place)) and truth(other(place))


def _compared(word: str, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: compare(word, one(place), other(place))


def _computed(word: str, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda place: arithmetic(word, one(place), other(place))


_LEVELS: list[tuple[tuple[str, ...], Callable[[str, Evaluate, Evaluate], Evaluate]]] = [
    (("or",), _either),
    (("and",), _both),
    (("=", "!="), _compared),
    (("<", ">", "<=", ">="), _compared),
    (("+", "-"), _computed),
    (("*", "div", "mod"), _computed),
]
