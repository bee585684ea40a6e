"""Whole traces beside the ones that were looked at and kept. HANDRAIL_WRITE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, cast

import pytest

from handrail.config import Helper
from handrail.dialects.agentest import STEPS
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from tests.scenario.world import play, world

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent.parent / "data" / "flows"
FLOWS: dict[str, Helper] = {"touch.json": "none", "two_fingers.json": "u2", "native.yaml": "none"}


def steady(value: Any) -> Any:
    """A trace without what differs from run to run: times, numbers of refs, revisions."""
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if key != "durationMs"}
    if isinstance(value, list):
        return [steady(inner) for inner in value]
    if isinstance(value, str):
        value = re.sub(r"@([a-z])[0-9]+(?:[-,][0-9]+)*", r"@\1", value)
        return re.sub(r"(?m)^(screen .*) r[0-9]+", r"\1", value)
    return value


@pytest.mark.parametrize("name", FLOWS)
def test_a_trace_is_the_one_that_was_kept(tmp_path: Path, name: str) -> None:
    async def story() -> dict[str, Any]:
        async with world(tmp_path, helper=FLOWS[name]) as w:
            record = await FlowRunner({"phone": w.session}, w.runtime.clock).run(load(DATA / name))
            return cast("dict[str, Any]", steady(record.trace.to_dict()))

    told = play(story())
    golden = DATA / f"{Path(name).stem}.trace.json"
    if os.environ.get("HANDRAIL_WRITE_GOLDEN"):
        golden.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    assert told == json.loads(golden.read_text())


def test_the_kept_traces_have_every_one_of_the_twenty_steps() -> None:
    kept = [json.loads(path.read_text()) for path in DATA.glob("*.trace.json")]
    kinds = {result["action"].get("action") for trace in kept for result in trace["results"]}
    assert kinds >= set(STEPS)
    assert len(STEPS) == 20
