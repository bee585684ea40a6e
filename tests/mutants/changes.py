"""Every small fault that a file could have, as one change of its syntax tree.

Kinds: comparison (`==` to `!=`), boundary (`<` to `<=`), negation of a condition, logic (`and` to `or`),
constant, removed statement, removed await, swapped argument.
"""

from __future__ import annotations

import ast
import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.mutants.skipped import FIELDS, is_skipped, mark_raised, name_of

KINDS = (
    "comparison", "boundary", "negation", "logic", "constant", "removed statement", "removed await",
    "swapped argument",
)  # fmt: skip
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SHIFTED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
UNORDERED = frozenset(
    {"min", "max", "gather", "wait", "isinstance", "issubclass", "getattr", "hasattr", "cast"}
)
"""Calls whose arguments mean the same in any order, or nothing at all in another one."""
LARGE = 10
"""Numbers above it are doubled, others grow by one: no test could see one millisecond more."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = tuple[str, ast.AST]


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One fault: in `owner`, `new` stands where `field` (at `index`) was."""

    path: Path
    kind: str
    line: int
    lines: frozenset[int]
    """A test that runs none of them can't notice."""
    function: tuple[str, int] | None
    """The outermost function around it, by qualified name and first line; None where importing runs it."""
    before: str
    after: str
    tree: ast.Module
    owner: ast.AST
    field: str
    index: int | None
    new: ast.AST

    def plant(self) -> ast.Module:
        """The file's tree with the fault, for good: only a process that ends afterwards may call this."""
        if self.index is None:
            setattr(self.owner, self.field, self.new)
        else:
            getattr(self.owner, self.field)[self.index] = self.new
        return ast.fix_missing_locations(self.tree)


def changes_in(path: Path) -> list[Change]:
    """All of them, in the order of the file."""
    source = path.read_bytes()
    tree = ast.parse(source)
    mark_raised(tree)
    return list(_Finder(path, tree, source).walk(tree, (), None, tree))


def draw(changes: Sequence[Change], count: int, seed: str) -> list[Change]:
    """So many, from every kind in turn, so that the rare ones are among them."""
    chance = random.Random(seed)
    piles = [[one for one in changes if one.kind == kind] for kind in KINDS]
    for pile in piles:
        chance.shuffle(pile)
    drawn: list[Change] = []
    while len(drawn) < count and any(piles):
        drawn += [pile.pop() for pile in piles if pile]
    places = {id(one): at for at, one in enumerate(changes)}
    return sorted(drawn, key=lambda one: places[id(one)])


class _Finder:
    """Walks one file."""

    def __init__(self, path: Path, tree: ast.Module, source: bytes) -> None:
        self._path, self._tree = path, tree
        self._text = source.splitlines()

    def walk(
        self, node: ast.AST, names: tuple[str, ...], function: Function | None, statement: ast.AST
    ) -> Iterator[Change]:
        """`names` lead to the function, or to the class whose body this is."""
        for field, value in ast.iter_fields(node):
            if field in FIELDS:
                continue
            inner, path = function, names
            if field == "body" and function is None and isinstance(node, Function | ast.ClassDef):
                path = (*names, node.name)
                inner = node if isinstance(node, Function) else None
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or is_skipped(child, node):
                    continue
                if index == 0 and field == "args" and name_of(node) == "cast":
                    continue
                at = child if isinstance(child, ast.stmt) else statement
                for kind, new in _faults(child, field, inner):
                    yield self._change(kind, child, new, (node, field, index), at, path, inner)
                yield from self.walk(child, path, inner, at)

    def _change(
        self,
        kind: str,
        old: ast.AST,
        new: ast.AST,
        place: tuple[ast.AST, str, int | None],
        statement: ast.AST,
        names: tuple[str, ...],
        function: Function | None,
    ) -> Change:
        whole = old if hasattr(old, "lineno") else place[0]
        first, last = whole.lineno, whole.end_lineno  # type: ignore[attr-defined]
        lines = {*range(first, last + 1), getattr(statement, "lineno", first)}
        owner = None
        if function is not None:
            owner = (
                ".".join(names),
                min([function.lineno, *(one.lineno for one in function.decorator_list)]),
            )
        before = b" ".join(line.strip() for line in self._text[first - 1 : last]).decode()
        after = self._spliced(whole, ast.unparse(new))
        return Change(
            self._path, kind, first, frozenset(lines), owner, before, after, self._tree, *place,
            ast.copy_location(new, old),
        )  # fmt: skip

    def _spliced(self, old: ast.AST, new: str) -> str:
        """The source's line with the change in it, for people."""
        head = self._text[old.lineno - 1][: old.col_offset]  # type: ignore[attr-defined]
        tail = self._text[old.end_lineno - 1][old.end_col_offset :]  # type: ignore[attr-defined]
        return (head.decode() + new + tail.decode()).strip()


