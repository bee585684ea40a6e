"""The same texts through single commands, the resident process, MCP and Python, on the same phone.

What counts is the field on the phone. A door that has a way that another one lacks is a finding.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.driver.nasty_text import NASTY
from tests.scenario import doors
from tests.scenario.doors import DOORS

KINDS = (
    "plain words", "every printable ASCII", "both quotes", "percent s inside", "umlauts", "Japanese",
    "emoji family", "both directions", "Unicode lines", "list",
)  # fmt: skip
PATIENCE_S = 240.0
NOTES = "com.handrail.notes"
Results = dict[str, tuple[str, Any]]
"""By kind of text: what the field holds afterwards, and the failure's code."""


async def results(name: str, home: Path) -> Results:
    """A fresh phone, and every text after the other into the same field."""
    phone = Phone(clock=SystemClock(), apps=["launcher", "notes"])
    async with serve([phone], port=0) as [served], DOORS[name](home, [served.address]) as door:
        first = {"device": served.address, "reason": "I write a note"}
        assert not (await door.act({"type": "start_app", "package": NOTES, **first})).failed
        assert not (await door.act({"type": "tap", "target": "New note", **first})).failed
        found: Results = {}
        for kind in KINDS:
            action = {"type": "type_text", "text": NASTY[kind], "target": {"id": "body"}, **first}
            told = await door.act({**action, "clear": True})
            phone.catch_up()
            top = phone.tasks.top
            assert top is not None
            code = (told.envelope or {}).get("failure_code")
            found[kind] = (str(getattr(top, "state", {}).get("body")), code)
        return found


@pytest.mark.slow
@pytest.mark.timeout(900)  # a process for every text, and keys one by one without a helper
@pytest.mark.parametrize("helper", ["auto", "none"])
def test_every_door_types_the_same_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helper: str
) -> None:
    plain = doors.environment
    monkeypatch.setattr(doors, "environment", lambda home: plain(home) | {"HANDRAIL_HELPER": helper})
    found = {}
    for name in ("in-process", "mcp-stdio", "commands", "resident"):
        home = tmp_path / name
        home.mkdir(mode=0o700)
        found[name] = asyncio.run(asyncio.wait_for(results(name, home), PATIENCE_S))
    first = found.pop("in-process")
    assert found == dict.fromkeys(found, first)
    for kind, (held, code) in first.items():
        if helper == "auto" or NASTY[kind].isascii():
            assert (held, code) == (NASTY[kind], None), kind
        else:
            assert code is not None, kind
