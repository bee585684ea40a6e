"""What every way of typing promises: say beforehand that it can't, or deliver unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from handrail.android.text.field import Field
from handrail.errors import HandrailError


class Way(Protocol):
    """One way into the focused field, at its cursor."""

    @property
    def name(self) -> str: ...

    async def can(self, text: str, field: Field | None) -> str | None:
        """None if it can, else why not. Nothing is sent for the question."""

    async def send(self, text: str) -> None:
        """Once. Errors say in `delivery` whether something may have arrived, and with `answered` that nothing
        more will.
        """

    async def restore(self) -> None:
        """Puts back what `send` had to change, clipboard or keyboard; also after a failed `send`."""


def needs_lines(text: str, field: Field | None) -> str | None:
    """Why a field can't hold this text in one piece, as far as is known."""
    if "\n" in text and field is not None and field.multiline is False:
        return "the field has one line and the text has several"
    return None


@contextmanager
def preparing() -> Iterator[None]:
    """Around what comes before the first character: whatever fails there, the field got nothing."""
    try:
        yield
    except HandrailError as error:
        error.details["delivery"] = "not_delivered"
        raise
