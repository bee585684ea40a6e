"""Until when something counts, so that no setting of a clock makes it count longer.

A row with a deadline has four columns. `since_ms` and `until_ms` are wall time, which also a machine that was
started anew can compare. `timer` and `timer_ms` are a reading of the monotonic clock, which nobody can set.
Both must agree that there is time left. Where the timer is another one, a clock that shows a time before
`since_ms` was set back, and nothing is left.
"""

from __future__ import annotations

from typing import Any

from handrail.clock import Clock

COLUMNS = """
    since_ms INTEGER NOT NULL DEFAULT 0,
    until_ms INTEGER NOT NULL DEFAULT 0,
    timer TEXT NOT NULL DEFAULT '',
    timer_ms REAL NOT NULL DEFAULT 0
"""
LEFT_MS = (
    "(CASE WHEN timer = :timer THEN min(until_ms - :now, timer_ms - :elapsed)"
    " WHEN since_ms <= :now THEN until_ms - :now ELSE 0 END)"
)
"""SQL: milliseconds that a row has left at `moment`."""
LIVES = f"{LEFT_MS} > 0"
RENEWED = (
    "since_ms = :now, timer = :timer,"
    f" until_ms = :now + max(:at_least, cast({LEFT_MS} AS INTEGER)),"
    f" timer_ms = :elapsed + max(:at_least, {LEFT_MS})"
)
"""SQL: the same end seen from now, and `at_least` so many milliseconds."""


def moment(clock: Clock) -> dict[str, Any]:
    """What the SQL above is given. Taken inside the transaction: whoever waited for it waited long enough."""
    return {"now": clock.now_ms(), "timer": clock.timer, "elapsed": clock.monotonic_ms()}


def lasting(at: dict[str, Any], duration_ms: int) -> dict[str, Any]:
    """The columns of a row that counts from now on for so long."""
    return {
        "since_ms": at["now"],
        "until_ms": at["now"] + duration_ms,
        "timer": at["timer"],
        "timer_ms": at["elapsed"] + duration_ms,
    }
