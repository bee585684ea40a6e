"""Android phones in memory that speak ADB.

`Phone` is one phone, `serve` opens its port, `simulated_phone` does both for the length of a block. They are
imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"

_PUBLIC = {
    "Phone": "handrail_sim.phone",
    "serve": "handrail_sim.adbd.server",
    "simulated_phone": "handrail_sim.served",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
