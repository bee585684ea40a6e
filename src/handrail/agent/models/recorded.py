"""A model that answers as another one did: the steps of an earlier run, while the screens are the same."""

from __future__ import annotations

from pathlib import Path

from handrail.agent.model import Mode, Prompt, Reply
from handrail.agent.models.shown import fingerprint
from handrail.agent.record import STEPS, RunFolder
from handrail.agent.step import Step
from handrail.errors import ExpectStateMismatch, InvalidAction

OVER = "The recording is over."


class RecordedModel:
    """Answers by the number of the step, so that a question that is asked again has the same answer."""

    mode: Mode = "tools"
    sees = False

    def __init__(self, steps: list[Step], name: str = "recorded") -> None:
        self.name = name
        self._steps = {step.number: step for step in steps}

    async def step(self, prompt: Prompt) -> Reply:
        """Raises `ExpectStateMismatch` where the screen is another one than it was."""
        then = self._steps.get(prompt.step)
        if then is None:
            return Reply("", {"type": "finish", "message": OVER}, "")
        self._compare(then, fingerprint(prompt))
        if then.action is None:
            return Reply(then.thought, None, then.raw, problem=f"No action could be read: {then.told}")
        return Reply(then.thought, then.action, then.raw)

    def _compare(self, then: Step, now: str) -> None:
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
