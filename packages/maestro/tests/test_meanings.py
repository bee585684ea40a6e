"""What Maestro's words mean, one small flow of `meanings.yaml` for each meaning, on the simulated phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from packages.maestro.tests.test_maestro import POLICY, failure, ran

from tests.scenario.world import FastClock, play_live, world

MEANINGS = yaml.safe_load(Path(__file__).with_name("meanings.yaml").read_text())


def missing(acts: list[str], journal: list[dict[str, Any]]) -> list[str]:
    """Acts that were not done so often."""
    left = [f"press_key:{act.get('key')}" if act["type"] == "press_key" else act["type"] for act in journal]
    return [act for act in acts if left.count(act) < acts.count(act)]


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda meaning: str(meaning["name"]))
def test_a_word_means_what_it_means_in_maestro(tmp_path: Path, meaning: dict[str, Any]) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=POLICY, clock=FastClock(20)) as w:
            await w.open(meaning["app"])
            record = await ran(
                w, f"appId: {meaning['app']}\n{meaning.get('header', '')}---\n{meaning['flow']}"
            )
            assert (record.outcome == "passed") == meaning.get("passes", True), failure(record)
            accepted = [event["action"] for event in w.events() if event["kind"] == "accepted"]
            assert missing(meaning.get("acts", []), accepted) == [], accepted

    play_live(story())
