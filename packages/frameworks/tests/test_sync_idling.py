from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from handrail.adb.shell import Output
from handrail_frameworks.debugger import ChannelLost
from handrail_frameworks.framework_sync import IdlingBridge, IdlingState, open_bridge, read_state
from handrail_sim.clock import ManualClock
from tests.cases import each

PACKAGE = "com.example.app"


@each(
    ("text", "state"),
    [
        ("Row: 0 idle_count=0, idle_names=, version=1\n", IdlingState(0, (), 1)),
        ("Row: 0 idle_count=2, idle_names=sync,upload, version=1\n", IdlingState(2, ("sync", "upload"), 1)),
        ("Row: 0 version=1, idle_names=a b, c=d, idle_count=2\n", IdlingState(2, ("a b", "c=d"), 1)),
        ("Row: 0 idle_count=1, idle_names=NULL, version=1", IdlingState(1, (), 1)),
        ("Row: 0 idle_count=1, idle_names=x", IdlingState(1, ("x",), 0)),
        ("Row: 0 idle_count=-1, idle_names=x, version=1", None),
        ("No result found.\n", None),
        (
            "Error while accessing provider:com.example.app.agentest.idling\njava.lang.NullPointerException",
            None,
        ),
        ("", None),
    ],
)
def test_the_providers_row_is_read_whatever_is_in_its_names(text: str, state: IdlingState | None) -> None:
    assert read_state(text) == state


def test_who_is_busy_is_named_or_counted() -> None:
    assert IdlingState(2, ("sync",), 1).busy_names == ("sync",)
    assert IdlingState(2, (), 1).busy_names == ("2 idling resources",)
    assert IdlingState(0, ("stale",), 1).busy_names == ()


class Answers:
    """A shell that says one thing after the other, the last one for ever."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.commands: list[Sequence[str]] = []

    async def run(self, command: Sequence[str], **_options: Any) -> Output:
        self.commands.append(command)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return Output(text.encode(), b"", 0)

    def start(self, command: Sequence[str]) -> Any:
        raise AssertionError(f"{command} is not for this shell")


def busy(*names: str, version: int = 1) -> str:
    return f"Row: 0 idle_count={len(names)}, idle_names={','.join(names)}, version={version}\n"


async def test_the_bridge_is_asked_until_nobody_is_busy_and_tells_who_was() -> None:
    shell, clock = Answers(busy("sync", "upload"), busy("upload"), busy()), ManualClock()
    waiting = asyncio.ensure_future(IdlingBridge(shell, PACKAGE, clock).wait_idle(3_000))
    while not waiting.done():
        await asyncio.sleep(0)
        await clock.advance(50)
    rest = waiting.result()
    assert (rest.idle, rest.waited_for) == (True, ("sync", "upload"))
    uri = f"content://{PACKAGE}.agentest.idling/state"
    assert shell.commands == [["content", "query", "--uri", uri]] * 3


async def test_a_bridge_that_stays_busy_uses_up_the_time() -> None:
    clock = ManualClock()
    waiting = asyncio.ensure_future(IdlingBridge(Answers(busy("sync")), PACKAGE, clock).wait_idle(200))
    while not waiting.done():
        await asyncio.sleep(0)
        await clock.advance(50)
    rest = waiting.result()
    assert (rest.idle, rest.waited_for) == (False, ("sync",))
    assert clock.monotonic_ms() >= 200


@pytest.mark.parametrize(
    ("text", "why"),
    [("No result found.", "answers no query"), (busy(version=2), "has version 2, this one reads 1")],
)
async def test_an_app_without_a_readable_bridge_has_none(text: str, why: str) -> None:
    with pytest.raises(ChannelLost, match=why):
        await open_bridge(Answers(text), PACKAGE, ManualClock())
