"""A flow as a unit: its files as data, run on a host, and the records of its attempts as artefacts.

Both ends are here: `bundle` makes the data where the flow's files are, `records_of` reads what came back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handrail.errors import InvalidAction, Unsupported
from handrail.flow.document import FlowDocument, load
from handrail.flow.evidence import ReportEvidence
from handrail.flow.plan import AnyFlow, FlowPlan, PlannedStep, devices_of, plan, real_path
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord, Observer, Picture, StepRecord
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.unit_kind import UnitResult, UnitStage

DEFAULT_ATTEMPTS = 3
MOST_FILES = 500
MOST_TEXT = 2_000_000
MOST_RETRIES = 20
"""Of a flow that failed, in one attempt. A caller's number is only a wish."""


def bundle(
    document: AnyFlow,
    ready: FlowPlan,
    env: Mapping[str, str],
    *,
    retries: int = 0,
    pictures: bool = False,
    refuse: bool = False,
) -> UnitSpec:
    """The flow with every file that it runs. `refuse`: nobody is asked, every question is answered with no.

    Raises where it can't run elsewhere.
    """
    if not isinstance(document, FlowDocument) or document.path is None:
        raise Unsupported(
            f"{document.name}: flows of Maestro run on one machine only",
            hint="`handrail flow convert` makes flows of them that a fleet can run.",
        )
    main = real_path(document.path)
    texts = {real_path(source.path): source.text for source in _sources(ready) if source.path is not None}
    texts[main] = document.text
    root = _common(list(texts))
    files = {str(path.relative_to(root)): text for path, text in texts.items()}
    _check_size(document.name, files)
    said = ready.flow.attempts
    body = {
        "files": files,
        "main": str(main.relative_to(root)),
        "env": dict(env),
        "retries": 0 if said == 1 else retries,
        "pictures": pictures,
        "refuse": refuse,
    }
    once = said == 1
    retry = ready.flow.retry == "lost" and not once
    attempts = said or (DEFAULT_ATTEMPTS if retry else 1)
    phones = max(1, len(devices_of(ready)))
    return UnitSpec(
        "flow", ready.flow.name, body, phones=phones, attempts=attempts, retry_lost=retry, once=once
    )


def _check_size(name: str, files: Mapping[str, str]) -> None:
    if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_TEXT:
        raise InvalidAction(f"{name}: it and the files that it runs are too large for a fleet")


def _sources(ready: FlowPlan) -> Iterator[Any]:
    def inside(steps: Sequence[PlannedStep]) -> Iterator[Any]:
        for step in steps:
            yield step.document
            for inner in step.inner.values():
                yield from inside(inner)

    yield from inside(ready.steps)


def _common(paths: Sequence[Path]) -> Path:
    root = paths[0].parent
    while not all(path.is_relative_to(root) for path in paths):
        root = root.parent
    return root


class FlowKind:
    """Runs one as `handrail run` does."""

    async def run(self, body: Mapping[str, Any], stage: UnitStage) -> UnitResult:
        document = replace(load(_unpack(body, stage.folder)), within=real_path(stage.folder))
        env = {str(name): str(value) for name, value in body.get("env", {}).items()}
        runner = self._runner(plan(document, env), body, stage)
        records: list[FlowRecord] = []
        for attempt in range(1, min(int(body.get("retries", 0)), MOST_RETRIES) + 2):
            stage.renew()
            records.append(await runner.run(document, env, attempt=attempt))
            if records[-1].outcome != "failed":
                break
        last = records[-1]
        data = {
            "records": [stage.keep(_pack(record, stage.keep)) for record in records],
            "duration_ms": last.duration_ms,
            "device": last.device,
        }
        return UnitResult(last.outcome, last.error or "", data)

    def _runner(self, ready: FlowPlan, body: Mapping[str, Any], stage: UnitStage) -> FlowRunner:
        names = devices_of(ready) or ("device",)
        return FlowRunner(
            dict(zip(names, stage.sessions, strict=True)),
            stage.clock,
            observer=_FlowTold(stage),
            evidence=ReportEvidence() if body.get("pictures") else None,
            caller=stage.caller,
            own_phones=stage.own_phones,
        )


class _FlowTold(Observer):
    """How far a flow is, in the words of the table."""

    def __init__(self, stage: UnitStage) -> None:
        self._stage = stage
        self._total = 0

    def flow_started(self, record: FlowRecord, total: int) -> None:  # noqa: ARG002
        self._total = total

    def step_started(self, record: StepRecord) -> None:
        self._stage.said = f"step {record.path[0] + 1} of {self._total}: {record.label}"

    def flow_ended(self, record: FlowRecord) -> None:
        self._stage.said = record.outcome


def _unpack(body: Mapping[str, Any], folder: Path) -> Path:
    """The files in a folder of their own. A name that leads out of it is refused."""
    root = real_path(folder)
    _check_size("the unit", body["files"])
    for name, text in body["files"].items():
        path = real_path(root / name)
        if not path.is_relative_to(root) or path == root:
            raise InvalidAction(f"{name!r:.80} leads out of the unit's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    main = real_path(root / body["main"])
    if not main.is_relative_to(root):
        raise InvalidAction(f"{body['main']!r:.80} leads out of the unit's folder")
    return main


@cache
def _wire() -> TypeAdapter[FlowRecord]:
    return TypeAdapter(FlowRecord)


def _pack(record: FlowRecord, keep: Callable[[bytes], str]) -> bytes:
    """As JSON; each picture is a file of its own, and its name stands in its place."""
    _swap(record.steps, lambda png: keep(png).encode())
    return _wire().dump_json(replace(record, repairs=None))


def records_of(
    result: Mapping[str, Any], fetch: Callable[[str], bytes | None], file: str
) -> list[FlowRecord]:
    """What `run` kept. `fetch` gets artefacts; a picture that is not there leaves the reason in its place."""
    found: list[FlowRecord] = []
    for name in result.get("records", ()):
        data = fetch(name)
        try:
            record = _wire().validate_json(data or b"")
        except ValidationError:
            continue
        _swap(record.steps, lambda name: fetch(name.decode()))
        record.file = file
        found.append(record)
    return found


def _swap(steps: Sequence[StepRecord], change: Callable[[bytes], bytes | None]) -> None:
    for step in steps:
        step.before, step.after = _changed(step.before, change), _changed(step.after, change)
        _swap(step.children, change)


def _changed(picture: Picture | None, change: Callable[[bytes], bytes | None]) -> Picture | None:
    if picture is None or picture.png is None:
        return picture
    data = change(picture.png)
    why_not = picture.why_not if data is not None else "it did not arrive"
    return Picture(data, picture.width, picture.height, why_not)
