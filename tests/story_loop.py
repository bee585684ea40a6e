"""An event loop for tests whose whole world is in this process: nobody waits in it, and load changes nothing.

When nothing is left to run, the loop's time jumps to the next timer. Loopback connections between two ends in
this loop stay in memory, so no bytes are under way while time jumps. Journals write in a thread: time stands
still while anybody waits for one. While a process that the story started runs, time is real.
"""

from __future__ import annotations

import asyncio
import itertools
import selectors
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from types import SimpleNamespace
from typing import Any

from handrail.journal.journal import Journal

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
FIRST_PORT = 61_000
HIGH_WATER = 64 * 1024
STORY_BEGINS_MS = 1_767_607_205_000
"""2026-01-05 10:00:05 UTC: the clock in the status bar changes when a minute of the story has passed, and not
when a minute of the day does."""
REAL_WAIT_S = 0.001
"""How long real sockets and threads may take before it counts as idle."""


class _JumpingSelector(selectors.DefaultSelector):
    """Moves the loop's time instead of waiting."""

    loop: StoryLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)
        if Journal.awaited:
            return super().select(REAL_WAIT_S)
        if self.loop.has_processes():
            began = time.monotonic()
            ready = super().select(timeout)
            self.loop.elapsed += min(timeout, time.monotonic() - began)
            return ready
        if len(self.get_map()) > 1 and (
            ready := super().select(REAL_WAIT_S)
        ):  # more than the loop's own pipe
            return ready
        self.loop.elapsed += timeout
        return []


class _CountingSelector(selectors.DefaultSelector):
    """Counts how long the loop waited, and never more of it than the loop asked for."""

    loop: LiveLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.loop.count_work()
        began = time.monotonic()
        ready = super().select(timeout)
        waited = time.monotonic() - began
        self.loop.elapsed += waited if timeout is None else min(waited, max(0.0, timeout))
        self.loop.worked_until = time.thread_time()
        return ready


class LiveLoop(asyncio.SelectorEventLoop):
    """For tests with processes, browsers and threads, in real time less what a busy machine took from it.

    While the loop works, its time is the processor time that it got: two seconds are not over because other
    programs had the processor for three.
    """

    def __init__(self) -> None:
        self.elapsed = time.monotonic()
        self.worked_until = time.thread_time()
        selector = _CountingSelector()
        selector.loop = self
        super().__init__(selector)

    def count_work(self) -> None:
        self.elapsed += time.thread_time() - self.worked_until
        self.worked_until = time.thread_time()

    def time(self) -> float:
        return self.elapsed + time.thread_time() - self.worked_until


class StoryLoop(asyncio.SelectorEventLoop):
    """A loop whose time jumps, with its own loopback network."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self._listeners: dict[int, _Listener] = {}
        self._ports = itertools.count(FIRST_PORT)
        self._processes: list[asyncio.SubprocessTransport] = []
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.elapsed

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> Any:
        """At once, in this thread: a thread's pace is not ours."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def subprocess_exec(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().subprocess_exec(*args, **options)
        self._processes.append(transport)
        return transport, protocol

    def has_processes(self) -> bool:
        return any(process.get_returncode() is None for process in self._processes)

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> Any:
        if host not in LOOPBACK or options.get("sock") or options.get("ssl"):
            return await super().create_server(protocol_factory, host, port, **options)
        number = port or next(self._ports)
        if number in self._listeners:
            raise OSError(98, "address already in use")
        listener = self._listeners[number] = _Listener(self, protocol_factory, host, number)
        return listener

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> Any:
        listener = self._listeners.get(port) if host in LOOPBACK and not options.get("ssl") else None
        if listener is None and isinstance(port, int) and port >= FIRST_PORT and host in LOOPBACK:
            raise ConnectionRefusedError(111, "Connection refused")
        if listener is None:
            return await super().create_connection(protocol_factory, host, port, **options)
        client, server = protocol_factory(), listener.factory()
        near, far = _Pipe(self, client, (host, port)), _Pipe(self, server, (host, next(self._ports)))
        near.peer, far.peer = far, near
        listener.pipes.add(far)
        client.connection_made(near)
        server.connection_made(far)
        return near, client

    def forget(self, port: int) -> None:
        self._listeners.pop(port, None)


class _Listener(asyncio.AbstractServer):
    """A port of the loop's own network."""

    def __init__(
        self, loop: StoryLoop, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> None:
        self.loop, self.factory, self.port = loop, factory, port
        self.pipes: set[_Pipe] = set()
        self.sockets = (SimpleNamespace(getsockname=lambda: (host, port), family=2),)

    def close(self) -> None:
        self.loop.forget(self.port)

    def close_clients(self) -> None:
        for pipe in self.pipes:
            pipe.close()

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)

    def is_serving(self) -> bool:
        return self.port in self.loop._listeners

    def get_loop(self) -> StoryLoop:
        return self.loop


class _Pipe(asyncio.Transport):
    """One end of a connection in memory."""

    peer: _Pipe

    def __init__(self, loop: StoryLoop, protocol: Any, address: tuple[str, int]) -> None:
        super().__init__({"peername": address, "sockname": address})
        self._loop, self._protocol = loop, protocol
        self._unread: deque[bytes] = deque()
        self._size = 0
        self._is_reading, self._is_scheduled = True, False
        self._is_closed, self._has_ended, self._peer_waits = False, False, False
        self._high = HIGH_WATER

    # what the owner calls

    def write(self, data: Any) -> None:
        if data and not self._is_closed and not self.peer._is_closed:
            self.peer._receive(bytes(data))

    def is_closing(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._loop.call_soon(self._protocol.connection_lost, None)
            self.peer._end()

    def abort(self) -> None:
        self.close()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.peer._end()

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self._schedule()

    def is_reading(self) -> bool:
        return self._is_reading

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del low
        self._high = HIGH_WATER if high is None else high

    def get_write_buffer_size(self) -> int:
        return self.peer._size

    # what the other end causes

    def _receive(self, data: bytes) -> None:
        self._unread.append(data)
        self._size += len(data)
        if self._size > self.peer._high and not self._peer_waits:
            self._peer_waits = True
            self.peer._protocol.pause_writing()
        self._schedule()

    def _end(self) -> None:
        self._has_ended = True
        self._schedule()

    def _schedule(self) -> None:
        if self._is_reading and not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._is_scheduled = False
        while self._unread and self._is_reading and not self._is_closed:
            data = self._unread.popleft()
            self._size -= len(data)
            self._protocol.data_received(data)
        if self._peer_waits and self._size <= self.peer._high // 4:
            self._peer_waits = False
            if not self.peer._is_closed:
                self.peer._protocol.resume_writing()
        if self._has_ended and not self._unread and not self._is_closed and not self._protocol.eof_received():
            self.close()


class StoryClock:
    """The loop's time as a `Clock`."""

    def __init__(self) -> None:
        self.timer = f"story-{id(self)}"

    def now_ms(self) -> int:
        return STORY_BEGINS_MS + int(self.monotonic_ms())

    def monotonic_ms(self) -> float:
        return asyncio.get_running_loop().time() * 1000

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(max(0.0, duration_ms) / 1000)
