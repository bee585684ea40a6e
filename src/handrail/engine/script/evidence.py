"""The folder that every run leaves: `script`, `stdout`, `stderr`, `result.json`, and its own `files/`.

Nothing in it holds a secret, whatever the script did with one.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.clock import iso_time


@dataclass(frozen=True, slots=True)
class Evidence:
    """One run's folder."""

    run_id: str
    folder: Path

    @property
    def files(self) -> Path:
        """Where the script works: it can't reach its own evidence from there."""
        return self.folder / "files"

    @classmethod
    def begin(cls, runs: Path, now_ms: int, script: str) -> Evidence:
        moment = iso_time(now_ms)[:19].replace("-", "").replace(":", "").replace("T", "-")
        evidence = cls(run_id := f"run-{moment}-{secrets.token_hex(3)}", runs / run_id)
        runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        evidence.folder.mkdir(mode=0o700)
        evidence.files.mkdir(mode=0o700)
        evidence.write("script", script)
        return evidence

    def write(self, name: str, text: str) -> None:
        file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)

    def end(self, result: dict[str, Any], redact: Callable[[str], str]) -> None:
        self.write("stdout", result["stdout"])
        self.write("stderr", result["stderr"])
        self.write("result.json", json.dumps(result, ensure_ascii=False, indent=2) + "\n")
        for path in self.files.rglob("*"):
            if path.is_file() and not path.is_symlink():
                _scrub(path, redact)


def _scrub(path: Path, redact: Callable[[str], str]) -> None:
    """The file without secrets; bytes that are no text pass through unchanged."""
    try:
        text = path.read_bytes().decode(errors="surrogateescape")
    except OSError:
        return
    clean = redact(text)
    if clean != text:
        path.write_bytes(clean.encode(errors="surrogateescape"))
