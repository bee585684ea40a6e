"""Peers that break the protocol or don't read: the phone stays up and its memory stays bounded."""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Iterator

import pytest

from handrail_sim.adbd.wire import MAX_PAYLOAD, VERSION, Command, Packet, Parser, encode
from tests.adb_tools.conftest import SimProcess

pytestmark = pytest.mark.slow

HEADER = struct.Struct("<6I")
MEMORY_MAX = 640
"""MiB at the most, whatever peers do: streams, unread data and unsent answers are all bounded."""
CONNECT = encode(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2,cmd"))


class Peer:
    """A socket to the phone, from which nothing is read unless a test does."""

    def __init__(self, address: str) -> None:
        host, _, port = address.partition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self._parser = Parser(MAX_PAYLOAD)

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except (ConnectionError, TimeoutError):
            return

    def read(self) -> list[Packet]:
        """What the phone sent by the next chunk; nothing when it has hung up."""
        try:
            return list(self._parser.feed(self.socket.recv(1 << 20)))
        except (ConnectionError, TimeoutError):
            return []

    def closed(self) -> bool:
        """Whether the phone hangs up; what it says before does not matter."""
        try:
            while self.socket.recv(1 << 20):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True


@pytest.fixture
def peer(address: str) -> Iterator[Peer]:
    made = Peer(address)
    yield made
    made.socket.close()


def connected(address: str) -> Peer:
    made = Peer(address)
    made.send(CONNECT)
    [welcome] = made.read()
    assert welcome.command == Command.CNXN
    return made


def opened(ident: int, service: bytes) -> bytes:
    return encode(Packet(Command.OPEN, ident, 0, service + b"\0"))


@pytest.fixture(autouse=True)
def _still_up(sim: SimProcess, address: str) -> Iterator[None]:
    """After every abuse a decent host is served."""
    yield
    host = connected(address)
    host.send(opened(1, b"shell:echo alive"))
    got: list[Packet] = []
    while not any(packet.command == Command.WRTE for packet in got):
        got += host.read()
    assert b"alive\n" in [packet.payload for packet in got]
    host.socket.close()
    print(f"peak memory {sim.peak_memory()} MiB")  # noqa: T201  (a figure to be looked at)
    assert sim.peak_memory() < MEMORY_MAX


def test_random_bytes(address: str) -> None:
    chaos = random.Random(1)
    for _ in range(50):
        peer = Peer(address)
        peer.send(chaos.randbytes(chaos.randrange(1, 5000)))
        peer.socket.close()


def test_random_bytes_after_a_good_start(address: str) -> None:
    chaos = random.Random(2)
    for _ in range(50):
        peer = connected(address)
        peer.send(chaos.randbytes(500))
        assert peer.closed()
        peer.socket.close()


def test_random_packets_with_good_headers(address: str) -> None:
    chaos = random.Random(3)
    for _ in range(20):
        peer = connected(address)
        for _ in range(100):
            command = chaos.choice([*Command][2:])
            arg0, arg1 = chaos.choice([0, 1, 2, 2**32 - 1]), chaos.choice([0, 1, 2, 2**32 - 1])
            peer.send(encode(Packet(command, arg0, arg1, chaos.randbytes(chaos.randrange(40)))))
        peer.socket.close()


def test_half_packets(address: str) -> None:
    for cut in range(1, len(CONNECT)):
        peer = Peer(address)
        peer.send(CONNECT[:cut])
        peer.socket.close()


def test_a_wrong_magic(peer: Peer) -> None:
    peer.send(HEADER.pack(Command.CNXN, VERSION, MAX_PAYLOAD, 0, 0, 0))
    assert peer.closed()


def test_a_hundred_megabytes_announced(address: str) -> None:
    for peer in (Peer(address), connected(address)):
        inverted = Command.WRTE ^ 0xFFFFFFFF
        peer.send(HEADER.pack(Command.WRTE, 1, 1, 100_000_000, 0, inverted) + os.urandom(1000))
        assert peer.closed()
        peer.socket.close()


def test_a_thousand_opens_without_reads(address: str) -> None:
    greedy = connected(address)
    greedy.send(
        b"".join(
            opened(ident, b"shell,v2,raw:cat /dev/zero | head -c 300000; seq 1 20000")
            for ident in range(1, 1001)
        )
    )
    greedy.send(b"".join(opened(ident, b"exec:uiautomator dump /dev/tty") for ident in range(1001, 2001)))
    hosts = [connected(address) for _ in range(20)]
    for host in hosts:
        host.send(opened(1, b"shell:uiautomator dump /dev/tty"))
        assert host.read()
        host.socket.close()
    greedy.socket.close()


@pytest.mark.slow
def test_a_million_refused_opens_without_reads(address: str) -> None:
    peer = connected(address)
    peer.socket.settimeout(2)
    refused = opened(9, b"tcp:1") * 10_000
    for _ in range(100):
        try:
            peer.socket.sendall(refused)
        except (TimeoutError, ConnectionError):
            break
    peer.socket.close()


def test_a_host_that_never_waits_for_okay(address: str) -> None:
    peer = connected(address)
    peer.send(opened(1, b"shell,v2,raw:sleep 100"))
    okay = peer.read()[0]
    flood = encode(Packet(Command.WRTE, 1, okay.arg0, bytes(MAX_PAYLOAD)))
    for _ in range(200):
        peer.send(flood)
    peer.socket.close()


def test_standard_input_that_nobody_reads_on_many_streams(address: str) -> None:
    peers = [connected(address) for _ in range(8)]
    for peer in peers:
        peer.send(b"".join(opened(ident, b"shell,v2,raw:sleep 100") for ident in range(1, 101)))
        device: dict[int, int] = {}
        while len(device) < 100:
            device |= {packet.arg1: packet.arg0 for packet in peer.read()}
        for ident, other in device.items():
            peer.send(encode(Packet(Command.WRTE, ident, other, bytes(MAX_PAYLOAD // 2))))
    for peer in peers:
        peer.socket.close()


def test_a_slow_reader_of_a_large_file(address: str) -> None:
    peer = connected(address)
    push = b"/data/local/tmp/slow,33188"
    peer.send(opened(1, b"sync:"))
    okay = peer.read()[0]
    records = struct.pack("<4sI", b"SEND", len(push)) + push
    records += (struct.pack("<4sI", b"DATA", 65536) + bytes(65536)) * 7
    records += struct.pack("<4sI", b"DONE", 0)
    peer.send(encode(Packet(Command.WRTE, 1, okay.arg0, records)))
    peer.send(b"".join(opened(ident, b"exec:cat /data/local/tmp/slow") for ident in range(2, 502)))
    for _ in range(50):
        assert peer.socket.recv(100)
    peer.socket.close()


@pytest.mark.parametrize("command", [b"exec:screencap", b"exec:screencap -p"])
def test_screenshots_that_nobody_takes(address: str, command: bytes) -> None:
    peer = connected(address)
    peer.send(b"".join(opened(ident, command) for ident in range(1, 101)))
    decent = connected(address)
    decent.send(opened(1, b"exec:screencap -p"))
    assert decent.read()
    decent.socket.close()
    peer.socket.close()


def test_more_connections_than_are_allowed(address: str) -> None:
    peers = [Peer(address) for _ in range(300)]
    for peer in peers:
        peer.send(CONNECT[:30])
    assert peers[-1].closed()
    for peer in peers:
        peer.socket.close()
