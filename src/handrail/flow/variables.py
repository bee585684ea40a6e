"""Variables in texts: `${NAME}`, `${NAME:-default}`, `$${` for a literal `${`. No expressions, nothing runs.

`${secret:NAME}` is left as it stands: the engine fills it at dispatch, and nobody else ever sees the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.parse import FieldEntry, Fields, Items, Node, Problem, Scalar, read_plain
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
    names = [match[1] for match in _REFERENCE.finditer(text) if match[0] != _LITERAL]
    return [_parse_reference(name) for name in names if not name.startswith(_SECRET)]


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same data with every text in it changed; keys stay as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: map_texts(part, change) for key, part in value.items()}
    return [map_texts(part, change) for part in value] if isinstance(value, list | tuple) else value


def fill_text(text: str, env: Mapping[str, str]) -> str:
    """One text; a value that is filled in is not looked into again."""
    if f"{_LITERAL}{_SECRET}" in text:
        raise InvalidAction(
            "${secret:…} can't be meant literally: the engine would fill it",
            path="",
            hint="Write the text without the brace, or use the secret with one $.",
        )
    references(text)  # a malformed one is told before one that only lacks its value
    return _REFERENCE.sub(lambda match: _value_of_reference(match, env), text)


def fill_node(node: Node, env: Mapping[str, str], unknown: Unknown) -> Node:
    """The same tree with its texts filled; a text with an unknown variable is reported and stays."""
    if isinstance(node, Items):
        return replace(node, items=tuple(fill_node(child, env, unknown) for child in node.items))
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
        match = _REFERENCE.fullmatch(node.value)
        if not match or match[1] is None or match[1].startswith(_SECRET):
            return replace(node, value=text)
        return replace(node, value=read_scalar(text) if node.plain else text, text=text, is_variable=True)
    except InvalidAction as error:
        unknown(node, error)
        return replace(node, unknown=(str(error.details.get("variable", "")),))


def late_names(node: Node | None) -> set[str]:
    """The variables that steps fill while the flow runs: `into` of whatever reads a text."""
    if isinstance(node, Items):
        return set().union(*(late_names(child) for child in node.items))
    if not isinstance(node, Fields):
        return set()
    into = node.get(INTO)
    own = {into.text} if isinstance(into, Scalar) and NAME.fullmatch(into.text) else set()
    return own.union(*(late_names(entry.value) for entry in node.entries.values()))


def fill_late(value: Any, values: Mapping[str, str], wanted: Collection[str]) -> Any:
    """The same data with the values that were read so far. Raises `InvalidAction` for one that was not."""
    return map_texts(value, lambda text: _LATE.sub(lambda match: _late_value(match, values, wanted), text))


def _late_value(match: re.Match[str], values: Mapping[str, str], wanted: Collection[str]) -> str:
    name = match[1]
    if name not in wanted:
        return match[0]
    value = values.get(name)
    if value is None:
        hint = "Read it by an earlier step."
        raise InvalidAction(f"the variable {name} has no value yet", path="", hint=hint, variable=name)
    if f"${{{_SECRET}" in value:
        raise InvalidAction(
            f"what was read into {name} names a secret", path="", hint="Write ${secret:…} in the file itself."
        )
    return value


def as_texts(node: Node) -> Node:
    """A variable's value is a text, also where it was written as a number: `PORT: 8080`."""
    if not isinstance(node, Fields):
        return node
    entries = {key: FieldEntry(entry.key, as_text(entry.value)) for key, entry in node.entries.items()}
    return replace(node, entries=entries)


def name_problems(env: Node, path: str) -> list[Problem]:
    """Names that no variable can have."""
    hint = "Letters, digits and _, not a digit first."
    keys = [entry.key for entry in env.entries.values()] if isinstance(env, Fields) else []
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


def _value_of_reference(match: re.Match[str], env: Mapping[str, str]) -> str:
    if match[0] == _LITERAL:
        return "${"
    if match[1].startswith(_SECRET):
        return match[0]
    reference = _parse_reference(match[1])
    name = reference.name
    value = env.get(name, reference.default)
    if value is None:
        close = nearest(name, env)
        guess = f"Did you mean ${{{close[0]}}}? " if close else ""
        hint = f"{guess}Give it in the file's env, with --env {name}=…, or write ${{{name}:-default}}."
        raise InvalidAction(f"the variable {name} has no value", path="", hint=hint, variable=name)
    return value


def _parse_reference(inside: str) -> VariableReference:
    name, separator, default = inside.partition(":-")
    if not NAME.fullmatch(name):
        hint = "Write ${NAME} or ${NAME:-default}; $${ is a literal ${."
        raise InvalidAction(f"${{{inside[:60]}}} is not a variable", path="", hint=hint)
    return VariableReference(name, default if separator else None)
