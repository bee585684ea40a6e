"""`HANDRAIL_LOG`: how much of what goes on inside is written to standard error."""

from __future__ import annotations

import logging
from typing import get_args

from handrail.config import LogLevel

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_to_stderr(level: str) -> None:
    """Our own loggers only. A word that is no level is left to `Config`, which says so."""
    if level.strip().lower() in get_args(LogLevel):
        logging.basicConfig(format=FORMAT)
        logging.getLogger("handrail").setLevel(level.strip().upper())
