"""Runs of flows that a person started at the desk: their steps as they happen, their reports afterwards."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handrail.clock import iso_time
from handrail.engine.events import LONGEST_PATIENCE_MS, Caller
from handrail.engine.journal.head import read_head
from handrail.engine.journal.writer import head_path
from handrail.engine.session import Session
from handrail.errors import HandrailError, InvalidAction
from handrail.flow.document import FlowDocument
from handrail.flow.evidence import ReportEvidence
from handrail.flow.plan import PlannedStep, devices_of, plan
from handrail.flow.report import write
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord, StepRecord
from handrail.runtime import Runtime
from handrail.waiting import Background

FILE = "run.json"
REPORT = "report"
ID = re.compile(r"flow-\d{1,16}-\d{1,6}")
KEPT = 100
"""Runs that the history shows."""


@dataclass(slots=True)
class FlowRun:
    """One run, live or over."""

    id: str
    file: str
    name: str
    devices: dict[str, str]
    started_ms: int
    outcome: str = "running"
    """running, passed, failed or stopped."""
    error: str | None = None
    duration_ms: float = 0.0
    steps: list[dict[str, Any]] = field(default_factory=list)
    has_report: bool = False

    def to_dict(self, *, steps: bool = True) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": self.id,
            "file": self.file,
            "name": self.name,
            "devices": self.devices,
            "started": iso_time(self.started_ms),
            "outcome": self.outcome,
            "error": self.error,
            "duration_ms": self.duration_ms,
            "report": f"/api/flows/runs/{self.id}/report" if self.has_report else None,
            "done": sum(one["outcome"] not in ("waiting", "running") for one in self._outer()),
            "total": len(self._outer()),
        }
        return told | ({"steps": self.steps} if steps else {})

    def _outer(self) -> list[dict[str, Any]]:
        return [one for one in self.steps if len(one["path"]) == 1]

    # what the runner tells

    def flow_started(self, record: FlowRecord, total: int) -> None: ...

    def step_started(self, record: StepRecord) -> None:
        step = self._step(record)
        step |= {"label": record.label, "device": record.device, "outcome": "running"}

    def step_ended(self, record: StepRecord) -> None:
        step = self._step(record)
        step |= {
            "label": record.label,
            "outcome": record.outcome,
            "duration_ms": record.duration_ms,
            "tries": record.tries,
            "code": record.code,
            "error": record.error,
            "hint": record.hint,
            "action_id": record.envelope.action_id if record.envelope else None,
        }

    def flow_ended(self, record: FlowRecord) -> None:
        self.outcome, self.error, self.duration_ms = record.outcome, record.error, record.duration_ms
        for step in self.steps:
            if step["outcome"] in ("waiting", "running"):
                step["outcome"] = "skipped"

    def _step(self, record: StepRecord) -> dict[str, Any]:
        """Inner steps stand behind the last one that began before them."""
        path = list(record.path)
        for step in self.steps:
            if step["path"] == path and step.get("device") in (None, record.device):
                return step
        made: dict[str, Any] = {"path": path, "device": record.device, "outcome": "running"}
        at = sum(one["path"] <= path for one in self.steps)
        self.steps.insert(at, made)
        return made


class Runs:
    """Those of one server, and what earlier ones have left in `runs/`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._runs: dict[str, FlowRun] = {}
        self._running = Background()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._count = 0

    def start(
        self,
        file: str,
        document: FlowDocument,
        sessions: Mapping[str, Session],
        env: Mapping[str, str],
        asker: Caller,
    ) -> FlowRun:
        """Everything that can be wrong with the file is said before a phone is touched.

        The flow acts as itself, through the door and from the place of whoever asked for it.
        """
        ready = plan(document, env)
        now = self._runtime.clock.now_ms()
        self._count += 1
        devices = {name: one.serial for name, one in sessions.items()}
        run = FlowRun(f"flow-{now}-{self._count}", file, ready.flow.name, devices, now)
        run.steps = [_waiting(at, one) for at, one in enumerate(ready.steps)]
        self._runs[run.id] = run
        caller = replace(asker, id=run.name, actor="flow", patience_ms=LONGEST_PATIENCE_MS, page="")
        runner = FlowRunner(
            sessions, self._runtime.clock, observer=run, evidence=ReportEvidence(), caller=caller
        )
        task = self._tasks[run.id] = self._running.start(self._run(run, runner, document, env), run.id)
        task.add_done_callback(lambda _: self._tasks.pop(run.id, None))
        return run

    async def _run(
        self, run: FlowRun, runner: FlowRunner, document: FlowDocument, env: Mapping[str, str]
    ) -> None:
        try:
            record = await runner.run(document, env)
            record.journal_head = str(read_head(head_path(self._runtime.config.home)) or "")
            await asyncio.to_thread(write, [record], self._folder(run.id) / REPORT)
            run.has_report = True
            await asyncio.to_thread(self._save, run)
            del self._runs[run.id]  # it can be read again
        except HandrailError as error:
            run.outcome, run.error = "failed", f"{error.message} {error.hint}"
        except OSError as error:
            run.error = f"The report could not be written: {error}"

    def _save(self, run: FlowRun) -> None:
        folder = self._folder(run.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = run.to_dict() | {"started_ms": run.started_ms}
        redacted = self._runtime.secrets.redact(json.dumps(told, ensure_ascii=False))
        (folder / FILE).write_text(redacted, encoding="utf-8")

    def stop(self, id_: str) -> None:
        """It ends as a record of what was done."""
        if task := self._tasks.get(id_):
            task.cancel()

    def get(self, id_: str) -> FlowRun:
        """Live, or as it was kept."""
        known = self._runs.get(id_) or self._read(id_)
        if known is None:
            raise InvalidAction(f"there is no run {id_[:60]}", path="id", hint="Look at the history of runs.")
        return known

    def history(self) -> list[FlowRun]:
        """Newest first."""
        folders = self._runtime.config.runs.glob("flow-*")
        ids = {path.name for path in folders} | set(self._runs)
        newest = sorted(filter(ID.fullmatch, ids), key=_age, reverse=True)[:KEPT]
        found = (self._runs.get(id_) or self._read(id_) for id_ in newest)
        return [one for one in found if one is not None]

    def report(self, id_: str) -> Path:
        """The page of a run that is over."""
        page = self._folder(self.get(id_).id) / REPORT / "index.html"
        if not page.is_file():
            raise InvalidAction(
                f"{id_} has no report yet", path="id", hint="It is written when the run is over."
            )
        return page

    def _folder(self, id_: str) -> Path:
        return self._runtime.config.runs / id_

    def _read(self, id_: str) -> FlowRun | None:
        if not ID.fullmatch(id_):
            return None
        try:
            told = json.loads((self._folder(id_) / FILE).read_text("utf-8"))
            run = FlowRun(id_, told["file"], told["name"], told["devices"], told["started_ms"])
            run.outcome, run.error, run.duration_ms = told["outcome"], told["error"], told["duration_ms"]
            run.steps, run.has_report = told["steps"], told["report"] is not None
        except (OSError, ValueError, KeyError):  # unfinished when its server died, or not ours
            return None
        return run

    async def close(self) -> None:
        """What runs is stopped, and its record kept."""
        await self._running.close()


def _waiting(at: int, one: PlannedStep) -> dict[str, Any]:
    return {"path": [at], "label": one.label, "device": None, "outcome": "waiting"}


def _age(id_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id_.split("-")[1:])


def names_of(document: FlowDocument, env: Mapping[str, str]) -> tuple[str, ...]:
    """The phones that a flow needs, by name."""
    return devices_of(plan(document, env))
