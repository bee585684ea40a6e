"""docs/telemetry.md is right: its spans, its words, its collector. Lists that stand twice say the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import yaml
from packages.agent.tests.agent_world import Scripted, work
from packages.telemetry.tests.collector import attributes, collecting
from packages.telemetry.tests.test_spans import flow_on

from handrail.flow.run_record import Outcome as FlowOutcome
from handrail_agent.run_data import Outcome as AgentOutcome
from handrail_telemetry.allowed import AGENT_OUTCOMES, ALLOWED, FLOW_OUTCOMES, METRICS, PHASES
from tests.scenario.world import FastClock, play_live, world

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "telemetry.md").read_text()


def _rows() -> dict[str, set[str]]:
    """By the first word of a span's name: the attributes that the page says it may have."""
    table = PAGE.partition("## Spans")[2].partition("\n\nNames")[0]
    found = re.findall(r"^\| `(\w+)[^`]*` \|[^|]*\| (.*) \|$", table, flags=re.M)
    return {name: set(re.findall(r"`([^`]+)`", listed)) for name, listed in found}


def test_every_span_has_no_attribute_but_those_on_the_page(tmp_path: Path) -> None:
    async def story() -> None:
        env = {"HANDRAIL_OTLP_ENDPOINT": collector.address}
        async with world(tmp_path / "home", clock=FastClock(), env=env) as here:
            await flow_on(here, tmp_path)
            await here.session.tap("No such thing")
            await work(here, Scripted({"type": "finish", "message": "Done."}, name="anthropic:x"))

    with collecting() as collector:
        play_live(story())
    rows = _rows()
    assert {span.name.split()[0] for span in collector.spans} == rows.keys()
    for span in collector.spans:
        assert attributes(span.attributes).keys() <= rows[span.name.split()[0]], span.name
    on_metrics = {name for one in METRICS.values() for name in one.attributes}
    assert set().union(*rows.values()) | on_metrics == ALLOWED.keys()


def test_the_ends_of_runs_and_flows_are_those_of_their_own_lists() -> None:
    assert frozenset(get_args(FlowOutcome)) == FLOW_OUTCOMES
    limits = {word for part in get_args(AgentOutcome) for word in (get_args(part) or (part,))}
    assert limits == AGENT_OUTCOMES


def test_every_phase_that_the_engine_measures_is_known() -> None:
    """Read from the sources: `run.phase("…")` and `run.waited("…")`."""
    named = {"other"}
    folders = [ROOT / "src" / "handrail" / name for name in ("engine", "safety")]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("phase", "waited"):
                words = [one for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)]
                named |= {one.value for one in words if isinstance(one.value, str)}
    assert named == set(PHASES)


def test_every_metric_is_told_apart_by_words_of_the_list() -> None:
    for metric in METRICS.values():
        assert all(isinstance(ALLOWED[name].values, frozenset) for name in metric.attributes)


def test_the_example_of_a_collector_is_one() -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.S)
    given = yaml.safe_load(text)
    place = given["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    assert f"HANDRAIL_OTLP_ENDPOINT=http://{place}\n" in PAGE
    for pipeline in given["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            assert set(names) <= given[kind].keys()
