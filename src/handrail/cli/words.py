"""From the words and options of a command line to an action's fields.

Knows the index only. A wrong word goes on as it is: the vocabulary is the one place that says what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.cli.index import SHARED, ActionCommand, Field
from handrail.errors import InvalidAction

_OBJECTS = ("target", "condition", "selector", "point")
"""Kinds that a JSON object can say more exactly than a word."""


def fields_of(
    command: ActionCommand,
    words: Sequence[str],
    options: Mapping[str, Any],
    selector: Mapping[str, Any],
) -> dict[str, Any]:
    """`options` and `selector` hold what was given, by field name."""
    kinds = {one.name: one for one in (*command.fields, *SHARED)}
    given: dict[str, Any] = {**_placed(command, words, bool(selector)), **options}
    fields = {name: _value(value, kinds[name]) for name, value in given.items()}
    if "command" in fields:
        fields["command"] = _tokens(fields["command"], bool(fields.get("raw")))
    if selector:
        fields["target"] = _described(given.get("target"), selector)
    _refuse_missing(command, fields)
    return fields


def _placed(command: ActionCommand, words: Sequence[str], has_selector: bool) -> dict[str, Any]:
    """Words in the order of the usage line; a target that options describe takes no place in it."""
    names = list(command.positional)
    if has_selector and "target" in names and len(words) < len(names):
        names.remove("target")
    if names == ["command"]:
        return {"command": list(words)} if words else {}
    if len(words) > len(names):
        extra = " ".join(words[len(names) :])
        raise InvalidAction(
            f"{command.type}: {extra!r} is too much",
            hint=f"It takes {' '.join(names).upper()}. Quote a text that has spaces.",
            path="",
        )
    return dict(zip(names, words, strict=False))


def _value(value: Any, field: Field) -> Any:
    if not isinstance(value, str):
        return value
    kind = field.kind
    if kind.startswith(("integer", "number", "boolean")):
        return _scalar(value)
    if kind in _OBJECTS and value.startswith("{"):
        return _object(value, field.name)
    return value


def _scalar(text: str) -> Any:
    """A number, true, false or a quoted text where it is one; any other word stays a word."""
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, str | int | float) else text


def _object(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidAction(
            f"{path}: not valid JSON: {error}", hint='Quote it: \'{"text": "Save"}\'.', path=path
        ) from None


def _tokens(words: list[str], raw: bool) -> list[str] | str:
    """One word is a command line of its own; `raw` hands all of them to the device's shell."""
    return " ".join(words) if raw or len(words) == 1 else words


def _described(bare: Any, selector: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {name: _selected(name, value) for name, value in selector.items()}
    if bare is None:
        return chosen
    if "text" in chosen:
        raise InvalidAction(
            f"{bare!r} and --text both name the target", path="target", hint="Give one of them."
        )
    return {"text": bare, **chosen}


def _selected(name: str, value: Any) -> Any:
    if name == "index":
        return _scalar(value)
    return _object(value, name) if value.startswith("{") else value


def _refuse_missing(command: ActionCommand, fields: Mapping[str, Any]) -> None:
    for one in command.fields:
        if one.presence == "required" and one.name not in fields:
            more = "; a target is @b1, 540,750, a text, or --id, --role, …" if one.kind == "target" else ""
            raise InvalidAction(
                f"{one.name}: is required", path=one.name, hint=f"For example: {command.example}{more}"
            )
