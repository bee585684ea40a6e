"""A collector that is dead, slow, silent or hostile costs no action anything, and a process' end little."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from packages.telemetry.tests.collector import (
    Behaviour,
    answers,
    collecting,
    endless_body,
    hangs_up,
    never_answers,
    never_stops,
    no_http,
    takes,
    trickles,
)

from handrail.cli.doctor import check_collector
from handrail.engine.events import Event, TraceContext, TracedSpan
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.envelope import Envelope
from handrail_telemetry import SessionListener, Telemetry
from handrail_telemetry.collector import open_session, read_collector
from tests.cases import each
from tests.scenario.world import play_live, world
from tests.unit.web_server.push_service import certificate

HOSTILE = {
    "silent": never_answers,
    "slow": trickles,
    "reset": hangs_up,
    "500": answers(500),
    "503": answers(503),
    "404": answers(404),
    "redirect": answers(307),
    "endless": never_stops,
    "no http": no_http,
}
ENOUGH_S = 30.0
"""Far more than anything here may take, and far less than for ever."""


@pytest.mark.parametrize("behaviour", HOSTILE.values(), ids=HOSTILE.keys())
def test_actions_go_on_and_the_end_comes_whatever_the_collector_does(
    behaviour: Behaviour, tmp_path: Path
) -> None:
    async def story() -> None:
        env = {"HANDRAIL_OTLP_ENDPOINT": collector.address}
        async with world(tmp_path, env=env) as here:
            for _ in range(3):
                assert (await here.session.press_key("home")).success

    with collecting(behaviour) as collector:
        play_live(story())
        assert collector.connections
    assert collector.poured < 64_000_000


def test_nobody_listens_and_nobody_notices(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def story() -> None:
        env = {"HANDRAIL_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}
        async with world(tmp_path, env=env) as here:
            assert (await here.session.press_key("home")).success

    play_live(story())


def tell(env: dict[str, str], flows: int = 1) -> None:
    """So many flows have ended, and so has the process."""

    async def story() -> None:
        telemetry = Telemetry(env)
        for _ in range(flows):
            telemetry.queue(TracedSpan("flow", TraceContext(), None, 1))
        await telemetry.close()

    asyncio.run(story())


def test_many_spans_arrive() -> None:
    with collecting() as collector:
        tell({"HANDRAIL_OTLP_ENDPOINT": collector.address}, flows=1_500)
        assert len(collector.spans) == 1_500
        assert collector.counted("handrail.flow.runs") == {(): 1_500}


@pytest.mark.parametrize("status", [200, 202, 204, 400])
def test_what_was_taken_or_refused_is_not_sent_again(status: int) -> None:
    with collecting(answers(status)) as collector:
        tell({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        assert sorted(request.path for request in collector.requests) == ["/v1/metrics", "/v1/traces"]


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail_telemetry.find_spec", lambda name: None)
    with pytest.raises(Unsupported) as refused:
        Telemetry({"HANDRAIL_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    assert "handrail[telemetry]" in refused.value.hint


def test_variables_of_other_programs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as other, collecting() as collector:
        for name, setting in {
            "OTEL_EXPORTER_OTLP_ENDPOINT": other.address,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=private",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "authorization=private",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/private",
            "OTEL_RESOURCE_ATTRIBUTES": "host.name=private",
            "OTEL_SERVICE_NAME": "private",
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "CUMULATIVE",
            "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "base2_exponential_bucket_histogram",
            "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": "true",
            "HTTP_PROXY": other.address,
            "http_proxy": other.address,
        }.items():
            monkeypatch.setenv(name, setting)
        tell({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        assert other.connections == 0
        assert len(collector.spans) == 1
        assert collector.counted("handrail.flow.runs") == {(): 1}
        assert {metric.name for metric in collector.metrics} == {"handrail.flow.runs"}
        assert b"private" not in collector.raw


def test_an_endless_answer_is_not_read() -> None:
    with collecting(endless_body) as collector:
        place = read_collector({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        assert place is not None
        with open_session(place) as session:
            assert session.post(f"{place.url}/v1/traces", b"", timeout=60).status_code == 200


def test_the_doctor_names_the_collector_and_says_whether_it_answers() -> None:
    assert check_collector({}) == []
    assert [one.state for one in check_collector({"HANDRAIL_OTLP_ENDPOINT": "nonsense"})] == ["error"]
    for behaviour, state in ((takes, "ok"), (answers(404), "warning"), (hangs_up, "warning")):
        with collecting(behaviour) as collector:
            env = {"HANDRAIL_OTLP_ENDPOINT": collector.address, "HANDRAIL_OTLP_HEADERS": "key=mine"}
            [check] = check_collector(env)
        assert check.state == state
        assert f"127.0.0.1:{collector.port}" in check.text
        assert "mine" not in str(check)
        assert collector.spans == []


def test_an_event_that_makes_no_sense_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry({})
    ear = SessionListener(telemetry, 1)
    broken = Envelope.model_construct()  # type: ignore[call-arg]

    async def story() -> None:
        ear.put(Event("tap_1_1", "tap", "", "verified", 1, terminal=True, envelope=broken))
        ear.put_span(TracedSpan("model", TraceContext(), None, 1, "never"))  # type: ignore[arg-type]
        await telemetry.close()

    asyncio.run(story())
    assert caplog.text.count("could not be recorded") == 2


ALONE = """
import asyncio, os, sys
from handrail import simulated_phone
from handrail.runtime import Runtime

