"""Small sums in a template: `price * count`, `max_by(products, 'cents').name`.

Templates come from anybody, so nothing of Python that could reach outside is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from handrail.errors import InvalidAction
from handrail.protocol.schema import SYNTAX_LOCK

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
}


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """Raises `InvalidAction` for what is no such sum."""
    try:
        with SYNTAX_LOCK:
            expression = ast.parse(text, mode="eval").body
        return _of(expression, values)
    except InvalidAction:
        raise
    except Exception as error:
        raise _bad(f"{text!r}: {error}") from None


def _of(node: ast.AST, values: Mapping[str, Any]) -> Any:  # noqa: C901, PLR0911, PLR0912 - one line a form
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name not in values:
                raise _bad(f"{name!r} is not a value")
            return values[name]
        case ast.Attribute(value=inner, attr=name):
            return _of(inner, values)[name]
        case ast.Subscript(value=inner, slice=ast.Slice(lower=low, upper=high)):
            ends = [None if one is None else _of(one, values) for one in (low, high)]
            return _of(inner, values)[slice(*ends)]
        case ast.Subscript(value=inner, slice=at):
            return _of(inner, values)[_of(at, values)]
        case ast.BinOp(left=left, op=op, right=right):
            return _applied(op, _of(left, values), _of(right, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _applied(op, _of(left, values), _of(right, values))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_of(inner, values)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _of(inner, values)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _of(body if _of(test, values) else other, values)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_of(one, values) for one in parts]
        case ast.Dict(keys=keys, values=parts):
            pairs = zip(keys, parts, strict=True)
            return {_of(key, values): _of(one, values) for key, one in pairs if key is not None}
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_of(one, values) for one in given))
        case _:
            raise _bad(f"{ast.unparse(node)!r} can't be used here")


def _applied(op: ast.AST, left: Any, right: Any) -> Any:
    if type(op) not in _BINARY:
        raise _bad(f"{type(op).__name__} can't be used here")
    if isinstance(op, ast.Mult) and not all(isinstance(one, int | float) for one in (left, right)):
        raise _bad("only numbers are multiplied")  # a text times a million is no value
    return _BINARY[type(op)](left, right)


def _bad(why: str) -> InvalidAction:
    hint = f"Numbers, texts, values, + - * / // %, comparisons, a if b else c, and {', '.join(FUNCTIONS)}."
    return InvalidAction(f"expr: {why}", path="expr", hint=hint)


def _minutes(time: str) -> int:
    hour, minute = time.split(":")
    return int(hour) * 60 + int(minute)


def later(time: str, minutes: int) -> str:
    """`07:50` and 25 are `08:15`."""
    total = (_minutes(time) + minutes) % (24 * 60)
    return f"{total // 60:02d}:{total % 60:02d}"


def clock12(time: str) -> str:
    """`14:05` is `2:05 PM`, as the simulated clock writes it."""
    hour, minute = divmod(_minutes(time), 60)
    return f"{hour % 12 or 12}:{minute:02d} {'AM' if hour < 12 else 'PM'}"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "min": min,
    "max": max,
    "sum": sum,
    "sorted": sorted,
    "round": round,
    "abs": abs,
    "int": int,
    "str": str,
    "join": lambda many, between=", ": between.join(map(str, many)),
    "replace": lambda text, old, new: str(text).replace(old, new),
    "lower": lambda text: str(text).lower(),
    "upper": lambda text: str(text).upper(),
    "pick": lambda many, key: [one[key] for one in many],
    "where": lambda many, key, value: [one for one in many if one[key] == value],
    "less": lambda many, gone: [
        one for one in many if one not in (gone if isinstance(gone, list) else [gone])
    ],
    "merge": lambda *parts: {key: one for part in parts for key, one in part.items()},
    "max_by": lambda many, key: max(many, key=lambda one: one[key]),
    "min_by": lambda many, key: min(many, key=lambda one: one[key]),
    "sort_by": lambda many, key: sorted(many, key=lambda one: one[key]),
    "decimal": lambda cents: f"{cents // 100}.{cents % 100:02d}",
    "euros": lambda cents: f"€{cents // 100}.{cents % 100:02d}",
    "pounds": lambda cents: f"£{cents // 100:,}.{cents % 100:02d}",
    "later": later,
    "minutes": _minutes,
    "clock12": clock12,
    "hour": lambda time: _minutes(time) // 60,
    "minute": lambda time: _minutes(time) % 60,
    "days_after": lambda day, count: str(date.fromisoformat(day) + timedelta(days=count)),
    "weekday": lambda day: f"{date.fromisoformat(day):%A}",
    "day_words": lambda day: f"{date.fromisoformat(day).day} {date.fromisoformat(day):%B}",
}
