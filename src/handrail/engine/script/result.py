"""How a run ended: what callers get and what `result.json` holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """Without secrets, whatever the script printed."""

    ok: bool
    run_id: str
    run_dir: Path
    exit_code: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    duration_ms: int = 0
    stdout: str = ""
    stderr: str = ""
    refused: str | None = None
    """Why nothing was run, or why it was ended early."""
    hint: str | None = None
    network_cut: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "run_dir": str(self.run_dir)}
