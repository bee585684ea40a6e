"""The model that solves kinds of tasks by a program: it reads the screen's text, and answers with actions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from handrail.protocol.device import PressKey, SetValue, Swipe, Tap, TypeText
from handrail.protocol.observe import Wait
from handrail.protocol.target import Selector
from handrail_agent.model import Mode, Prompt, Reply, finished
from handrail_agent.models import screen_text
from handrail_eval.miniwob.screen import SeenLine, SeenScreen

Step = Mapping[str, Any]
Solution = Generator[Step, SeenScreen, None]
"""Yields an action, is sent the screen that came of it; it ends when there is nothing more to do."""
Kind = Callable[[str, SeenScreen], Solution]


class Solver:
    """Follows one solution; what the program did not foresee ends it, saying so."""

    name = "reference"
    mode: Mode = "tools"
    sees = False

    def __init__(self, kind: Kind | None, goal: str) -> None:
        self._kind = kind
        self._goal = goal
        self._going: Solution | None = None

    async def step(self, prompt: Prompt) -> Reply:
        if self._kind is None:
            return finished("There is no scripted solution of this kind.")
        screen = SeenScreen.read(screen_text(prompt))
        try:
            if self._going is None:
                self._going = self._kind(self._goal, screen)
                action = next(self._going)
            else:
                action = self._going.send(screen)
        except StopIteration:
            return finished("Everything was done.")
        except (LookupError, ValueError, RuntimeError) as error:
            return finished(f"The screen is not as the solution wants it: {error!r}")
        return Reply("", dict(action), "")

    async def close(self) -> None:
        """Nothing is open."""


def tap(line: SeenLine) -> Step:
    """Press it."""
    return Tap(target=Selector(ref=line.ref)).to_dict()


def write(line: SeenLine, text: str) -> Step:
    """Instead of what the field holds."""
    return TypeText(text=text, target=Selector(ref=line.ref), clear=True).to_dict()


def put(line: SeenLine, value: str | float) -> Step:
    """Set a list, a date or a slider."""
    return SetValue(target=Selector(ref=line.ref), value=value).to_dict()


def key(name: str) -> Step:
    """One key, to what has the focus."""
    return PressKey(key=name).to_dict()


def scroll(line: SeenLine, *, back: bool = False) -> Step:
    """To what is below, or above."""
    return Swipe(direction="down" if back else "up", target=Selector(ref=line.ref)).to_dict()


def press(name: str) -> Step:
    """What says this, where it has no ref of its own."""
    return Tap(target=Selector(text=name)).to_dict()


def wait(ms: int) -> Step:
    """Let the page go on."""
    return Wait(duration_ms=ms).to_dict()
