"""Misuse of the two Python faces is answered by what to write, without words about the inside."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.engine.short_forms import BlockingDeskForms, BlockingForms
from handrail.errors import HandrailError, Misused
from handrail.protocol.read import action_from
from handrail.sync import phone
from tests.people.story import opened
from tests.scenario.world import play, world

ASYNC_RUNNER = play

INSIDE = re.compile(
    r"ShortForms|BlockingForms|DeskForms|Session\b|_AsyncGenerator|coroutine|generator|object at 0x|_do\b|"
    r"handrail\.(?!sync\b)|pydantic|__\w+__|NoneType|Traceback"
)


def said(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def helps(error: BaseException, *words: str) -> None:
    told = said(error)
    assert not INSIDE.search(told), told
    assert "handrail.sync" in told
    for word in words:
        assert word in told, told


async def test_what_was_closed_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        kept, session = w.runtime, w.session
    for call in (session.tap("Save"), session.get_ui_tree(), kept.session(), kept.devices()):
        with pytest.raises(Misused, match="is closed") as caught:
            await call
        helps(caught.value, "`async with Runtime.open()`")
    assert w.inputs() == []


def test_a_session_of_another_loop_says_so(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    block = world(tmp_path)
    try:
        w = loop.run_until_complete(block.__aenter__())
        loop.run_until_complete(w.session.get_ui_tree())
        for call in (w.session.tap("Save"), w.runtime.session()):
            with pytest.raises(Misused, match="another event loop") as caught:
                asyncio.run(_awaited(call))
            helps(caught.value, "asyncio.run(main())")
        assert w.inputs() == []
        loop.run_until_complete(block.__aexit__(None, None, None))
    finally:
        loop.close()


async def _awaited(call: Any) -> Any:
    return await call


def test_a_blocking_phone_that_was_closed_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        pass
    made.close()
    for use in (made.get_ui_tree, made.stop, lambda: made.tap("Save")):
        with pytest.raises(Misused, match="closed") as caught:
            use()
        assert not INSIDE.search(said(caught.value))


def test_async_with_instead_of_with_says_so_and_leaves_nothing_open(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path):
            raise AssertionError("never reached")

    with pytest.raises(Misused) as caught:
        asyncio.run(main())
    helps(caught.value, "Write `with`")
    assert not [one for one in threading.enumerate() if one.name == "handrail.sync"]


def test_two_phones_in_one_call_are_refused() -> None:
    with pytest.raises(Misused, match="two phones"):
        phone("127.0.0.1:1", sim=True)


KINDS: list[Any] = [
    None,
    3,
    3.5,
    True,
    "",
    "x" * 200_000,
    [],
    {},
    [None],
    {"a": {"b": []}},
    object(),
    b"\xff",
    (),
]


def forms(cls: type) -> Iterator[tuple[str, inspect.Signature]]:
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and name != "run":
            yield name, inspect.signature(member)


def required(signature: inspect.Signature) -> list[str]:
    empty = inspect.Parameter.empty
    return [one.name for one in signature.parameters.values() if one.default is empty and one.name != "self"]


def adversary(face: object, cls: type) -> Iterator[tuple[str, BaseException]]:
    """Arguments of every wrong type for every method."""
    for name, signature in forms(cls):
        calls: list[tuple[list[Any], dict[str, Any]]] = []
        for value in KINDS:
            if needed := required(signature):
                calls.append(([], dict.fromkeys(needed, value)))
            others = [one for one in signature.parameters if one not in (*needed, "self")]
            calls += [([], {**dict.fromkeys(needed, "x"), other: value}) for other in others]
        for args, kwargs in calls:
            try:
                getattr(face, name)(*args, **kwargs)
            except Exception as error:
                yield name, error


class Reads(BlockingForms, BlockingDeskForms):
    """Actions are read, and not done: what a call is refused for is decided before that."""

    def run(self, action: Any) -> Any:
        return action_from(dict(action))


@pytest.mark.parametrize("cls", [BlockingForms, BlockingDeskForms])
def test_wrong_values_are_told_by_the_name_of_the_field(cls: type) -> None:
    count = 0
    for name, error in adversary(Reads(), cls):
        told = said(error)
        assert isinstance(error, HandrailError), (name, told)
        assert not INSIDE.search(told), (name, told)
        assert len(told) < 2_000, (name, told[:300])
        count += 1
    assert count > 500


@pytest.mark.parametrize("action", [*KINDS, {"type": 3}, {"type": "tap"}, {"type": "click", "target": "x"}])
def test_what_is_no_action_is_told_in_words(tmp_path: Path, action: Any) -> None:
    with opened(tmp_path) as face:
        with pytest.raises(HandrailError) as caught:
            face.run(action)
        assert not INSIDE.search(said(caught.value)), said(caught.value)
        assert face.simulated.input_log == []
