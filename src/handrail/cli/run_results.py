"""What became of flows, wherever they ran: JUnit, the report, JSON, or a summary for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import print_json

if TYPE_CHECKING:
    from handrail.flow.run_record import FlowRecord


def publish(
    records: list[FlowRecord],
    *,
    junit: Path | None,
    report_to: Path | None,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
) -> None:
    """What became of flows, wherever they ran."""
    from handrail.flow import report  # noqa: PLC0415
    from handrail.flow.report import junit as junit_xml  # noqa: PLC0415
    from handrail.flow.report.summary import summary  # noqa: PLC0415

    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_text(junit_xml.write(records), encoding="utf-8")
    if report_to is not None:
        click.echo(f"report: {report.write(records, report_to)}", err=as_json)
    if as_json:
        print_json({"flows": [_told(record) for record in records], **(more or {})})
    elif records:
        click.echo(summary(records))


def _told(record: FlowRecord) -> dict[str, Any]:
    from handrail.flow.report.time_parts import time_parts  # noqa: PLC0415

    told: dict[str, Any] = {
        "name": record.name,
        "file": record.file,
        "outcome": record.outcome,
        "attempt": record.attempt,
        "durationMs": record.duration_ms,
        "spentMs": {part: round(ms, 1) for part, ms in time_parts(record).items()},
        "device": record.device,
        "journalHead": record.journal_head,
        "trace": record.trace.to_dict() if record.trace else None,
    }
    return told | (
        {"traces": {name: one.to_dict() for name, one in record.traces.items()}} if record.traces else {}
    )
