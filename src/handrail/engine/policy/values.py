"""How each key of a rule is read. Raises ValueError; `read` adds the file and the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, get_args

from handrail.engine.policy.pattern import Pattern
from handrail.engine.policy.subject import Caller, Door
from handrail.engine.policy.verdict import SPANS, Kind
from handrail.engine.policy.window import DAYS, Window
from handrail.protocol.act import Effect, Semantic
from handrail.protocol.actions import ACTIONS
from handrail.protocol.problems import nearest
from handrail.protocol.target import Role


def texts(value: object) -> list[str]:
    """One text or a list of them, none empty."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise ValueError("must be a text or a list of texts")
    return found


def _given(value: object) -> list[str]:
    found = texts(value)
    if not found:
        raise ValueError("is an empty list, which nothing could match; leave the key out to match everything")
    return found


def _words(known: Sequence[str]) -> Callable[[object], tuple[str, ...]]:
    def read(value: object) -> tuple[str, ...]:
        for word in (words := _given(value)):
            if word not in known:
                raise ValueError(_unknown(word, known))
        return tuple(words)

    return read


def _word(known: Sequence[str]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(_unknown(value, known))
        return value

    return read


def _unknown(word: object, known: Sequence[str]) -> str:
    close = nearest(word, known) if isinstance(word, str) else []
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"{word!r:.60} is not one of {', '.join(known)}{meant}"


def _patterns(*, ignore_case: bool = False) -> Callable[[object], tuple[Pattern, ...]]:
    def read(value: object) -> tuple[Pattern, ...]:
        patterns = tuple(Pattern(text, ignore_case) for text in _given(value))
        for pattern in patterns:
            try:
                pattern.check()
            except re.error as error:
                raise ValueError(f"{pattern.text} is no regular expression: {error}") from None
        return patterns

    return read


def _actions(value: object) -> tuple[Pattern, ...]:
    patterns = _patterns()(value)
    for pattern in patterns:
        if not any(pattern.matches(kind) for kind in ACTIONS):
            close = nearest(pattern.text, ACTIONS)
            meant = f"; did you mean {' or '.join(close)}?" if close else "; `handrail actions` lists them"
            raise ValueError(f"no action is called {pattern.text!r:.60}{meant}")
    return patterns


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _windows(value: object) -> tuple[Window, ...]:
    return tuple(Window.read(text) for text in _given(value))


PARTS: dict[str, Callable[[object], Any]] = {
    "action": _actions,
    "effect": _words(get_args(Effect)),
    "semantic": _words(get_args(Semantic)),
    "app": _patterns(),
    "label": _patterns(ignore_case=True),
    "id": _patterns(),
    "role": _words(get_args(Role)),
    "password": _flag,
    "secret": _flag,
    "host": _patterns(ignore_case=True),
    "device": _patterns(),
    "door": _words(get_args(Door)),
    "caller": _words(get_args(Caller)),
    "time": _windows,
    "days": _words(DAYS),
}
"""What a rule may match on, and how each is read."""

READERS: dict[str, Callable[[object], Any]] = {
    **PARTS,
    "verdict": _word(get_args(Kind)),
    "remember": _word(SPANS),
    "name": _text,
    "why": _text,
}
