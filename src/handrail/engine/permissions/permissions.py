"""Remembered answers: who may read which, and who may write which.

Only answers to dialogs made by the engine are written under names that policy reads.
"""

from __future__ import annotations

from pathlib import Path

from handrail.engine.permissions.file import Answers, PermissionsFile
from handrail.engine.permissions.keys import AGENT, agent_key, policy_key
from handrail.errors import InvalidAction
from handrail.protocol.problems import nearest


class Permissions:
    """The remembered answers of one home."""

    def __init__(self, path: Path) -> None:
        self._file = PermissionsFile(path)

    @property
    def path(self) -> Path:
        return self._file.path

    def lookup(self, tool: str, context: str) -> bool | None:
        """What policy may take as answered: the context's own answer first, then the tool's."""
        answers = self._file.read()
        answer = answers.get(policy_key(tool, context))
        return answers.get(policy_key(tool)) if answer is None else answer

    def remember(self, tool: str, context: str, *, allow: bool) -> str:
        """An answer to the engine's own dialog; the key that was written. Always about a context: whoever
        wants an answer for a whole tool writes it into the file by hand."""
        return self._write(policy_key(tool, context), allow)

    def lookup_for_agent(self, agent_id: str, tool: str, context: str | None = None) -> bool | None:
        """What a person once answered to this agent's own dialog. Policy never asks this."""
        answers = self._file.read()
        answer = answers.get(agent_key(agent_id, tool, context))
        return answers.get(agent_key(agent_id, tool)) if answer is None else answer

    def remember_for_agent(self, agent_id: str, tool: str, context: str | None, allow: bool) -> str:
        """An answer to a `dialog.confirm` that an agent made."""
        return self._write(agent_key(agent_id, tool, context), allow)

    def all(self) -> dict[str, bool]:
        return self._file.read()

    def forget(self, key: str) -> None:
        """Revoke one answer. Raises `InvalidAction` with the nearest keys when there is none such."""

        def edit(answers: Answers) -> None:
            if key not in answers:
                close = nearest(key, answers)
                hint = (
                    f"Did you mean {' or '.join(close)}?"
                    if close
                    else "`handrail policy permissions` lists them."
                )
                raise InvalidAction(f"{key!r:.200} is not remembered", path="key", hint=hint)
            del answers[key]

        self._file.change(edit)

    def _write(self, key: str, allow: bool) -> str:
        def edit(answers: Answers) -> None:
            answers[key] = allow

        self._file.change(edit)
        return key


def is_agents(key: str) -> bool:
    """True for a key that policy never reads."""
    return key.startswith(AGENT)
