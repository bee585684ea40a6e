"""Nothing that a screen, a person, a model, a file or a device has said is sent: a marker is put everywhere.

The judge reads the bytes that a collector got and shares nothing with what sent them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from packages.agent.tests.agent_world import Scripted
from packages.telemetry.tests.collector import Collector, attributes, collecting
from packages.telemetry.tests.marker import MARKER, hidden, leaks
from pydantic import BaseModel

from handrail.desk.desk import Desk
from handrail.engine.events import Event, Events, TraceContext, TracedSpan
from handrail.engine.session import Session
from handrail.errors import ERRORS, HandrailError
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import (
    Approval,
    DeviceInfo,
    Envelope,
    EnvelopeTarget,
    ResolvedElement,
    SettleReport,
    SyncReport,
    Verification,
)
from handrail.safety.caller import Caller
from handrail_agent.loop import run_task
from handrail_agent.model import Prompt, Reply, Usage
from handrail_agent.task import Task
from handrail_telemetry import Telemetry
from handrail_telemetry.allowed import ALLOWED, keep_allowed
from tests.scenario.people import answered, at_checkout
from tests.scenario.world import FastClock, World, play_live, world

RULES = f"""
[[rule]]
name = "{MARKER}"
label = ["Pay*"]
verdict = "ask"
why = "{MARKER}"
"""
SECRET = "Hw4yHiddenValueTn6"
"""Another word: the engine hides a secret everywhere, and would hide the marker from the judge."""
CALLER = Caller(MARKER, "agent", "python", asker=MARKER)


def test_the_judge_finds_the_marker_however_it_is_written() -> None:
    for data in hidden(random.Random(1)):
        assert leaks(data), data
    assert not leaks(bytes(range(256)) * 8 + MARKER[:7].encode())


class Exploding:
    """A surface that can do nothing, and says why."""

    def __init__(self, surface: Any, error: Exception) -> None:
        self.surface = surface
        self.error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.surface, name)

    def need(self, _: object) -> Any:
        raise self.error


async def _every_kind_of_end(w: World) -> None:
    """Successes, failures with the marker in whatever they quote, questions, and defects from below."""
    session = w.session
    await w.open("com.google.android.contacts")
    await session.tap("Create new contact", reason=f"I need {MARKER}")
    await session.type_text(MARKER, target="First name", reason=MARKER)
    await session.type_text("${secret:PIN}", target="Last name")
    await session.get_ui_tree()
    await session.screenshot()
    await session.tap(MARKER)
    await session.tap({"text_contains": MARKER, "id": MARKER})
    await session.expect_visible(MARKER, timeout_ms=50)
    await session.expect_text({"text": MARKER}, equals=MARKER, timeout_ms=50)
    await session.wait_for({"visible": MARKER}, timeout_ms=50)
    await session.start_app(f"org.{MARKER}.app")
    for url in (f"https://{MARKER}.example/{MARKER}?{MARKER}={MARKER}", f"{MARKER}://x"):
        task = asyncio.create_task(session.run({"type": "open_url", "url": url}))
        while not task.done():
            for one in await w.runtime.approvals.pending():
                await w.runtime.approvals.answer(one.id, False, MARKER)
            await asyncio.sleep(0)
    await session.set_clipboard(MARKER)
    await session.run({"type": "tap", "target": "1,1", "reason": MARKER, "expect": {"visible": MARKER}})
    await at_checkout(w)
    await answered(w, session.tap({"id": "pay"}, reason=MARKER), yes=False)
    await answered(w, session.tap({"id": "pay"}, reason=MARKER), yes=True)
    for error in (RuntimeError(MARKER), HandrailError(MARKER, hint=MARKER, note=MARKER), OSError(2, MARKER)):
        good, session.surface = session.surface, cast("Any", Exploding(session.surface, error))
        await session.tap("Save")
        session.surface = good


async def _desk(w: World) -> None:
    desk = await Desk.open(w.runtime.store, w.runtime.clock)
    session = w.runtime.attach_desk(desk)
    content = {"renderer": "markdown", "data": MARKER}
    bounds = {"x": 1, "y": 1, "w": 300, "h": 200}
    window = {"type": "window.create", "windowId": MARKER, "title": MARKER, "bounds": bounds}
    await session.run({**window, "content": content, "reason": MARKER})
    await session.run({"type": "window.focus", "windowId": f"no {MARKER}"})
    await desk.close()


async def _flow(w: World, folder: Path) -> None:
    file = folder / f"{MARKER}.yaml"
    file.write_text(
        f"name: {MARKER}\ntags: [{MARKER}]\nenv:\n  WORD: {MARKER}\n"
        f"steps:\n- press_key: home\n- tap: {MARKER}\n"
    )
    record = await FlowRunner({MARKER: w.session}, w.runtime.clock, reason=MARKER).run(load(file))
    assert record.outcome == "failed"


class Refusing(Scripted):
    async def step(self, prompt: Prompt) -> Reply:
        raise HandrailError(MARKER, hint=MARKER)


async def _agents(w: World) -> None:
    models = [
        Scripted(
            Reply(MARKER, {"type": "press_key", "key": "home", "reason": MARKER}, MARKER, Usage(5, 6)),
            f"No action, but {MARKER}",
            Reply(MARKER, {"type": "finish", "message": MARKER}, MARKER, Usage(5, 6)),
            name=f"openai:{MARKER}",
        ),
        Scripted(Reply(MARKER, None, MARKER, refusal=MARKER), name=MARKER),
        Refusing(MARKER, name=MARKER),
    ]
    for model in models:
        await run_task(w.session, Task(f"Do {MARKER}"), model, clock=w.runtime.clock)


def _env(collector: Collector) -> dict[str, str]:
    return {
        "HANDRAIL_OTLP_ENDPOINT": collector.address,
        "HANDRAIL_SECRET_PIN": SECRET,
        "OTEL_SERVICE_NAME": MARKER,
        "OTEL_RESOURCE_ATTRIBUTES": f"host.name={MARKER}",
        "OTEL_EXPORTER_OTLP_HEADERS": f"x={MARKER}",
    }


def test_no_run_on_a_phone_sends_a_marker(tmp_path: Path) -> None:
    home = tmp_path / MARKER

    async def story() -> str:
        async with world(home, clock=FastClock(), env=_env(collector), policy=RULES, caller=CALLER) as w:
            await _every_kind_of_end(w)
            await _desk(w)
            await _flow(w, tmp_path)
            await _agents(w)
            return w.serial

    with collecting() as collector:
        serial = play_live(story())
    assert leaks(collector.raw) == []
    assert leaks(collector.raw, SECRET) == []
    for private in (serial, "contacts", "Create new", "handrail.shop", str(tmp_path), "Pixel"):
        assert private.encode() not in collector.raw
    told = [attributes(one.attributes) for one in collector.spans]
    assert {one.get("handrail.surface") for one in told} >= {"android", "desk"}
    assert {one.get("error.type") for one in told} >= {"ELEMENT_NOT_FOUND", "ACTION_REJECTED", "UNKNOWN"}
    assert {one.get("handrail.approval.decision") for one in told} >= {"approved", "denied"}
    assert {one.get("handrail.agent.outcome") for one in told} >= {"finished", "refused", "failed"}
    assert {one.get("handrail.flow.outcome") for one in told} >= {"failed"}
    assert {one.get("gen_ai.provider.name") for one in told} >= {"openai", "_OTHER"}


def _marked(model: type[BaseModel], **more: Any) -> Any:
    """Every field is the marker, whatever it should be."""
    return model.model_construct(**dict.fromkeys(model.model_fields, MARKER) | more)


def _marked_envelope(kind: str, code: str | None = MARKER) -> Any:
    resolved = _marked(ResolvedElement)
    return _marked(
        Envelope,
        action_type=kind,
        device=_marked(DeviceInfo),
        target=_marked(EnvelopeTarget, selector={MARKER: MARKER}, resolved=resolved),
        verification=_marked(Verification),
        settle=_marked(SettleReport, sync=_marked(SyncReport)),
        approval=_marked(Approval),
        changes=({MARKER: MARKER},),
        diagnostics=(MARKER,),
        timings_ms={MARKER: 5.0, f"settle {MARKER}": 1.0, "total": 9.0, "dispatch": 2.0},
        details={MARKER: [MARKER, {MARKER: MARKER}]},
        failure_code=code,
    )


class Speaker:
    """All of a session that telemetry touches."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.told = Events()
        telemetry.listen(cast("Session", self))

    def events(self, listener: Any) -> Any:
        return self.told.listen(listener)

    def end(self, event: Event, envelope: Any) -> None:
        self.told.publish(event)
        self.told.publish(dataclasses.replace(event, terminal=True, envelope=envelope))


