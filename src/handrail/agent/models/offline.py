"""Models that need no network: one repeats an earlier run, one taps at random, one does nothing.

The last two are what every real model has to beat. They see of a screen what the prompt shows of it.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

from handrail.agent.model import Mode, Prompt, Reply, finished
from handrail.agent.run_data import AgentStep
from handrail.agent.run_folder import STEPS, RunFolder
from handrail.errors import ExpectStateMismatch, InvalidAction
from handrail.protocol.device import PressKey, Tap
from handrail.protocol.target import Selector

OVER = "The recording is over."


class RecordedModel:
    """Answers by the number of the step, so that a question that is asked again has the same answer."""

    mode: Mode = "tools"
    sees = False

    def __init__(self, steps: list[AgentStep], name: str = "recorded") -> None:
        self.name = name
        self._steps = {step.number: step for step in steps}

    async def step(self, prompt: Prompt) -> Reply:
        """Raises `ExpectStateMismatch` where the screen is another one than it was."""
        then = self._steps.get(prompt.step)
        if then is None:
            return finished(OVER)
        self._compare(then, fingerprint(prompt))
        if then.action is None:
            return Reply(then.thought, None, then.raw, problem=f"No action could be read: {then.told}")
        return Reply(then.thought, then.action, then.raw)

    def _compare(self, then: AgentStep, now: str) -> None:
        if not now or not then.fingerprint or now == then.fingerprint:
            return
        before = self._steps.get(then.number - 1)
        after = f" after {before.told!r}" if before else " at the start"
        raise ExpectStateMismatch(
            f"step {then.number}: the screen is not the recorded one{after}:"
            f" #{then.fingerprint} in {then.app or 'no app'} then, #{now} now",
            hint="Start from the state that the run was recorded in: the same phone, apps and seed.",
            step=then.number,
            expected=then.fingerprint,
            actual=now,
        )

    async def close(self) -> None:
        """Nothing is open."""


def open_recording(path: Path) -> RecordedModel:
    """The run in this folder, or in the folder of this steps.jsonl."""
    folder = path.parent if path.name == STEPS else path
    steps = RunFolder(folder).steps()
    if not steps:
        raise InvalidAction(
            f"{path}: there is no step of a run in it", path="model", hint=f"Give a folder with {STEPS}."
        )
    return RecordedModel(steps, f"recorded:{folder.name}")


_FRAME = re.compile(r"<screen-data [^\n]*>\n(.*?)\n</screen-data ", re.S)
_FINGERPRINT = re.compile(r"screen \S+(?: \S+)? #(\w+)", re.ASCII)
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.M | re.ASCII)


def screen_text(prompt: Prompt) -> str:
    """The newest screen in the prompt; empty where none is shown."""
    for turn in reversed(prompt.turns):
        if turn.role == "user" and (frames := _FRAME.findall(turn.text)):
            return str(frames[-1])
    return ""


def visible_refs(prompt: Prompt) -> list[str]:
    """In the order of the screen. Only what begins a line is a ref: a label may hold anything."""
    return list(dict.fromkeys(_REF.findall(screen_text(prompt))))


def fingerprint(prompt: Prompt) -> str:
    """As the screen's first line tells it; empty where it tells none."""
    found = _FINGERPRINT.match(screen_text(prompt))
    return found[1] if found else ""


class RandomTaps:
    """The same seed and the same screens make the same taps. It never says that it is done."""

    mode: Mode = "tools"
    sees = False

    def __init__(self, seed: int = 1) -> None:
        self.name = f"random:{seed}"
        self._random = random.Random(seed)  # noqa: S311  (nothing is kept secret by it)

    async def step(self, prompt: Prompt) -> Reply:
        refs = visible_refs(prompt)
        if not refs:
            return Reply("Nothing that could be tapped is visible.", PressKey(key="back").to_dict(), "")
        chosen = Selector(ref=self._random.choice(refs))
        return Reply("Anything will do.", Tap(target=chosen).to_dict(), "")

    async def close(self) -> None:
        """Nothing is open."""


class Nothing:
    """Finishes at once."""

    name = "nothing"
    mode: Mode = "tools"
    sees = False

    async def step(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it does not look
        return finished("Nothing was done.")

    async def close(self) -> None:
        """Nothing is open."""
