"""Runs the console script inside the test's own process: its exit code, and what it printed."""

from __future__ import annotations

import gc
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from handrail.cli.main import main


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """What was printed, one JSON document per line."""
        return [json.loads(line) for line in self.out.splitlines()]


Handrail = Callable[..., Finished]


@pytest.fixture
def handrail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Handrail:
    """`handrail("check", "-", stdin=b"{}")`."""

    def run(*arguments: str, stdin: bytes | str = b"") -> Finished:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["handrail", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code: Any = 0
        try:
            main()
        except SystemExit as done:
            code = done.code or 0
        finally:
            gc.enable()  # an action's command turns it off: its process ends there
        printed = capsys.readouterr()
        return Finished(code, printed.out, printed.err)

    return run
