"""HTTP/1.1 over a stream of adb, one connection per request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handrail.adb.link import Stream
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, Timeout
from handrail.http_exchange import MAX_BODY, HttpAnswer, HttpExchange, HungUp, NotHttp
from handrail.waiting import Deadline, Expired


class Opens(Protocol):
    """The part of `AdbDevice` and `Link` that is needed here."""

    async def open(self, service: str) -> Stream: ...


class ServerGone(AdbConnectionError):
    """Nothing listens on the port, or the server hung up before it answered."""


@dataclass(frozen=True, slots=True)
class HttpPort:
    """One port of one phone. Errors have `delivery` among their details."""

    device: Opens
    port: int | str
    """A number, or the name of a service that speaks HTTP, such as `localabstract:NAME`."""
    clock: Clock
    max_body: int = MAX_BODY

    async def get(self, path: str, *, timeout_ms: float) -> HttpAnswer:
        return await self._ask("GET", path, b"", timeout_ms)

    async def post(self, path: str, body: bytes, *, timeout_ms: float) -> HttpAnswer:
        """Sends `body`, which is JSON."""
        return await self._ask("POST", path, body, timeout_ms)

    async def _ask(self, method: str, path: str, body: bytes, timeout_ms: float) -> HttpAnswer:
        delivery = "not_delivered"
        what, exchange = f"{method} {path}", HttpExchange(self.max_body)
        is_number = isinstance(self.port, int)
        request = exchange.request(method, path, f"localhost:{self.port}" if is_number else "localhost", body)
        try:
            async with Deadline(self.clock, timeout_ms):
                try:
                    stream = await self.device.open(f"tcp:{self.port}" if is_number else str(self.port))
                except AdbCommandError:
                    hint = "The server on the phone is not running; the other channels go on without it."
                    raise ServerGone(f"nothing listens on port {self.port} of the phone", hint=hint) from None
                try:
                    delivery = "unknown"
                    await stream.write(request)
                    return await exchange.answer(stream)
                except HungUp:
                    why = f"{what}: the server on the phone hung up before it had answered"
                    raise ServerGone(why) from None
                except NotHttp as error:
                    raise AdbConnectionError(f"{what} was not answered in HTTP: {error}") from None
                finally:
                    await stream.close()
        except DeviceError as error:
            error.details.setdefault("delivery", delivery)
            raise
        except Expired:
            reason = f"{what} on port {self.port} of the phone: no answer within {timeout_ms:.0f} ms"
            raise Timeout(reason, retryable=delivery == "not_delivered", delivery=delivery) from None
