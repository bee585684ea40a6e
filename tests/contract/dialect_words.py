"""What every dialect keeps, tried on rows of a maker's words and what they mean on a phone of 1080x2400.

Pictures were sent with 540x1200 pixels, half of the screen.
"""

from __future__ import annotations

from typing import Any

import pytest

from handrail.dialects.frame import Conversation, CoordinateFrame
from handrail.dialects.registry import dialect
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.read import action_from

SCREEN, PICTURE = (1080, 2400), (540, 1200)
ELEMENTS = ("@b1", "@f1", "@l1", "@b2")


def talk(name: str) -> Conversation:
    """As it is after one look."""
    return Conversation(CoordinateFrame(dialect(name).unit, SCREEN, PICTURE), ELEMENTS)


def at(x: int, y: int) -> dict[str, int]:
    return {"x": x, "y": y}


def swipe(x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> dict[str, Any]:
    return {"type": "swipe", "from": at(x1, y1), "to": at(x2, y2), "duration_ms": ms}


def key(name: str) -> dict[str, Any]:
    return {"type": "press_key", "key": name}


def tap(x: int, y: int) -> dict[str, Any]:
    return {"type": "tap", "target": at(x, y)}


Rows = list[tuple[Any, list[dict[str, Any]]]]
Words = dict[str, tuple[Rows, list[Any]]]
"""By dialect: what is read, and what is refused."""


def reads_as_said(rows: Words) -> None:
    """A maker's words mean these actions."""
    for name, (good, _) in rows.items():
        for words, native in good:
            reading = dialect(name).read(words, talk(name))
            read = [action.to_dict() for action in reading.actions]
            assert read == [action_from(action).to_dict() for action in native], (name, words)


def refuses_with_a_hint(rows: Words) -> None:
    """What has no meaning is refused."""
    for name, (_, bad) in rows.items():
        for words in bad:
            with pytest.raises((InvalidAction, Unsupported)) as refused:
                dialect(name).read(words, talk(name))
            assert refused.value.message, (name, words)
            assert refused.value.hint, (name, words)


def has_an_example_of_every_word(rows: Words, *, later: frozenset[str] = frozenset()) -> None:
    """`later` has the words that mean nothing before others came."""
    for name, (good, bad) in rows.items():
        own = dialect(name)
        heard = {call.word for words, _ in good for call in own.parse(words).calls}
        for words in bad:
            try:
                heard |= {call.word for call in own.parse(words).calls}
            except HandrailError:
                continue
        assert own.rows.keys() - heard - later == set(), name


def comes_back_as_it_was(rows: Words, *, silent: frozenset[str] = frozenset()) -> None:
    """Written and read again it is the same action, whatever way it was said. `silent` may write nothing."""
    for name, (good, _) in rows.items():
        own = dialect(name)
        for _, native in good:
            written = 0
            for action in map(action_from, native):
                try:
                    words = own.write(action, talk(name))
                except Unsupported:
                    continue
                written += 1
                assert own.read(words, talk(name)).actions[0].to_dict() == action.to_dict(), (name, words)
            assert written or name in silent or not native, (name, native)
