"""The person of a task: answers every question at once, as the task's lines say, and no to all others."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from handrail.cli.evaluation.task import Line
from handrail.engine.approval import Approval, Approvals

NAME = "the task's person"
_NO = Line(approve=False)


class Person:
    """Usable as `notify` of `Approvals`."""

    def __init__(self, lines: Sequence[Line], approvals: Approvals) -> None:
        self.asked = 0
        self._lines = lines
        self._approvals = approvals

    async def __call__(self, one: Approval, token: str | None) -> None:  # noqa: ARG002  (links are for other doors)
        self.asked += 1
        line = next((line for line in self._lines if _is_about(line.to, one)), _NO)
        await self._approvals.answer(one.id, line.approve, NAME, data=line.data if line.approve else None)


def _is_about(pattern: str, one: Approval) -> bool:
    names = (one.request.label, one.action_type, one.request.capability)
    return any(fnmatchcase(str(name), pattern) for name in names if name)
