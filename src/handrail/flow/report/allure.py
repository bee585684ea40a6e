"""A run as Allure's results: one JSON file per flow, with its steps, and its pictures and logs attached.

The format is that of allure2: https://allurereport.org/docs/how-it-works-test-result-file/
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.flow.report.summary import attempts, failure_message
from handrail.flow.run_record import FlowRecord, StepRecord

_STATUS = {
    "passed": "passed",
    "warned": "passed",
    "failed": "failed",
    "stopped": "broken",
    "skipped": "skipped",
}


def write_allure(records: Sequence[FlowRecord], folder: Path) -> Path:
    """Every attempt is a result of its own; those of one flow share a history id."""
    folder.mkdir(parents=True, exist_ok=True)
    for run in attempts(records):
        for record in run:
            result = _result(record, folder)
            text = json.dumps(result, ensure_ascii=False)
            (folder / f"{result['uuid']}-result.json").write_text(text, encoding="utf-8")
    return folder


def _result(record: FlowRecord, folder: Path) -> dict[str, Any]:
    full_name = f"{record.file}#{record.name}"
    details = {"statusDetails": {"message": record.error}} if record.error else {}
    labels = [{"name": "suite", "value": record.file}, {"name": "host", "value": record.device}]
    return {
        "uuid": str(uuid.uuid4()),
        "historyId": str(uuid.uuid5(uuid.NAMESPACE_URL, full_name)),
        "name": record.name,
        "fullName": full_name,
        "status": _STATUS[record.outcome],
        "start": record.started_ms,
        "stop": record.started_ms + round(record.duration_ms),
        "labels": labels + [{"name": "tag", "value": tag} for tag in record.tags],
        "steps": [_step(step, folder) for step in record.steps],
        **details,
    }


def _step(step: StepRecord, folder: Path) -> dict[str, Any]:
    details = {"statusDetails": {"message": failure_message(step)}} if step.code else {}
    return {
        "name": step.label,
        "status": _STATUS[step.outcome],
        "start": step.started_ms,
        "stop": step.started_ms + round(step.duration_ms),
        "steps": [_step(child, folder) for child in step.children],
        "attachments": attachments(step, folder),
        **details,
    }


def attachments(step: StepRecord, folder: Path) -> list[dict[str, str]]:
    """Writes a step's pictures and log into the folder."""
    written = []
    for name, picture in (("before", step.before), ("after", step.after)):
        if picture is not None and picture.png is not None:
            is_png = picture.png.startswith(b"\x89PNG")
            source = f"{uuid.uuid4()}-attachment.{'png' if is_png else 'jpg'}"
            (folder / source).write_bytes(picture.png)
            written.append({"name": name, "source": source, "type": "image/png" if is_png else "image/jpeg"})
    if step.log:
        source = f"{uuid.uuid4()}-attachment.txt"
        (folder / source).write_text("\n".join(step.log), encoding="utf-8")
        written.append({"name": "log", "source": source, "type": "text/plain"})
    return written
