"""Which lines of some files run, as `sys.settrace` tells it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any


class Trace:
    """From `start` to `stop`, notes every line of these files that runs, and the functions they are in."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = frozenset(map(str, files))
        self.lines: set[tuple[str, int]] = set()
        self.functions: set[tuple[str, str]] = set()

    def start(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._files:
            return None
        self.functions.add((code.co_filename, code.co_qualname))
        return self._ran

    def _ran(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._ran
