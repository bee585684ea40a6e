"""A device at its own TCP port: one connection with many streams, which reconnects.

A service is never opened twice: once its OPEN was written, the caller decides after a lost connection.
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
"""Time that one `open` may take to connect, and to wait for a person to accept our key."""
REFUSED_MS = 3_000
"""Time if nobody listens: adbd restarts faster than that."""
FIRST_PAUSE_MS = 50.0
LONGEST_PAUSE_MS = 2_000.0


def _host_keys() -> Sequence[PrivateKey]:
    """Runs in a thread: the cryptography library loads slowly, and most links do not need it."""
    from handrail.adb.keys import load_or_make_keys  # noqa: PLC0415

    return load_or_make_keys()


class Direct:
    """A `Link` to `host:port`. Keys are loaded when a device asks for them."""

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
        """The next `open` connects if it is not."""
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
        """Concurrent callers share one attempt."""
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
        """Retries with growing pauses, unless the address has never answered."""
        start, pause = self._clock.monotonic_ms(), FIRST_PAUSE_MS
        while True:
            left = self._patience_ms - (self._clock.monotonic_ms() - start)
            try:
                self._line = await self._once(left)
            except DeviceError as error:
                tried = self._clock.monotonic_ms() - start
                most = min(self._patience_ms, REFUSED_MS) if "refused" in error.details else self._patience_ms
                if not error.retryable or tried + pause >= most:
                    message = error.message
                    if tried >= FIRST_PAUSE_MS:
                        message += f" (tried for {tried / 1000:.1f} s)"
                    details = {name: value for name, value in error.details.items() if name != "refused"}
                    details["tried_ms"] = round(tried)
                    raise type(error)(message, hint=error.hint, **details) from None
            else:
                self._was_up = True
                return self._line
            await self._clock.sleep_ms(pause)
            pause = min(pause * 2, LONGEST_PAUSE_MS)

    async def _once(self, left_ms: float) -> AdbdConnection:
        """One connection and its handshake. Errors are `retryable` if another attempt may help."""
        line = AdbdConnection(self.serial, self._keys)
        loop = asyncio.get_running_loop()
        try:
            async with Deadline(self._clock, max(left_ms, 1)):
                await loop.create_connection(lambda: line, self.host, self.port)
                await line.welcome
        except OSError as error:
            why = f"nothing answers at {self.serial}: {os.strerror(error.errno) if error.errno else error}"
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
        """The connection was accepted, but there was no CNXN."""
        if line.offered:
            why = f"{self.serial} has not authorised this host"
            return DeviceOffline(why, hint=ACCEPT_HINT, state="unauthorized", delivery="not_delivered")
        why = f"{self.serial} takes connections and does not answer"
        hint = "It may be starting up; try again, or reconnect it."
        return DeviceOffline(why, hint=hint, state="offline", delivery="not_delivered")
