"""Whether a value is of the kind that its option wants. Texts with `${…}` are judged when they are filled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from handrail.flow.parse import FieldEntry, Fields, Items, Node, Problem, Scalar
from handrail.protocol.read import nearest
from handrail_maestro.expressions import EXPRESSION, is_secret
from handrail_maestro.words import (
    CONDITION,
    DIRECTIONS,
    KEYS,
    ORIENTATIONS,
    PLATFORMS,
    SELECTING,
    SELECTOR,
    TRAITS,
    Kind,
)

_PAIR = re.compile(r"\s*-?\d+(\.\d+)?(%?)\s*,\s*-?\d+(\.\d+)?(%?)\s*", re.ASCII)
_POINT = re.compile(r"\s*\d+(%?)\s*,\s*\d+(%?)\s*", re.ASCII)
_PLACE = re.compile(r"\s*-?\d+(\.\d+)?\s*,\s*-?\d+(\.\d+)?\s*", re.ASCII)
_NUMBER = re.compile(r"-?\d+(\.\d+)?|-?\d[\d_]*", re.ASCII)
_WHOLE = re.compile(r"-?\d[\d_]*(\.\d+)?", re.ASCII)
NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")

Found = Iterator[Problem]


def check_value(kind: Kind, entry: FieldEntry, path: str) -> list[Problem]:
    """What is wrong with this option's value."""
    return list(_checked(kind, entry.value, path))


def check_header_value(key: str, kind: str, entry: FieldEntry) -> list[Problem]:
    """The same for a key of the header; its commands are read elsewhere."""
    value = entry.value
    if kind == "text":
        return list(_scalar(value, key, "a text"))
    if kind == "list":
        items = value.items if isinstance(value, Items) else ()
        if not isinstance(value, Items) or not all(isinstance(one, Scalar) for one in items):
            return [Problem(key, "should be a list of texts", value.start, "Write `- smoke`, one in a line.")]
        return []
    if kind == "env":
        return list(_env(value, key))
    return []


def _checked(kind: Kind, value: Node, path: str) -> Found:
    yield from _KINDS.get(kind, _text)(value, path)


def _text(value: Node, path: str) -> Found:
    yield from _scalar(value, path, "a text")


def _scalar(value: Node, path: str, wanted: str) -> Found:
    if not isinstance(value, Scalar):
        yield Problem(path, f"should be {wanted}", value.start, None)
    elif value.value is None and value.plain:
        yield Problem(path, "has no value", value.start, "Give it one, or remove it.")


def _like(form: re.Pattern[str], wanted: str, *, filled: bool) -> Callable[[Node, str], Found]:
    def check(value: Node, path: str) -> Found:
        if not isinstance(value, Scalar):
            yield Problem(path, f"should be {wanted}", value.start)
        elif not form.fullmatch(value.text) and not (filled and EXPRESSION.search(value.text)):
            hint = None if filled or "${" not in value.text else "Maestro does not fill ${…} here."
            yield Problem(path, f"{value.text[:60]!r} should be {wanted}", value.start, hint)

    return check


def _one_of(words: tuple[str, ...], wanted: str, *, filled: bool = False) -> Callable[[Node, str], Found]:
    def check(value: Node, path: str) -> Found:
        text = value.text.strip().lower() if isinstance(value, Scalar) else ""
        if text in words or (filled and "${" in text):
            return
        close = nearest(text, words)
        hint = f"Did you mean {close[0]}?" if close else f"It is one of {', '.join(words[:12])}."
        yield Problem(path, f"{text[:60]!r} is not {wanted}", value.start, hint)

    return check


def _switch(value: Node, path: str) -> Found:
    if not isinstance(value, Scalar) or value.text.lower() not in ("true", "false", "1", "0"):
        yield Problem(path, "should be true or false", value.start)


def _selector(value: Node, path: str) -> Found:
    """A text, or the fields of a selector."""
    if isinstance(value, Scalar):
        yield from _scalar(value, path, "a selector")
        return
    if not isinstance(value, Fields):
        yield Problem(path, "should be a selector", value.start, "Give a text, or fields such as id.")
        return
    for key, entry in value.entries.items():
        if key not in SELECTOR:
            yield _stray(key, entry, SELECTOR, "a selector", path)
        elif key == "css":
            message = "css selects elements of web pages only"
            yield Problem(path, message, entry.key.start, "Use text or id.", rule="unsupported")
        else:
            yield from _checked(SELECTOR[key], entry.value, f"{path}.{key}")
    if not SELECTING & set(value.entries):
        message = "names no element: the first there is will do"
        yield Problem(path, message, value.start, "Give text or id.", "warning")


