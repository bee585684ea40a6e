"""One tap on a simulated phone, as a collector sees it; and what an action is part of."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from packages.telemetry.tests.collector import Collector, attributes, collecting

from handrail.engine.events import TraceContext, read_traceparent, within_trace
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from handrail_agent.loop import run_task
from handrail_agent.model import Reply, Usage
from handrail_agent.models import ScriptedModel
from handrail_agent.task import Task
from tests.cases import each
from tests.scenario.world import World, play_live, world

SETTINGS = "com.android.settings"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def named(collector: Collector, name: str) -> list[Span]:
    return [one for one in collector.spans if one.name == name]


def env(collector: Collector) -> dict[str, str]:
    return {"HANDRAIL_OTLP_ENDPOINT": collector.address}


def test_a_tap_is_one_span_whose_phases_are_its_children_and_fill_it(tmp_path: Path) -> None:
    async def story() -> dict[str, float]:
        async with world(tmp_path, env=env(collector)) as here:
            await here.open(SETTINGS)
            envelope = await here.session.tap("Display")
            assert envelope.success
            return dict(envelope.timings_ms or {})

    with collecting() as collector:
        timings = play_live(story())
    [tap] = named(collector, "execute_tool tap")
    told = attributes(tap.attributes)
    assert told["gen_ai.operation.name"] == "execute_tool"
    assert told["gen_ai.tool.name"] == "tap"
    assert told["handrail.delivery"] == "delivered"
    assert told["handrail.surface"] == "android"
    assert tap.status.code == 0
    assert not tap.parent_span_id
    assert tap.end_time_unix_nano - tap.start_time_unix_nano == round(timings["total"] * 1e6)
    phases = [one for one in collector.spans if one.parent_span_id == tap.span_id]
    lasted = {
        attributes(one.attributes)["handrail.phase"]: one.end_time_unix_nano - one.start_time_unix_nano
        for one in phases
    }
    assert lasted == {name: round(ms * 1e6) for name, ms in timings.items() if ms > 0 and name != "total"}
    assert {one.trace_id for one in phases} == {tap.trace_id}
    starts = sorted((one.start_time_unix_nano, one.end_time_unix_nano) for one in phases)
    assert starts[0][0] == tap.start_time_unix_nano
    assert all(end == start for (_, end), (start, _) in pairwise(starts))


def test_a_failed_action_has_its_code_and_is_counted(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, env=env(collector)) as here:
            await here.open(SETTINGS)
            assert (await here.session.tap("No such thing")).failure_code == "ELEMENT_NOT_FOUND"

    with collecting() as collector:
        play_live(story())
    [tap] = named(collector, "execute_tool tap")
    assert tap.status.code == 2
    assert tap.status.message == ""
    assert attributes(tap.attributes)["error.type"] == "ELEMENT_NOT_FOUND"
    key = (("error.type", "ELEMENT_NOT_FOUND"), ("gen_ai.tool.name", "tap"))
    assert collector.counted("handrail.failures") == {key: 1}
    assert sum(collector.counted("handrail.actions").values()) == 2
    assert sum(collector.counted("handrail.action.duration").values()) == 2
    assert sum(collector.counted("handrail.settle.duration").values()) >= 1


async def flow_on(here: World, folder: Path) -> str:
    file = folder / "one.yaml"
    file.write_text(f"name: one\napp: {SETTINGS}\nsteps:\n- tap: Display\n- press_key: back\n")
    record = await FlowRunner({"phone": here.session}, here.runtime.clock).run(load(file))
    return record.outcome


def test_actions_of_a_flow_are_children_of_its_span(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path / "home", env=env(collector)) as here:
            assert await flow_on(here, tmp_path) == "passed"

    with collecting() as collector:
        play_live(story())
    [flow] = named(collector, "flow")
    [tap] = named(collector, "execute_tool tap")
    assert tap.parent_span_id == flow.span_id
    assert tap.trace_id == flow.trace_id
    assert attributes(flow.attributes) == {"handrail.flow.outcome": "passed"}
    assert collector.counted("handrail.flow.runs") == {(("handrail.flow.outcome", "passed"),): 1}


def test_a_run_of_an_agent_has_its_models_calls_with_their_tokens(tmp_path: Path) -> None:
    replies = [
        Reply("I go on.", {"type": "press_key", "key": "home"}, "", Usage(100, 7)),
        Reply("It is done.", {"type": "finish", "message": "Done."}, "", Usage(120, 9)),
    ]

    async def story() -> None:
        async with world(tmp_path, env=env(collector)) as here:
            model = ScriptedModel(replies, "openai:private-name")
            result = await run_task(here.session, Task("Go home."), model, clock=here.runtime.clock)
            assert result.outcome == "finished"

    with collecting() as collector:
        play_live(story())
    [run] = named(collector, "invoke_agent")
    told = attributes(run.attributes)
    assert told == {"gen_ai.operation.name": "invoke_agent", "handrail.agent.outcome": "finished"}
    calls = [attributes(one.attributes) for one in named(collector, "chat")]
    assert [one["gen_ai.usage.input_tokens"] for one in calls] == [100, 120]
    assert [one["gen_ai.usage.output_tokens"] for one in calls] == [7, 9]
    assert {one["gen_ai.provider.name"] for one in calls} == {"openai"}
    for name in ("chat", "execute_tool press_key", "execute_tool finish"):
        assert {one.parent_span_id for one in named(collector, name)} == {run.span_id}
    [usage] = [one for one in collector.metrics if one.name == "gen_ai.client.token.usage"]
    sums = {attributes(one.attributes)["gen_ai.token.type"]: one.sum for one in usage.histogram.data_points}
    assert sums == {"input": 220, "output": 16}


def test_an_action_belongs_to_the_trace_that_its_task_is_in(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, env=env(collector)) as here:
            with within_trace(read_traceparent(PARENT)):
                await here.session.press_key("home")
            with within_trace(read_traceparent(PARENT[:-1] + "0")):  # its own tracer does not record it
                await here.session.press_key("back")

    with collecting() as collector:
        play_live(story())
    [span] = [one for one in collector.spans if one.name == "execute_tool press_key"]
    assert span.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert span.parent_span_id.hex() == "b7ad6b7169203331"
    assert sum(collector.counted("handrail.actions").values()) == 2


@each(
    "given",
    [
        None, 7, "", "00", PARENT.upper(), PARENT + "-more", PARENT + "\n", " " + PARENT, PARENT[:-3],
        "ff" + PARENT[2:], PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
        PARENT.replace("b7ad6b7169203331", "0" * 16), PARENT.replace("a", "g"), "01" + PARENT[2:] + "-" * 600,
        PARENT.replace("0", "٠"),
    ],
)  # fmt: skip
def test_what_is_no_traceparent_is_not_one(given: object) -> None:
    assert read_traceparent(given) is None


def test_a_later_version_of_the_format_may_say_more() -> None:
    found = read_traceparent("cc" + PARENT[2:] + "-what-the-future-will-be-like")
    assert found == TraceContext(
        bytes.fromhex("0af7651916cd43dd8448eb211c80319c"), bytes.fromhex("b7ad6b7169203331")
    )
