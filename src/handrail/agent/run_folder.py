"""The folder of a run: task.json, steps.jsonl, pictures, result.json, report.html.

A step is on the disk before the next one begins, so that a killed run can be read and resumed. Neither a key
nor a secret's value is ever given to it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handrail.agent.run_data import AgentStep
from handrail.clock import Clock, iso_time
from handrail.errors import InvalidAction

ASKER, TASK, STEPS, RESULT, REPORT, PICTURES = (
    ".asker",
    "task.json",
    "steps.jsonl",
    "result.json",
    "report.html",
    "screenshots",
)


def new_folder(runs: Path, clock: Clock) -> Path:
    """A name that sorts by time; the folder is made when the run begins."""
    moment = iso_time(clock.now_ms())
    stamp = moment[:19].replace("-", "").replace(":", "").replace("T", "-")
    return runs / f"agent-{stamp}-{secrets.token_hex(3)}"


class RunFolder:
    """One run on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def asker(self) -> str:
        """By what the engine knows this run again when it goes on after its process died. Made once."""
        file = self.path / ASKER
        try:
            return file.read_text(encoding="ascii")
        except (OSError, ValueError):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = secrets.token_hex(16)
            file.touch(mode=0o600)
            file.write_text(made, encoding="ascii")
            return made

    def begin(self, task: Mapping[str, Any]) -> None:
        """Only its owner may read it: screens are private."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.path / PICTURES).mkdir(exist_ok=True)
        self._write(TASK, task)

    def add(self, step: AgentStep) -> None:
        """Durable when this returns."""
        line = json.dumps(step.to_dict(), ensure_ascii=False, separators=(",", ":"))
        with (self.path / STEPS).open("a", encoding="utf-8", errors="replace") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())

    def keep_picture(self, number: int, png: bytes) -> str:
        """Its name within the folder."""
        name = f"{PICTURES}/{number:03d}.png"
        (self.path / name).write_bytes(png)
        return name

    def end(self, result: Mapping[str, Any], report: str) -> None:
        self._write(RESULT, result)
        (self.path / REPORT).write_text(report, encoding="utf-8", errors="replace")

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        """Readers see the old file or the new one, never half of one."""
        draft = self.path / f".{name}.{os.getpid()}"
        draft.write_text(
            json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", errors="replace"
        )
        draft.replace(self.path / name)

    # reading

    def task(self) -> dict[str, Any]:
        try:
            value = json.loads((self.path / TASK).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InvalidAction(
                f"{self.path} is not the folder of a run",
                path="resume",
                hint="Give the name of a run, or the path of a folder with task.json.",
            ) from None
        return dict(value)

    def steps(self) -> list[AgentStep]:
        """All that were written whole; a half line at the end is what a killed process leaves."""
        file = self.path / STEPS
        if not file.exists():
            return []
        read: list[AgentStep] = []
        for line in file.read_bytes().split(b"\n"):
            try:
                read.append(AgentStep.read(json.loads(line)))
            except (ValueError, TypeError):
                continue
        return read

    def mend(self) -> None:
        """Cut a half line at the end off: what is added next must begin at a new one."""
        file = self.path / STEPS
        if file.exists():
            data = file.read_bytes()
            file.write_bytes(data[: data.rfind(b"\n") + 1])
