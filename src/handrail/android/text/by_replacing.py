"""Typing by accessibility: a helper sets the whole text of the focused field. Only for an empty one."""

from __future__ import annotations

from handrail.android.channel import Channel
from handrail.android.text.field import Field
from handrail.android.text.way import needs_lines
from handrail.errors import AdbCommandError


class SetText:
    """ACTION_SET_TEXT: any Unicode, no keyboard, no clipboard; what the field had would be gone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} set_text"

    async def can(self, text: str, field: Field | None) -> str | None:
        if field is None or not field.vacant:
            return "it would replace what the field may have"
        return needs_lines(text, field)

    async def send(self, text: str) -> None:
        try:
            await self._channel.set_text(text)
        except AdbCommandError as error:
            # It answered that it could not: nothing is under way any more, and a look tells what came of it.
            error.details["answered"] = True
            raise

    async def restore(self) -> None:
        """Nothing else was touched."""