def _condition(value: Node, path: str) -> Found:
    if not isinstance(value, Fields):
        yield Problem(
            path, "should be a condition", value.start, "Write `visible: …`, `true: ${…}` or `platform: …`."
        )
        return
    for key, entry in value.entries.items():
        if key not in CONDITION:
            yield _stray(key, entry, CONDITION, "a condition", path)
        elif key == "platform":
            yield from _one_of(PLATFORMS, "a platform")(entry.value, f"{path}.platform")
        else:
            yield from _checked(CONDITION[key], entry.value, f"{path}.{key}")


def _stray(key: str, entry: FieldEntry, known: object, what: str, path: str) -> Problem:
    words = list(known) if isinstance(known, dict) else []
    close = nearest(key, words, least=0.6)
    hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(words)}."
    return Problem(path, f"{what} has no {key[:60]!r}", entry.key.start, hint, rule="unknown-option")


def _env(value: Node, path: str) -> Found:
    if not isinstance(value, Fields):
        yield Problem(path, "should be a mapping of names and values", value.start, "Write `NAME: value`.")
        return
    for name, entry in value.entries.items():
        if not NAME.fullmatch(name) and path != "properties":
            yield Problem(path, f"{name[:60]!r} is not a name", entry.key.start, "Letters, digits and _.")
        if not isinstance(entry.value, Scalar):
            yield Problem(path, f"{name[:60]} should be a text", entry.value.start)
        elif entry.value.value is None and entry.value.plain:
            yield Problem(path, f"{name[:60]} has no value", entry.key.start, "Give it one, or remove it.")


def _map(value: Node, path: str) -> Found:
    if not isinstance(value, Fields):
        yield Problem(path, "should be a mapping", value.start, "Write `name: value`.")
        return
    for name, entry in value.entries.items():
        yield from _scalar(entry.value, f"{path}.{name[:60]}", "a text")


def _list_of(check: Callable[[Node, str], Found], what: str) -> Callable[[Node, str], Found]:
    def all_of(value: Node, path: str) -> Found:
        if not isinstance(value, Items) or not value.items:
            yield Problem(path, f"should be a list of {what}", value.start)
            return
        for index, one in enumerate(value.items):
            yield from check(one, f"{path}[{index}]")

    return all_of


def _files(value: Node, path: str) -> Found:
    yield from _list_of(_text, "files")(value, path) if isinstance(value, Items) else _text(value, path)


def _traits(value: Node, path: str) -> Found:
    words = value.text.split() if isinstance(value, Scalar) else [""]
    for word in words:
        yield from _one_of(TRAITS, "a trait")(Scalar(word, word, value.start, value.end), path)


def _orientation(value: Node, path: str) -> Found:
    text = value.text if isinstance(value, Scalar) else ""
    bare = Scalar(None, text.replace("_", ""), value.start, value.end)
    yield from _one_of(tuple(ORIENTATIONS), "an orientation", filled=True)(bare, path)


def _script(value: Node, path: str) -> Found:
    yield from _scalar(value, path, "a text")
    if isinstance(value, Scalar) and is_secret(value.text):
        hint = "Write ${secret:NAME} in inputText, where it is typed."
        yield Problem(path, "a script never sees a secret", value.start, hint, rule="bad-script")


_KINDS: dict[str, Callable[[Node, str], Found]] = {
    "number": _like(_NUMBER, "a number", filled=True),
    "whole": _like(_WHOLE, "a whole number", filled=False),
    "point": _like(_POINT, '"540,700" or "50%,30%"', filled=True),
    "ends": _like(_PAIR, '"540,700" or "50%,30%"', filled=False),
    "points": _list_of(_like(_PLACE, '"latitude,longitude"', filled=False), "places"),
    "switch": _switch,
    "direction": _one_of(DIRECTIONS, "a direction"),
    "key": _one_of(tuple(KEYS), "a key"),
    "onoff": _one_of(("enabled", "disabled"), "enabled or disabled", filled=True),
    "orientation": _orientation,
    "traits": _traits,
    "selector": _selector,
    "selectors": _list_of(_selector, "selectors"),
    "condition": _condition,
    "env": _env,
    "permissions": _map,
    "arguments": _map,
    "files": _files,
    "commands": lambda *_: iter(()),  # the reader reads them
    "script": _script,
}
