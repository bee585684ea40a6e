"""What docs/seeds.md says of words that mean something else here, or that the seeds leave open."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from handrail.desk.windows import LEASE_MS
from handrail.dialects.openpocket import parse_step
from handrail.mcp_server.tools import tools_of_profile
from tests.scenario.test_mcp_answers import CONTACTS
from tests.scenario.world import play, world
from tests.unit.desk.scene import NOW, Scene

ASYNC_RUNNER = play

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join((ROOT / "docs/seeds.md").read_text().split())
TABLE: dict[str, Any] = {"renderer": "text", "data": "x"}


async def test_launch_app_starts_what_the_icon_starts_and_not_by_monkey(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        action = parse_step({"type": "launch_app", "packageName": CONTACTS}).normalised.native
        assert action is not None
        done = await w.session.run(action)
        assert done.success, done.to_json()
        assert (done.verification and done.verification.observed) == CONTACTS
        assert "monkey" not in done.to_json()
    assert "`am start -n`" in PAGE


@pytest.mark.parametrize(
    "given",
    [{"type": "tap"}, {"type": "swipe", "x1": 1}, {"type": "launch_app"}, {"type": "shell"},
     {"type": "run_script"}, {"type": "type", "text": 5}, {"type": "keyevent", "keycode": ["x"]}],
)  # fmt: skip
def test_a_default_that_nobody_meant_is_filled_in_and_not_carried_out(given: dict[str, Any]) -> None:
    normalised = parse_step(given).normalised
    assert normalised.action["type"] == given["type"]
    assert normalised.defaulted
    assert normalised.native is None
    assert normalised.not_executable
    assert "nothing is sent" in PAGE


@pytest.mark.parametrize(("later_ms", "is_held"), [(LEASE_MS - 1, True), (LEASE_MS, False)])
def test_a_lock_is_a_lease_that_runs_out(later_ms: int, is_held: bool) -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    scene.now_ms = NOW + later_ms
    if is_held:
        refusal = scene.rejected("window.setContent", "a", content=TABLE, by="bob")
        assert refusal.details["expires_ms"] == NOW + LEASE_MS
    else:
        scene.do("window.setContent", "a", content=TABLE, by="bob")
    assert f"a lease of {LEASE_MS // 1000} s" in PAGE


def test_what_the_holder_does_renews_its_lease() -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    scene.now_ms = NOW + LEASE_MS - 1
    scene.do("window.setContent", "a", content=TABLE)
    scene.now_ms += LEASE_MS - 1
    assert scene.rejected("window.setContent", "a", content=TABLE, by="bob").details["holder"] == "ada"


def test_the_three_tiers_of_a_capture_are_as_the_page_says() -> None:
    capture = (ROOT / "src/handrail/web/desk/capture.js").read_text()
    assert "foreignObject" in capture
    assert "foreignObject" in PAGE
    assert "html2canvas(" not in capture
    places = [PAGE.index(words) for words in ("tier 1", "tier 2", "tier 3")]
    assert places == sorted(places)


def test_every_parameter_that_the_page_explains_is_declared() -> None:
    declared = {
        name
        for profile in ("mobile_debug", "agentest")
        for tool in tools_of_profile(profile)
        for name in tool.input_schema["properties"]
    }
    explained = {"poll_interval_ms", "match", "retry", "scrollAmount", "maxAttempts", "property", "backend"}
    explained |= {"verbose", "speed", "delay", "platform"}
    assert explained <= declared
    assert not [name for name in explained if not re.search(rf"`\*?\*?{name}", PAGE)]