async def main():
    async with simulated_phone() as serial, Runtime.open() as runtime:
        session = await runtime.session(serial, helper="none")
        assert (await session.press_key("home")).success
        print("done", flush=True)
        if sys.argv[1:]:
            await asyncio.sleep(60)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
print("over", flush=True)
"""


@pytest.mark.parametrize("words", [[], ["wait"]], ids=["at its end", "by ctrl-c"])
def test_a_process_ends_although_the_collector_never_answers(words: list[str], tmp_path: Path) -> None:
    with collecting(never_answers) as collector:
        env = os.environ | {"HANDRAIL_HOME": str(tmp_path), "HANDRAIL_OTLP_ENDPOINT": collector.address}
        with subprocess.Popen(
            [sys.executable, "-c", ALONE, *words], env=env, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == "done\n"
            if words:
                process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=ENOUGH_S)
        assert (process.returncode, out) == (0, "over\n")
        assert collector.requests


@each(
    "given",
    [
        "localhost:4318", "ftp://x", "https://", "http://x:0", "http://x:99999", "http://u:p@x", "http://x?k=v",
        "http://x#y", "http://x/ y", "http://x/\r\nA: b", "http://[::1", "https://ü b",
    ],
)  # fmt: skip
def test_an_endpoint_that_is_none_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(InvalidAction) as told:
        read_collector({"HANDRAIL_OTLP_ENDPOINT": given})
    assert given not in str(told.value.to_dict())


@each("given", ["key", "a b=c", "a=b\r\nx: y", "Host=x", "Content-Length=1", "a=%0d%0ax", "=x"])
def test_a_header_that_could_be_another_is_refused(given: str) -> None:
    with pytest.raises(InvalidAction) as told:
        read_collector({"HANDRAIL_OTLP_ENDPOINT": "https://x", "HANDRAIL_OTLP_HEADERS": given})
    assert given not in told.value.message


def test_a_key_does_not_travel_in_plain_text_to_another_machine() -> None:
    env = {"HANDRAIL_OTLP_ENDPOINT": "http://collector:4318/base/", "HANDRAIL_OTLP_HEADERS": "key=a%2Cb"}
    with pytest.raises(InvalidAction):
        read_collector(env)
    place = read_collector(env | {"HANDRAIL_OTLP_ENDPOINT": "https://collector/base/"})
    assert place is not None
    assert (place.url, place.headers) == ("https://collector/base", {"key": "a,b"})
    assert repr(place) == "collector:443"
    assert read_collector({"HANDRAIL_OTLP_ENDPOINT": "http://collector:4318"})
    assert read_collector({"HANDRAIL_OTLP_HEADERS": "key=v"}) is None


def test_headers_and_the_path_reach_the_collector() -> None:
    with collecting() as collector:
        env = {"HANDRAIL_OTLP_ENDPOINT": f"{collector.address}/base/", "HANDRAIL_OTLP_HEADERS": "x-key=abc"}
        tell(env)
    assert {one.path for one in collector.requests} == {"/base/v1/traces", "/base/v1/metrics"}
    assert all(b"\r\nx-key: abc\r\n" in one.head + b"\r\n" for one in collector.requests)


def test_the_thread_is_not_there_before_there_is_something_to_tell() -> None:
    with collecting() as collector:
        telemetry = Telemetry({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        before = threading.active_count()
        asyncio.run(telemetry.close())
        assert threading.active_count() == before
        assert collector.connections == 0


@pytest.mark.parametrize("is_trusted", [True, False])
def test_over_tls_only_a_collector_with_a_good_certificate_gets_anything(
    is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(pair[0]) if is_trusted else "/dev/null")
    with collecting(certificate=pair) as collector:
        tell({"HANDRAIL_OTLP_ENDPOINT": f"https://localhost:{collector.port}"})
    assert len(collector.requests) == (2 if is_trusted else 0)
    assert collector.connections
