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

from handrail.cli.doctor import check_collector
from handrail.engine.events import Event
from handrail.engine.work import TracedWork, TracePlace
from handrail.errors import InvalidAction
from handrail.protocol.envelope import Envelope
from handrail.telemetry import Telemetry
from handrail.telemetry.endpoint import CollectorPlace, post, read_place
from handrail.telemetry.exporter import BATCH, MOST_WAITING, Exporter
from handrail.telemetry.listening import SessionEar
from handrail.telemetry.metrics import Meters
from handrail.telemetry.spans import Span
from tests.scenario.world import play, world
from tests.telemetry.collector import (
    Behaviour,
    Collector,
    answers,
    collecting,
    hangs_up,
    never_answers,
    never_stops,
    no_http,
    takes,
    trickles,
)
from tests.unit.http.push_service import certificate

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


def span() -> Span:
    return Span("flow", TracePlace(), None, 1, 2, {})


def place_of(collector: Collector) -> CollectorPlace:
    return CollectorPlace("127.0.0.1", collector.port)


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
        play(story())
        assert collector.connections
    assert collector.poured < 64_000_000


def test_nobody_listens_and_nobody_notices(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def story() -> None:
        env = {"HANDRAIL_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}
        async with world(tmp_path, env=env) as here:
            assert (await here.session.press_key("home")).success

    play(story())


@pytest.mark.parametrize("name", ["silent", "slow", "endless"])
def test_a_post_ends_with_its_deadline(name: str) -> None:
    """Of the clock only that it ends: an answer that never ends would hold it for ever."""
    with (
        collecting(HOSTILE[name]) as collector,
        pytest.raises(OSError, match=r"timed out|does not answer|no HTTP"),
    ):
        post(place_of(collector), "/v1/traces", b"", 0.2)


def test_what_waits_is_bounded_and_the_newest_stay() -> None:
    with collecting(never_answers) as collector:
        exporter = Exporter(place_of(collector), Meters())
        spans = [span() for _ in range(3 * MOST_WAITING)]
        for one in spans:
            exporter.add([one])
        waiting = list(exporter._waiting)
        assert len(waiting) <= MOST_WAITING
        assert waiting[-1] is spans[-1]
        exporter.close(0.1)


def test_a_batch_that_was_put_off_is_sent_again_and_one_that_was_refused_is_not() -> None:
    for behaviour, again in ((answers(503), True), (answers(400), False)):
        with collecting(behaviour) as collector:
            exporter = Exporter(place_of(collector), Meters())
            exporter.add([span()])
            exporter._wake.set()
            assert collector.wait_for(lambda: collector.requests)
            collector.behaviour = lambda _, line, __: line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            exporter.close(20.0)
            assert (len(collector.spans) == 2) is again


def test_sums_that_were_not_taken_go_with_the_next_ones() -> None:
    with collecting(answers(500)) as collector:
        meters = Meters()
        exporter = Exporter(place_of(collector), meters)
        meters.add("handrail.flow.runs", {})
        exporter.begin()
        exporter._wake.set()
        assert collector.wait_for(lambda: collector.requests)
        collector.behaviour = lambda _, line, __: line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        collector.requests.clear()
        meters.add("handrail.flow.runs", {})
        exporter.close(20.0)
        assert collector.counted("handrail.flow.runs") == {(): 2}


@pytest.mark.parametrize("status", [200, 202, 204])
def test_what_was_taken_is_not_sent_again(status: int) -> None:
    with collecting(answers(status)) as collector:
        exporter = Exporter(place_of(collector), Meters())
        exporter.add([span()])
        exporter._wake.set()
        assert collector.wait_for(lambda: collector.requests)
        exporter.close(20.0)
        assert len(collector.requests) == 1


def test_the_doctor_names_the_collector_and_says_whether_it_answers() -> None:
    assert check_collector({}) == []
    assert [one.state for one in check_collector({"HANDRAIL_OTLP_ENDPOINT": "nonsense"})] == ["error"]
    for behaviour, state in ((takes, "ok"), (answers(404), "warning"), (hangs_up, "warning")):
        with collecting(behaviour) as collector:
            env = {"HANDRAIL_OTLP_ENDPOINT": collector.address, "HANDRAIL_OTLP_HEADERS": "key=mine"}
            [check] = check_collector(env)
        assert check.state == state
        assert f"127.0.0.1:{collector.port}" in check.found
        assert "mine" not in str(check)
        assert collector.spans == []


def test_many_spans_go_in_batches() -> None:
    with collecting() as collector:
        exporter = Exporter(place_of(collector), Meters())
        for _ in range(2 * BATCH + 1):
            exporter.add([span()])
        exporter.close(20.0)
        assert len(collector.spans) == 2 * BATCH + 1


def test_a_fork_leaves_the_thread_and_what_waits_to_its_parent() -> None:
    with collecting() as collector:
        exporter = Exporter(place_of(collector), Meters())
        exporter.add([span()])
        child = os.fork()
        if not child:  # neither waits for a thread that it has not, nor sends what is its parent's
            exporter.add([span()])
            exporter.close(30.0)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        exporter.close(20.0)
        assert len(collector.spans) == 1


def test_an_event_that_makes_no_sense_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry({})
    ear = SessionEar(telemetry, 1)
    broken = Envelope.model_construct()  # type: ignore[call-arg]

    async def story() -> None:
        ear.put(Event("tap_1_1", "tap", "", "verified", 1, terminal=True, envelope=broken))
        ear.put_work(TracedWork("flow", TracePlace(), None, "never"))  # type: ignore[arg-type]
        await telemetry.close()

    asyncio.run(story())
    assert caplog.text.count("could not be counted") == 2


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


@pytest.mark.parametrize(
    "given",
    [
        "localhost:4318", "ftp://x", "https://", "http://x:0", "http://x:99999", "http://u:p@x", "http://x?k=v",
        "http://x#y", "http://x/ y", "http://x/\r\nA: b", "http://[::1", "https://ü b",
    ],
)  # fmt: skip
def test_an_endpoint_that_is_none_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(InvalidAction) as told:
        read_place({"HANDRAIL_OTLP_ENDPOINT": given})
    assert given not in str(told.value.to_dict())


@pytest.mark.parametrize(
    "given", ["key", "a b=c", "a=b\r\nx: y", "Host=x", "Content-Length=1", "a=%0d%0ax", "=x"]
)
def test_a_header_that_could_be_another_is_refused(given: str) -> None:
    with pytest.raises(InvalidAction) as told:
        read_place({"HANDRAIL_OTLP_ENDPOINT": "https://x", "HANDRAIL_OTLP_HEADERS": given})
    assert given not in told.value.message


def test_a_key_does_not_travel_in_plain_text_to_another_machine() -> None:
    env = {"HANDRAIL_OTLP_ENDPOINT": "http://collector:4318/base/", "HANDRAIL_OTLP_HEADERS": "key=a%2Cb"}
    with pytest.raises(InvalidAction):
        read_place(env)
    place = read_place(env | {"HANDRAIL_OTLP_ENDPOINT": "https://collector/base/"})
    assert place == CollectorPlace("collector", 443, "/base", True, (("key", "a,b"),))
    assert "a,b" not in repr(place)
    assert read_place({"HANDRAIL_OTLP_ENDPOINT": "http://collector:4318"})
    assert read_place({"HANDRAIL_OTLP_HEADERS": "key=v"}) is None


def test_headers_and_the_path_reach_the_collector() -> None:
    with collecting() as collector:
        env = {"HANDRAIL_OTLP_ENDPOINT": f"{collector.address}/base/", "HANDRAIL_OTLP_HEADERS": "x-key=abc"}
        telemetry = Telemetry(env)

        async def story() -> None:
            telemetry.note(TracedWork("flow", TracePlace(), None, 1))
            await telemetry.close()

        asyncio.run(story())
    assert {one.path for one in collector.requests} == {"/base/v1/traces", "/base/v1/metrics"}
    assert all(b"\r\nx-key: abc\r\n" in one.head + b"\r\n" for one in collector.requests)


def test_the_thread_is_not_there_before_there_is_something_to_tell() -> None:
    with collecting() as collector:
        telemetry = Telemetry({"HANDRAIL_OTLP_ENDPOINT": collector.address})
        assert "telemetry" not in {one.name for one in threading.enumerate()}
        asyncio.run(telemetry.close())
        assert collector.connections == 0


@pytest.mark.parametrize("is_trusted", [True, False])
def test_over_tls_only_a_collector_with_a_good_certificate_gets_anything(
    is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(pair[0]) if is_trusted else "/dev/null")
    with collecting(certificate=pair) as collector:
        exporter = Exporter(CollectorPlace("localhost", collector.port, is_tls=True), Meters())
        exporter.add([span()])
        exporter.close(20.0)
    assert len(collector.requests) == int(is_trusted)
    assert collector.connections
