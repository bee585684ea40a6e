"""A device by its own TCP port: one connection, many streams, made anew when it is lost.

A service is never opened twice: once its OPEN was written, a lost line is the caller's to judge.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from handrail.adb.connection import AdbdConnection
from handrail.adb.link import ACCEPT_HINT
from handrail.adb.stream import DirectStream
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbConnectionError, DeviceError, DeviceOffline
from handrail.waiting import Background, Deadline, Expired

if TYPE_CHECKING:
    from handrail.adb.keys import PrivateKey

PATIENCE_MS = 10_000
"""How long one `open` tries to get a connection, and waits for a person to accept our key."""
REFUSED_MS = 3_000
"""How long it tries where nobody listens any more: adbd itself starts again faster than that."""
FIRST_PAUSE_MS = 50.0
LONGEST_PAUSE_MS = 2_000.0


def _host_keys() -> Sequence[PrivateKey]:
    """Called in a thread: the library behind keys takes its time to load, and most links need none."""
    from handrail.adb.keys import load_keys  # noqa: PLC0415

    return load_keys()


class Direct:
    """A `Link` to `host:port`. Keys are looked for when a device asks for them first."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        keys: Sequence[PrivateKey] | Callable[[], Sequence[PrivateKey]] = _host_keys,
        clock: Clock | None = None,
        patience_ms: float = PATIENCE_MS,
    ) -> None:
        self.host = host
        self.port = port
        self._keys = keys if callable(keys) else lambda: keys
        self._clock = clock or SystemClock()
        self._patience_ms = patience_ms
        self._line: AdbdConnection | None = None
        self._attempts = Background()
        self._attempt: asyncio.Task[AdbdConnection] | None = None
        self._waiting = 0
        self._was_up = False
        self._closed = False

    @property
    def serial(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def connected(self) -> bool:
        """Whether a connection is up at the moment; one that isn't is made by the next `open`."""
        return self._line is not None and self._line.usable

    async def features(self) -> frozenset[str]:
        return frozenset((await self._connected()).banner.features)

    async def open(self, service: str) -> DirectStream:
        line = self._line if self._line is not None and self._line.usable else await self._connected()
        return await line.open(service)

    async def check(self) -> None:
        await self._connected()

    async def close(self) -> None:
        self._closed = True
        await self._attempts.close()
        if self._line is not None:
            self._line.abort()
            await asyncio.sleep(0)  # the transport closes its socket in the loop's next turn

    async def _connected(self) -> AdbdConnection:
        """The line, which all who wait for it at the same time get by one attempt."""
        if self._line is not None and self._line.usable:
            return self._line
        if self._closed:
            raise self._was_closed()
        attempt = self._attempt = self._attempt or self._attempts.start(
            self._connect(), f"connecting to {self.serial}", log_failure=False
        )
        self._waiting += 1
        try:
            return await asyncio.shield(attempt)
        except asyncio.CancelledError:
            if attempt.cancelled() and self._closed:
                raise self._was_closed() from None
            raise
        finally:
            self._waiting -= 1
            if attempt.done() or not self._waiting:
                attempt.cancel()
                self._attempt = None if self._attempt is attempt else self._attempt

    def _was_closed(self) -> AdbConnectionError:
        return AdbConnectionError(f"the link to {self.serial} was closed", delivery="not_delivered")

    async def _connect(self) -> AdbdConnection:
        """Try until it works, pausing longer each time; somebody who never was there is not waited for."""
        start, pause = self._clock.monotonic_ms(), FIRST_PAUSE_MS
        while True:
            left = self._patience_ms - (self._clock.monotonic_ms() - start)
            try:
                self._line = await self._once(left)
            except DeviceError as error:
                tried = self._clock.monotonic_ms() - start
                most = min(self._patience_ms, REFUSED_MS) if "refused" in error.details else self._patience_ms
                if not error.retryable or tried + pause >= most:
                    raise self._given_up(error, tried) from None
            else:
                self._was_up = True
                return self._line
            await self._clock.sleep_ms(pause)
            pause = min(pause * 2, LONGEST_PAUSE_MS)

    async def _once(self, left_ms: float) -> AdbdConnection:
        """One connection and its handshake. Errors are `retryable` when another try may help by itself."""
        line = AdbdConnection(self.serial, self._keys)
        loop = asyncio.get_running_loop()
        try:
            async with Deadline(self._clock, max(left_ms, 1)):
                await loop.create_connection(lambda: line, self.host, self.port)
                await line.welcome
        except OSError as error:
            why = f"nobody answers at {self.serial}: {os.strerror(error.errno) if error.errno else error}"
            raise AdbConnectionError(
                why, retryable=self._was_up, delivery="not_delivered", refused=True
            ) from None
        except Expired:
            line.abort()
            raise self._silent(line) from None
        except asyncio.CancelledError:
            line.abort()
            raise
        return line

    def _silent(self, line: AdbdConnection) -> DeviceOffline:
        """It took the connection and never welcomed us."""
        if line.offered:
            why = f"{self.serial} has not authorised this host"
            return DeviceOffline(why, hint=ACCEPT_HINT, state="unauthorized", delivery="not_delivered")
        why = f"{self.serial} takes connections and does not answer"
        hint = "It may be starting up; try again, or reconnect it."
        return DeviceOffline(why, hint=hint, state="offline", delivery="not_delivered")

    def _given_up(self, error: DeviceError, tried_ms: float) -> DeviceError:
        """The last failure, with how long was tried."""
        message = error.message + (
            f" (tried for {tried_ms / 1000:.1f} s)" if tried_ms >= FIRST_PAUSE_MS else ""
        )
        details = {name: value for name, value in error.details.items() if name != "refused"}
        return type(error)(message, hint=error.hint, **{**details, "tried_ms": round(tried_ms)})