def _event(kind: str) -> Event:
    return Event(f"{MARKER}_1_{kind}", kind, MARKER, "accepted", 5, actor=MARKER, by=MARKER, waits_for=MARKER)


def _work(kind: Any, **more: Any) -> TracedSpan:
    return TracedSpan(kind, TraceContext(), None, 5, **more)


def test_no_field_of_any_event_is_sent_that_is_not_on_the_list() -> None:
    async def story() -> str:
        telemetry = Telemetry({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        speaker = Speaker(telemetry)
        for kind in (*ACTIONS, MARKER):
            for code in (MARKER, None, *list(ERRORS)[:3]):
                speaker.end(_event(kind), _marked_envelope(kind, code))
        for work in ("agent", "flow", "model", MARKER):
            speaker.told.publish_span(_work(work, outcome=MARKER, code=MARKER, maker=MARKER))
            speaker.told.publish_span(_work(work, outcome=MARKER, input_tokens=MARKER))
        await telemetry.close()
        return telemetry.prometheus()

    with collecting() as collector:
        prometheus = play_live(story())
    assert leaks(collector.raw) == []
    assert leaks(prometheus.encode()) == []
    tools = {attributes(one.attributes).get("gen_ai.tool.name") for one in collector.spans}
    assert tools >= {*ACTIONS, "_OTHER"}
    for span in collector.spans:
        assert attributes(span.attributes).keys() <= ALLOWED.keys()
        assert (span.trace_state, len(span.events), len(span.links)) == ("", 0, 0)


WORDS = st.sampled_from([MARKER, f"tap {MARKER}", f"{MARKER}\n", MARKER.encode()])
ANYTHING = st.recursive(
    st.one_of(WORDS, st.text(), st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=4,
)


@given(st.dictionaries(st.one_of(st.sampled_from(sorted(ALLOWED)), st.text(), st.just(MARKER)), ANYTHING))
@settings(max_examples=100)
def test_the_list_lets_nothing_pass_but_its_own_words_and_numbers(given: Mapping[str, Any]) -> None:
    words = {word for one in ALLOWED.values() if isinstance(one.values, frozenset) for word in one.values}
    for name, value in keep_allowed(given).items():
        assert name in ALLOWED
        if isinstance(value, str):
            assert value in words or (name == "handrail.session.id" and int(value, 16) >= 0)
        else:
            assert isinstance(value, bool | int | float)
            assert 0 <= value <= 2**53
