"""The model that does nothing: what a task's own check is worth shows when it fails for this one."""

from __future__ import annotations

from handrail.agent.model import Mode, Prompt, Reply


class Nothing:
    """Finishes at once."""

    name = "nothing"
    mode: Mode = "tools"
    sees = False

    async def step(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it does not look
        return Reply("", {"type": "finish", "message": "Nothing was done."}, "")

    async def close(self) -> None:
        """Nothing is open."""
