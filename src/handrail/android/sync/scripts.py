"""The JavaScript that is evaluated in apps, as expressions. The code itself is in the `.js` files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

IDLE_KEY = "__handrailIdle"
FIBERS_KEY = "__handrailFibers"
VERSION = 1
"""Of `idle.js`: another one that an earlier visit left in the app is replaced."""
MOST_FIBERS = 20_000


@cache
def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8").strip()


def _called(name: str, *arguments: object) -> str:
    return f"{_source(name)}({', '.join(map(json.dumps, arguments))})"


def install() -> str:
    """Begins to count, once per context."""
    return _called("idle.js", IDLE_KEY, VERSION)


def probe(window_ms: float, beat: int) -> str:
    """JSON of what is under way; "" where nothing counts, as after a reload."""
    return f'globalThis.{IDLE_KEY} ? globalThis.{IDLE_KEY}.probe({window_ms:.0f}, {beat}) : ""'


def remove() -> str:
    """Puts every replaced function back."""
    return f'globalThis.{IDLE_KEY} ? globalThis.{IDLE_KEY}.remove() : "absent"'


def list_fibers() -> str:
    """JSON of all host components; what is not measured at once is put into a bag."""
    return _called("fibers.js", FIBERS_KEY, MOST_FIBERS)


def read_bag() -> str:
    """The list again, with what was measured since."""
    return f'JSON.stringify(globalThis.{FIBERS_KEY} || {{"hosts": [], "left": 0}})'


def drop_bag() -> str:
    """Leaves nothing behind."""
    return f"delete globalThis.{FIBERS_KEY}"
