"""What an app's framework can tell that its accessibility tree can't: whether work goes on, what icons are.

Knows channels and their protocols; when to ask is the engine's business. What is public here is imported when
it is first used: most apps are native, and they should not pay for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.android.sync.detection import Detected, detect
    from handrail.android.sync.framework_sync import FrameworkSync
    from handrail.surface.values import Framework

__all__ = ["Detected", "Framework", "FrameworkSync", "detect"]

_PLACES = {
    "Detected": "detection",
    "detect": "detection",
    "Framework": "kinds",
    "FrameworkSync": "framework_sync",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
