"""Flows on the stage: text in, record out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handrail.engine.session import Session
from handrail.flow.document import loads
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from handrail.protocol.flow import FlowTrace
from tests.scenario.world import World

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
TROUBLE = "com.handrail.trouble"


async def run(
    w: World, text: str, *, env: dict[str, str] | None = None, path: Path | None = None, **options: Any
) -> FlowRecord:
    """One flow on the world's phone, or on `sessions`."""
    sessions: dict[str, Session] = options.pop("sessions", None) or {"phone": w.session}
    return await FlowRunner(sessions, w.runtime.clock, **options).run(loads(text, path), env)


def trace(record: FlowRecord) -> FlowTrace:
    assert record.trace is not None
    return record.trace


def outcomes(record: FlowRecord) -> list[str]:
    return [step.outcome for step in record.steps]


def journalled(w: World) -> list[dict[str, Any]]:
    """What was accepted: the action, who asked for it and why."""
    return [event for event in w.events() if event["kind"] == "accepted"]
