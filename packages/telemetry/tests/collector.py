"""A collector as far as a client can tell: real sockets, OTLP over HTTP, read by OpenTelemetry's own classes.

It keeps every byte that came in. It can behave badly, too: say nothing, say it slowly, hang up, never stop.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Value = str | int | float | bool
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class Request:
    """One POST."""

    head: bytes
    body: bytes

    @property
    def path(self) -> str:
        return self.head.split(b" ", 2)[1].decode()


Behaviour = Callable[["Collector", socket.socket, Request], None]


def takes(collector: Collector, line: socket.socket, request: Request) -> None:
    line.sendall(OK)


def never_answers(collector: Collector, line: socket.socket, request: Request) -> None:
    collector.ended.wait()


def trickles(collector: Collector, line: socket.socket, request: Request) -> None:
    """A letter now and then, and never a whole line."""
    with contextlib.suppress(OSError):
        while not collector.ended.wait(0.05):
            line.sendall(b"H")


def hangs_up(collector: Collector, line: socket.socket, request: Request) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end


def answers(status: int) -> Behaviour:
    def behave(collector: Collector, line: socket.socket, request: Request) -> None:
        line.sendall(OK.replace(b"200 OK", b"%d No" % status))

    return behave


def never_stops(collector: Collector, line: socket.socket, request: Request) -> None:
    """A first line without an end."""
    collector.poured = 0
    with contextlib.suppress(OSError):
        while not collector.ended.is_set():
            collector.poured += line.send(b"x" * 65536)


def endless_body(collector: Collector, line: socket.socket, request: Request) -> None:
    """A good status, and a body without an end."""
    collector.poured = 0
    with contextlib.suppress(OSError):
        line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not collector.ended.is_set():
            collector.poured += line.send(b"x" * 65536)


def no_http(collector: Collector, line: socket.socket, request: Request) -> None:
    line.sendall(b"\x00\xff\x15\x03SSH-2.0 hello\r\n")


@dataclass
class Collector:
    """What has come in."""

    behaviour: Behaviour = takes
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    poured: int = 0
    ended: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    _came: threading.Condition = field(default_factory=threading.Condition)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def raw(self) -> bytes:
        return b"".join(one.head + one.body for one in self.requests)

    @property
    def spans(self) -> list[Span]:
        parsed = [
            _whole(ExportTraceServiceRequest, one.body) for one in self.requests if one.path == "/v1/traces"
        ]
        return [
            span
            for request in parsed
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def metrics(self) -> list[Metric]:
        parsed = [
            _whole(ExportMetricsServiceRequest, one.body)
            for one in self.requests
            if one.path == "/v1/metrics"
        ]
        return [
            metric
            for request in parsed
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]

    def counted(self, name: str) -> dict[tuple[tuple[str, Value], ...], float]:
        """Of one counter or histogram: how often, by its attributes."""
        found: dict[tuple[tuple[str, Value], ...], float] = {}
        for metric in self.metrics:
            if metric.name != name:
                continue
            for point in metric.sum.data_points:
                key = tuple(sorted(attributes(point.attributes).items()))
                found[key] = found.get(key, 0) + point.as_int
            for one in metric.histogram.data_points:
                key = tuple(sorted(attributes(one.attributes).items()))
                found[key] = found.get(key, 0) + one.count
        return found

    def wait_for(self, condition: Callable[[], object]) -> bool:
        with self._came:
            return self._came.wait_for(lambda: bool(condition()), timeout=60)

    def keep(self, request: Request) -> None:
        with self._came:
            self.requests.append(request)
            self._came.notify_all()


def attributes(pairs: object) -> dict[str, Value]:
    """As plain data; each value has exactly one kind."""
    found: dict[str, Value] = {}
    for pair in pairs:  # type: ignore[attr-defined]
        assert isinstance(pair, KeyValue)
        kind = pair.value.WhichOneof("value")
        assert kind in ("string_value", "bool_value", "int_value", "double_value")
        assert pair.key not in found
        found[pair.key] = getattr(pair.value, kind)
    return found


def _whole(kind: Any, body: bytes) -> Any:
    """Every byte is a field that the schema knows, and nothing is lost when it is written again."""
    message = kind()
    message.ParseFromString(body)
    written = message.SerializeToString(deterministic=True)
    message.DiscardUnknownFields()
    assert message.SerializeToString(deterministic=True) == written
    return message


def _read(line: socket.socket) -> Request | None:
    got = b""
    while b"\r\n\r\n" not in got:
        if not (more := line.recv(65536)):
            return None
        got += more
    head, _, body = got.partition(b"\r\n\r\n")
    length = next(
        int(one.split(b":")[1]) for one in head.split(b"\r\n") if one.lower().startswith(b"content-length")
    )
    while len(body) < length:
        if not (more := line.recv(65536)):
            return None
        body += more
    return Request(head, body)


@contextmanager
def collecting(
    behaviour: Behaviour = takes, certificate: tuple[Path, Path] | None = None
) -> Iterator[Collector]:
    """One that listens while the block runs; with a certificate and its key, by TLS."""
    collector = Collector(behaviour)
    lines: list[threading.Thread] = []
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate else None
    if tls is not None and certificate is not None:
        tls.load_cert_chain(*certificate)

    def serve(raw: socket.socket) -> None:
        with contextlib.ExitStack() as ends, contextlib.suppress(OSError):
            line = ends.enter_context(raw)
            if tls is not None:
                line = ends.enter_context(tls.wrap_socket(raw, server_side=True))
            if (request := _read(line)) is not None:
                collector.keep(request)
                collector.behaviour(collector, line, request)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = listener.accept()
                collector.connections += 1
                lines.append(threading.Thread(target=serve, args=[line]))
                lines[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        collector.port = listener.getsockname()[1]
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield collector
        finally:
            collector.ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for one in lines:
                one.join()