def _faults(node: ast.AST, field: str, function: Function | None) -> Iterator[Found]:
    """What could stand here instead."""
    if isinstance(node, ast.expr) and (field in ("test", "guard", "ifs") or isinstance(node, ast.UnaryOp)):
        yield from _negated(node)
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp(op=op, values=values):
            yield "logic", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.Constant(value=value):
            if (new := _other(value)) is not None:
                yield "constant", ast.Constant(new)
        case ast.Await(value=value):
            yield "removed await", copy.copy(value)
        case ast.Call():
            yield from _swapped(node)
        case ast.stmt() if function is not None and _is_removable(node, function):
            yield "removed statement", ast.Pass()


def _negated(node: ast.expr) -> Iterator[Found]:
    """A comparison and a constant have kinds of their own."""
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            yield "negation", copy.copy(node.operand)
    elif not isinstance(node, ast.Constant) and not (isinstance(node, ast.Compare) and len(node.ops) == 1):
        yield "negation", ast.UnaryOp(ast.Not(), node)


def _compared(node: ast.Compare) -> Iterator[Found]:
    for kind, table in (("comparison", OPPOSITE), ("boundary", SHIFTED)):
        for at, op in enumerate(node.ops):
            if type(op) in table:
                ops = [*node.ops[:at], table[type(op)](), *node.ops[at + 1 :]]
                yield kind, ast.Compare(node.left, ops, node.comparators)


def _other(value: object) -> bool | float | str | bytes | None:
    """Another value of the same type; None for what has no plain one."""
    match value:
        case bool():
            return not value
        case int():
            return value * 2 if value > LARGE else value + 1
        case float():
            return value * 2 if value else 1.0
        case str():
            return f"{value}~"
        case bytes():
            return value + b"~"
    return None


def _swapped(call: ast.Call) -> Iterator[Found]:
    """Two neighbours among the arguments, or the values of two keywords that are no constants."""
    if name_of(call) in UNORDERED:
        return
    for at, (one, other) in enumerate(pairwise(call.args)):
        is_plain = not any(isinstance(arg, ast.Starred) or is_skipped(arg, call) for arg in (one, other))
        if is_plain and _differ(one, other):
            args = [*call.args[:at], other, one, *call.args[at + 2 :]]
            yield "swapped argument", ast.Call(call.func, args, call.keywords)
    words = call.keywords
    for at, (left, right) in enumerate(pairwise(words)):
        named = all(word.arg and isinstance(word.value, ast.Name | ast.Attribute) for word in (left, right))
        if named and _differ(left.value, right.value):
            pair = [ast.keyword(left.arg, right.value), ast.keyword(right.arg, left.value)]
            yield "swapped argument", ast.Call(call.func, call.args, [*words[:at], *pair, *words[at + 2 :]])


def _differ(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) != ast.dump(other)


def _is_removable(node: ast.stmt, function: Function) -> bool:
    """A first assignment to a name is not: every read of it would fail, whatever the tests are."""
    match node:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            return False
        case ast.Return(value=None | ast.Constant(value=None)) if node is function.body[-1]:
            return False  # the end of a function does the same
        case ast.Assign(value=value) if is_skipped(value, node):
            return False
        case (
            ast.Expr()
            | ast.Raise()
            | ast.Return()
            | ast.Continue()
            | ast.Break()
            | ast.Delete()
            | ast.AugAssign()
        ):
            return True
        case ast.Assign(targets=targets):
            return all(
                not isinstance(one, ast.Name | ast.Tuple) or _is_bound_again(one, function) for one in targets
            )
    return False


def _is_bound_again(target: ast.expr, function: Function) -> bool:
    bound = Counter(
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )
    bound.update(one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
    names = [one for one in ast.walk(target) if isinstance(one, ast.Name)]
    return all(not isinstance(one.ctx, ast.Store) or bound[one.id] > 1 for one in names)
