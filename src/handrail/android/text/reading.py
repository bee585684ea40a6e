"""Looks at the focused field before and after: how long to wait for what was sent to show. Sends nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handrail.android.text.field import Field, focused_field, same_field
from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout
from handrail.tree.node import Screen

Look = Callable[[], Awaitable[Screen]]

SHOWN_WITHIN_MS = 1_000
"""Input commands return when the app has taken their events; a busy app may draw them this much later."""
POLL_MS = 100
"""Two equal looks this far apart are a field that came to rest."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look: the field, if it was there, and the screen, if it could be read."""

    field: Field | None
    screen: Screen | None

    @property
    def text(self) -> str | None:
        return None if self.field is None else self.field.text


async def first_look(look: Look) -> Reading:
    """Before anything is sent. A screen that can't be read is an error: nothing was delivered."""
    try:
        screen = await look()
    except (DeviceError, Timeout) as error:
        error.details.setdefault("delivery", "not_delivered")
        raise
    return Reading(focused_field(screen), screen)


async def look_again(look: Look, before: Reading) -> Reading:
    """After something was sent. A screen that can't be read says nothing about it."""
    try:
        screen = await look()
    except (DeviceError, Timeout):
        return Reading(None, None)
    field = before.field
    return Reading(None if field is None else same_field(screen, field), screen)


async def look_until(
    look: Look,
    clock: Clock,
    before: Reading,
    verdict: Callable[[Field | None], bool | None],
    within_ms: float = SHOWN_WITHIN_MS,
) -> tuple[Reading, bool | None]:
    """Until the verdict is not False, or the field rests in another state than before, or time is up."""
    deadline = clock.monotonic_ms() + within_ms
    last: str | None = None
    while True:
        reading = await look_again(look, before)
        found = verdict(reading.field)
        rests = reading.text == last and reading.text != before.text
        if found is not False or rests or clock.monotonic_ms() >= deadline:
            return reading, found
        last = reading.text
        await clock.sleep_ms(POLL_MS)
