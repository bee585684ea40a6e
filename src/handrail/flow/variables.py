"""Variables in texts: `${NAME}`, `${NAME:-default}`, `$${` for a literal `${`. No expressions, nothing runs.

`${secret:NAME}` is left as it stands: the engine fills it at dispatch, and nobody else ever sees the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.nodes import FieldEntry, Fields, Items, Node, Scalar, read_plain
from handrail.flow.problems import Problem
from handrail.protocol.read import nearest

_REFERENCE = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = "secret:"  # noqa: S105  (a prefix)
_LITERAL = "$${"
_LATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
INTO = "into"
"""The field that names a variable which is filled while the flow runs."""


@dataclass(frozen=True, slots=True)
class VariableReference:
    """One `${…}` of a text."""

    name: str
    default: str | None = None


Unknown = Callable[[Scalar, InvalidAction], None]
"""Told of a text with a variable that has no value."""


def references(text: str) -> list[VariableReference]:
    """The variables of a text, secrets not among them; `InvalidAction` where one is malformed."""
    inside = [found[1] for found in _REFERENCE.finditer(text) if found[0] != _LITERAL]
    return [_read(one) for one in inside if not one.startswith(_SECRET)]


def fill(value: Any, env: Mapping[str, str]) -> Any:
    """The same data with every variable replaced in its texts; keys stay as they are."""
    if isinstance(value, str):
        return fill_text(value, env)
    if isinstance(value, Mapping):
        return {key: fill(one, env) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [fill(one, env) for one in value]
    return value


def fill_text(text: str, env: Mapping[str, str]) -> str:
    """One text; a value that is filled in is not looked into again."""
    if f"{_LITERAL}{_SECRET}" in text:
        raise InvalidAction(
            "${secret:…} can't be meant literally: the engine would fill it",
            path="",
            hint="Write the text without the brace, or use the secret with one $.",
        )
    references(text)  # a malformed one is told before one that only lacks its value
    return _REFERENCE.sub(lambda found: _value(found, env), text)


def fill_node(node: Node, env: Mapping[str, str], unknown: Unknown) -> Node:
    """The same tree with its texts filled; a text with an unknown variable is reported and stays."""
    if isinstance(node, Items):
        return replace(node, items=tuple(fill_node(one, env, unknown) for one in node.items))
    if isinstance(node, Fields):
        filled = {
            key: FieldEntry(entry.key, fill_node(entry.value, env, unknown))
            for key, entry in node.entries.items()
        }
        return replace(node, entries=filled)
    if not isinstance(node.value, str) or "${" not in node.value:
        return node
    try:
        text = fill_text(node.value, env)
        whole = _REFERENCE.fullmatch(node.value)
        if not whole or whole[1] is None or whole[1].startswith(_SECRET):
            return replace(node, value=text)
        return replace(node, value=read_scalar(text) if node.plain else text, text=text, whole=True)
    except InvalidAction as error:
        unknown(node, error)
        return replace(node, unknown=(str(error.details.get("variable", "")),))


def late_names(node: Node | None) -> set[str]:
    """The variables that steps fill while the flow runs: `into` of whatever reads a text."""
    if isinstance(node, Items):
        return set().union(*(late_names(one) for one in node.items))
    if not isinstance(node, Fields):
        return set()
    into = node.get(INTO)
    own = {into.text} if isinstance(into, Scalar) and NAME.fullmatch(into.text) else set()
    return own.union(*(late_names(entry.value) for entry in node.entries.values()))


def fill_late(value: Any, known: Mapping[str, str], wanted: Collection[str]) -> Any:
    """The same data with the values that were read so far. Raises `InvalidAction` for one that was not."""
    if isinstance(value, Mapping):
        return {key: fill_late(one, known, wanted) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [fill_late(one, known, wanted) for one in value]
    return _LATE.sub(lambda found: _late(found, known, wanted), value) if isinstance(value, str) else value


def _late(found: re.Match[str], known: Mapping[str, str], wanted: Collection[str]) -> str:
    name = found[1]
    if name not in wanted:
        return found[0]
    value = known.get(name)
    if value is None:
        raise InvalidAction(
            f"the variable {name} has no value yet",
            path="",
            hint="Read it by an earlier step.",
            variable=name,
        )
    if f"${{{_SECRET}" in value:
        raise InvalidAction(
            f"what was read into {name} names a secret", path="", hint="Write ${secret:…} in the file itself."
        )
    return value


def as_texts(node: Node) -> Node:
    """A variable's value is a text, also where it was written as a number: `PORT: 8080`."""
    if not isinstance(node, Fields):
        return node
    return replace(
        node, entries={key: FieldEntry(one.key, as_text(one.value)) for key, one in node.entries.items()}
    )


def name_problems(env: Node, path: str) -> list[Problem]:
    """Names that no variable can have."""
    hint = "Letters, digits and _, not a digit first."
    keys = [one.key for one in env.entries.values()] if isinstance(env, Fields) else []
    wrong = [key for key in keys if not NAME.fullmatch(key.text)]
    return [
        Problem(f"{path}.{key.text[:60]}", "is not a name of a variable", key.start, hint) for key in wrong
    ]


def as_text(node: Node) -> Node:
    """The scalar as it was written, or as its variable was."""
    written = isinstance(node, Scalar) and isinstance(node.value, bool | int | float)
    return replace(node, value=node.text) if written and isinstance(node, Scalar) else node


def read_scalar(text: str) -> Any:
    """What a variable's text would be if it stood there without quotes; nothing is still a text."""
    value = read_plain(text)
    return text if value is None else value


def _value(found: re.Match[str], env: Mapping[str, str]) -> str:
    if found[0] == _LITERAL:
        return "${"
    if found[1].startswith(_SECRET):
        return found[0]
    reference = _read(found[1])
    value = env.get(reference.name, reference.default)
    if value is None:
        raise _no_value(reference.name, env)
    return value


def _read(inside: str) -> VariableReference:
    name, separator, default = inside.partition(":-")
    if not NAME.fullmatch(name):
        raise InvalidAction(
            f"${{{inside[:60]}}} is not a variable",
            path="",
            hint="Write ${NAME} or ${NAME:-default}; $${ is a literal ${.",
        )
    return VariableReference(name, default if separator else None)


def _no_value(name: str, env: Mapping[str, str]) -> InvalidAction:
    close = nearest(name, env)
    meant = f"Did you mean ${{{close[0]}}}? " if close else ""
    return InvalidAction(
        f"the variable {name} has no value",
        path="",
        hint=f"{meant}Give it in the file's env, with --env {name}=…, or write ${{{name}:-default}}.",
        variable=name,
    )
