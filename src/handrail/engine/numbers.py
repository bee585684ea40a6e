"""Numbers for action ids: sessions of a process share them, and two processes rarely are at the same one."""

from __future__ import annotations

import itertools
import os

_numbers = itertools.count(os.getpid())


def next_number() -> int:
    """Another one every time."""
    return next(_numbers)
