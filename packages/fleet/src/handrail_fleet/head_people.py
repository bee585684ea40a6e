"""Questions of all hosts, asked at the head's own desk and answered by whatever answers there.

A host's question becomes one of the head's: the desk, `handrail approve` and notifications know nothing of
hosts. Its answer goes back as an order, signed, and bound to host, device, action and screen.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from handrail.errors import HandrailError, Timeout
from handrail.journal.signed_note import SigningKey
from handrail.runtime import Runtime
from handrail.safety.approval_request import AuthorizationRequest
from handrail.safety.approval_store import Answer
from handrail.waiting import Background
from handrail_fleet.orders import OrderedHost, binding, signed_order

_log = logging.getLogger(__name__)
KEPT = 1_000
"""Orders of one host that wait to be heard; a host that does not listen loses the oldest."""
ANSWER_S = 8.0
"""A host that has not obeyed by then will not be waited for."""
MOST_PICTURE = 4_000_000


class HostOrders:
    """What waits for one host, in this process: people give orders again after a restart of the head."""

    def __init__(self) -> None:
        self.incarnation = ""
        """Of the process that was heard of last."""
        self.waiting: dict[int, str] = {}
        self.news = asyncio.Event()


class HeadPeople:
    """Both ways, for all hosts."""

    def __init__(self, runtime: Runtime, key: SigningKey) -> None:
        self._runtime = runtime
        self._key = key
        self._orders: dict[str, HostOrders] = {}
        self._asked: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._tasks = Background()
        self._results: dict[tuple[str, int], asyncio.Future[dict[str, Any]]] = {}
        self._last = 0

    @property
    def head_key(self) -> str:
        return str(self._key.verifier)

    def heard(self, host: str, incarnation: str) -> None:
        """A process of a host is there. What was meant for an earlier one is not for it."""
        orders = self._orders.setdefault(host, HostOrders())
        if orders.incarnation != incarnation:
            orders.incarnation = incarnation
            orders.waiting.clear()

    # questions

    def asked(self, host: str, question: Mapping[str, Any]) -> None:
        """Once for each, however often the host tells it."""
        place = (host, str(question["id"]))
        if place not in self._asked:
            self._asked[place] = self._tasks.start(self._ask(host, question), f"{place[1]} of {host}")

    async def closed(self, host: str, id_: str) -> None:
        """It was answered at the host, or nobody needs it any more."""
        task = self._asked.pop((host, id_), None)
        if task is not None and not task.done():
            task.cancel()  # which withdraws it here

    async def _ask(self, host: str, question: Mapping[str, Any]) -> None:
        try:
            request = await self._request(host, question)
            answer = await self._runtime.approvals.ask(request)
            if answer.decision in ("approved", "denied"):
                body = self._answer_body(question, answer, is_secret=request.is_secret)
                await self.order(host, "answer", body)
        except HandrailError as error:
            _log.warning("the answer to %s did not reach %s: %s", question.get("id"), host, error)
        finally:
            self._asked.pop((host, str(question["id"])), None)

    def _answer_body(self, question: Mapping[str, Any], answer: Answer, *, is_secret: bool) -> dict[str, Any]:
        """What was given along is revealed for the host that asked, and for nobody else."""
        body = {"to": binding(question), "approve": answer.approved, "by": answer.by, "note": answer.note}
        if answer.data is not None:
            body["data"] = _revealed(answer.data, self._runtime) if is_secret else answer.data
        return body

    async def _request(self, host: str, question: Mapping[str, Any]) -> AuthorizationRequest:
        """Never remembered here: what a host may remember is its own policy's affair."""
        picture, name = question.get("picture"), None
        if picture and len(picture) <= MOST_PICTURE:
            name = await self._runtime.journal.put_blob(base64.b64decode(picture), "png", no_secret=True)
        return AuthorizationRequest(
            kind=question["kind"],
            action=dict(question["action"]),
            digest=question["digest"],
            device=f"{question['phone']}@{host}",
            fingerprint=question["fingerprint"],
            instruction=question["instruction"],
            reason=question["reason"],
            why=question["why"],
            capability=question["capability"],
            label=question["label"],
            screenshot=name,
            door="fleet",
            asked_by=question["asked_by"],
            asker=f"fleet {host} {question['id']}",
            timeout_ms=int(question["timeout_ms"]),
        )

    # orders

    async def order(self, host: str, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Have a host do it; what it told. Raises `Timeout` where it does not, and then it never will.

        An answer to a question still may: it is bound to what was asked.
        """
        self._last = number = max(self._last + 1, self._runtime.clock.now_ms())
        result: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._results[host, number] = result
        orders = self._orders.setdefault(host, HostOrders())
        to = OrderedHost(host, orders.incarnation)
        orders.waiting[number] = signed_order(self._key, to, number, kind, body)
        while len(orders.waiting) > KEPT:
            del orders.waiting[next(iter(orders.waiting))]
        orders.news.set()
        try:
            async with asyncio.timeout(ANSWER_S):
                told = await result
        except TimeoutError:
            raise Timeout(
                f"{host} has not answered", hint="`handrail fleet status` says if it is there."
            ) from None
        finally:
            self._results.pop((host, number), None)
            if kind != "answer":
                orders.waiting.pop(number, None)
        if "code" in told:
            raise HandrailError(str(told.get("message")), hint=str(told.get("hint")))
        return told

    async def wait_for_orders(self, host: str, incarnation: str, after: int, wait_ms: float) -> list[str]:
        """What is newer than `after`; waits for something."""
        self.heard(host, incarnation)
        orders = self._orders[host]
        self._last = max(self._last, after)  # the clock may have been set back since this number was given
        for number in [one for one in orders.waiting if one <= after]:
            del orders.waiting[number]
        if not orders.waiting:
            orders.news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, wait_ms) / 1000):
                    await orders.news.wait()
        return list(orders.waiting.values()) if orders.incarnation == incarnation else []

    def obeyed(self, host: str, number: int, told: Mapping[str, Any]) -> None:
        found = self._results.get((host, number))
        if found is not None and not found.done():
            found.set_result(dict(told))

    async def close(self) -> None:
        await self._tasks.close()


def _revealed(data: Any, runtime: Runtime) -> Any:
    """Placeholders that were made for this very answer, as what they stand for."""
    if isinstance(data, dict):
        return {key: _revealed(value, runtime) for key, value in data.items()}
    if isinstance(data, list):
        return [_revealed(value, runtime) for value in data]
    return runtime.secrets.fill(data).text if isinstance(data, str) else data
