"""People at the head reach this host's phones: its questions go there, answers and orders come back."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from handrail.errors import HandrailError, InvalidAction
from handrail.journal.signed_note import VerifierKey
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Caller
from handrail.waiting import Background
from handrail.web_server.phone import Phones, phone_state, phone_tree
from handrail.web_server.phone_stream import shrink_to_jpeg
from handrail_fleet.host_phones import HostPhone, HostPhones
from handrail_fleet.ledger import StaleHost
from handrail_fleet.orders import OrderedHost, check_binding, question_data, read_order, trusted_key

_log = logging.getLogger(__name__)
ORDERS_WAIT_MS = 10_000.0
LOOK_MS = 1_000.0
"""How soon an end of a question by other ways is told to the head."""
PAUSE_MS = 500.0
Call = Callable[[str, Mapping[str, Any], float], Awaitable[Any]]


class HostPeople:
    """Both ways, for one host."""

    def __init__(self, own: OrderedHost, runtime: Runtime, phones: HostPhones) -> None:
        self._own = own
        self._name = own.name
        self._runtime = runtime
        self._phones = phones
        self._desk = Phones(runtime)
        self._hands = self._desk.control
        self._key: VerifierKey | None = None
        self._told: set[str] = set()
        self._asked = asyncio.Event()
        self._after = 0
        self.says_no: Callable[[str], bool] = lambda asker: False  # noqa: ARG005
        """Whether whoever asks so wants every question answered with no."""
        self.on_down: Callable[[], None] = lambda: None
        runtime.approvals.notify = self._notify

    def trust(self, head_key: str) -> None:
        self._key = trusted_key(self._runtime.config.home, head_key)

    async def _notify(self, one: AskedApproval, token: str | None) -> None:  # noqa: ARG002
        if self.says_no(one.request.asker):
            with suppress(HandrailError):  # somebody was quicker
                await self._runtime.approvals.answer(
                    one.id, False, "--approvals fail", note="no one is asked in this run"
                )
            return
        self._asked.set()

    async def asking(self, call: Call) -> None:
        """Questions to the head, until it is cancelled."""
        while True:
            self._asked.clear()
            try:
                await self._tell(call)
            except StaleHost:
                raise
            except HandrailError:
                await self._runtime.clock.sleep_ms(PAUSE_MS)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_MS / 1000 if self._told else None):
                    await self._asked.wait()

    async def _tell(self, call: Call) -> None:
        pending = {one.id: one for one in await self._runtime.approvals.pending()}
        for id_ in [one for one in pending if one not in self._told]:
            told = question_data(pending[id_]) | {"picture": await self._picture(pending[id_])}
            told["phone"] = self._name_of(pending[id_].request.device)
            await call("asked", {"question": told}, 0.0)
            self._told.add(id_)
        for id_ in [one for one in self._told if one not in pending]:
            await call("closed", {"id": id_}, 0.0)
            self._told.discard(id_)

    async def _picture(self, one: AskedApproval) -> str | None:
        name = one.request.screenshot
        png = await asyncio.to_thread(self._runtime.journal.blob, name) if name else None
        return base64.b64encode(png).decode() if png else None

    def _name_of(self, serial: str) -> str:
        found = (phone.name for phone in self._phones.phones.values() if phone.session.serial == serial)
        return next(found, serial)

    async def obeying(self, call: Call) -> None:
        """Orders of the head, until it is cancelled. What it does not sign is not obeyed."""
        async with Background() as doing:
            while True:
                try:
                    answer = await call("orders", {"after": self._after}, ORDERS_WAIT_MS)
                except StaleHost:
                    raise
                except HandrailError:
                    await self._runtime.clock.sleep_ms(PAUSE_MS)
                    continue
                for text in answer["orders"]:
                    self._take(text, call, doing)

    def _take(self, text: str, call: Call, doing: Background) -> None:
        if self._key is None:
            raise AssertionError("orders are heard before the head is known")
        try:
            order = read_order(text, self._key, self._own, self._after)
        except HandrailError as error:
            _log.warning("%s: %s", self._name, error)
            return
        self._after = order["number"]
        doing.start(self._obey(order, call), f"order {order['number']}")

    async def _obey(self, order: Mapping[str, Any], call: Call) -> None:
        try:
            told = await self._ways()[order["kind"]](order["body"])
        except HandrailError as error:
            told = error.to_dict()
        with suppress(HandrailError):
            await call("obeyed", {"number": order["number"], "told": told or {}}, 0.0)

    def _ways(self) -> dict[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any] | None]]]:
        return {
            "answer": self._answer,
            "stop": self._stop,
            "take": self._take_over,
            "hand_back": self._hand_back,
            "touch": self._touch,
            "picture": self._look,
            "state": self._state,
            "tree": self._tree,
            "down": self._down,
        }

    async def _down(self, body: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        self.on_down()
        return {"down": self._name}

    async def _answer(self, body: Mapping[str, Any]) -> None:
        one = await self._runtime.approvals.get(body["to"]["id"])
        check_binding(body, one)
        await self._runtime.approvals.answer(
            one.id, body["approve"], f"{body['by']} at the fleet's head", data=body.get("data"),
            note=body.get("note", ""),
        )  # fmt: skip

    async def _stop(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if body.get("phone"):
            serial = self._phone(body).session.serial
            return {"stopped": await self._runtime.stop(serial, by=_person(body))}
        return {"stopped": await self._runtime.stop(by=_person(body))}

    async def _take_over(self, body: Mapping[str, Any]) -> dict[str, Any]:
        await self._hands.take(self._phone(body).session.serial, _person(body))
        return await self._state(body)

    async def _hand_back(self, body: Mapping[str, Any]) -> dict[str, Any]:
        await self._hands.hand_back(self._phone(body).session.serial, _person(body))
        return await self._state(body)

    async def _touch(self, body: Mapping[str, Any]) -> None:
        action = action_from(dict(body["action"]))
        await self._hands.touch(self._phone(body).session, action, _person(body))

    async def _look(self, body: Mapping[str, Any]) -> dict[str, Any]:
        png = await self._phone(body).session.screens.reader.screenshot()
        small = await asyncio.to_thread(shrink_to_jpeg, png)
        return {"jpeg": base64.b64encode(small.jpeg).decode()}

    async def _tree(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return await phone_tree(self._desk, self._phone(body).session, _person(body), is_fresh=True)

    async def _state(self, body: Mapping[str, Any]) -> dict[str, Any]:
        phone = self._phone(body)
        told = await phone_state(self._desk, phone.session.serial, _person(body))
        return told | {"device": f"{phone.name}@{self._name}", "name": f"{phone.name}@{self._name}"}

    def _phone(self, body: Mapping[str, Any]) -> HostPhone:
        found = self._phones.phones.get(str(body.get("phone")))
        if found is None:
            raise InvalidAction(f"{self._name} has no phone {body.get('phone')!r:.60}")
        return found

    async def close(self) -> None:
        await self._desk.close()


def _person(body: Mapping[str, Any]) -> Caller:
    """Somebody before a page of the head's desk: the head has checked that."""
    return Caller(str(body.get("by") or "person"), "person", "desk", page=str(body.get("page") or "fleet"))
