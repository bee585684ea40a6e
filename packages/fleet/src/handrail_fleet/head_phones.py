"""Phones of all hosts on the head's desk: their tiles, their pictures, and people's hands on them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from handrail.protocol.actions import AnyAction
from handrail.safety.caller import Caller
from handrail_fleet.head import FleetHead


class FleetPhones:
    """Fills `http.phone.RemotePhones`."""

    def __init__(self, head: FleetHead) -> None:
        self._head = head
        self._hosts: frozenset[str] = frozenset()

    def has(self, device: str) -> bool:
        """A phone of a host that was there when the wall was last shown."""
        serial, at, host = device.rpartition("@")
        return bool(serial and at) and host in self._hosts

    async def tiles(self) -> list[dict[str, Any]]:
        hosts = await self._head.do(lambda ledger: ledger.hosts())
        self._hosts = frozenset(one["name"] for one in hosts)
        return [_tile(host, phone) for host in hosts if host["alive"] for phone in host["phones"]]

    async def picture(self, device: str) -> bytes:
        serial, _, host = device.rpartition("@")
        told = await self._head.people.order(host, "picture", {"phone": serial})
        return base64.b64decode(told["jpeg"])

    async def ask(
        self, device: str, what: str, person: Caller, action: AnyAction | None = None
    ) -> dict[str, Any]:
        """An order, signed by the head: whoever asks was let in by its door."""
        serial, _, host = device.rpartition("@")
        body: dict[str, Any] = {"phone": serial, "by": person.id, "page": person.page}
        if action is not None:
            body["action"] = action.to_dict()
        return await self._head.people.order(host, what, body)


def _tile(host: Mapping[str, Any], phone: Mapping[str, Any]) -> dict[str, Any]:
    name, labels = f"{phone['serial']}@{host['name']}", phone["labels"]
    return {
        "serial": name,
        "device": name,
        "name": name,
        "given": "",
        "state": "device",
        "usable": True,
        "open": True,
        "model": labels.get("model"),
        "android": labels.get("android"),
        "host": host["name"],
        "held": None,
        "last": None,
    }
