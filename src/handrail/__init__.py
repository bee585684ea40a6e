"""Hands for AI agents on phones, rails for the people who own them.

What is public here is imported when it is first used: a command line should not pay for it.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"

_PUBLIC = {"Runtime": "handrail.runtime", "simulated_phone": "handrail.simulator"}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
