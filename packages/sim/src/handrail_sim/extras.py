"""What optional packages give. Without one the phone lacks a feature, and the log says what brings it."""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec

EXTRAS = {"js": ("_quickjs", "The React lab has no Metro: its JavaScript runs in quickjs-ng.")}
"""Extra -> the module that it brings, and what is missing without it."""
_log = logging.getLogger(__name__)


@cache
def has(extra: str) -> bool:
    """Whether the extra is installed. It is checked once, and a missing one is logged once."""
    module, lack = EXTRAS[extra]
    if find_spec(module) is not None:
        return True
    _log.warning("%s It comes with pip install 'handrail-sim[%s]'", lack, extra)
    return False
