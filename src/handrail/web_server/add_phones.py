"""New phones from the page: a simulated one, or a real one that is paired by a QR code.

What a cable needs is only explained: nothing on this side can press a phone's switches.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.android.discovery import server_of
from handrail.android.usb import switch_on, usb_phones
from handrail.android.wireless import Invitation, RememberedPhones, pair_phone, wait_for_invited
from handrail.errors import HandrailError, InvalidAction
from handrail.runtime import Runtime
from handrail.simulator import simulated_phones
from handrail.waiting import Background
from handrail.web_server.pages import qr_picture

MOST_SIMULATED = 4
"""Phones that pages may start; each holds some 60 MB."""
PATIENCE_MS = 180_000.0
"""For somebody to find the phone's dialog and to hold the phone to the screen."""


@dataclass(slots=True)
class PhonePairing:
    """One QR code on a page, and how far its pairing is."""

    invitation: Invitation
    picture: str
    state: str = "waiting"
    """waiting, paired, ready or failed"""
    say: str = "Waiting for a phone to read the code."
    hint: str = ""
    device: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"state": self.state, "say": self.say, "hint": self.hint, "device": self.device}


class AddedPhones:
    """Phones that people add from a page of one server. They end with it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulated = 0
        self._simulators = Background()
        self._pairing_tasks = Background()
        self.pairing: PhonePairing | None = None

    async def simulate(self) -> str:
        if self._simulated >= MOST_SIMULATED:
            raise InvalidAction(
                f"The page starts at most {MOST_SIMULATED} simulated phones",
                path="",
                hint="`handrail serve --sim N` starts more.",
            )
        self._simulated += 1
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._simulators.start(self._simulate(self._simulated, ready), "a simulated phone")
        try:
            address = await ready
            await self._runtime.session(address)
        except BaseException:
            self._simulated -= 1
            raise
        return address

    async def _simulate(self, number: int, ready: asyncio.Future[str]) -> None:
        """Opened and closed in one task, which owns everything that the phone holds."""
        config = self._runtime.config
        phones = simulated_phones(
            1,
            clock=self._runtime.clock,
            seed=config.sim_seed + number - 1,
            apps=config.sim_apps,
            serial=f"handrail-sim-desk-{number}",
        )
        try:
            async with phones as [phone]:
                ready.set_result(phone.address)
                await asyncio.Event().wait()
        except HandrailError as error:
            if ready.done():
                raise
            ready.set_exception(error)

    async def invite(self) -> PhonePairing:
        """Makes a new QR code; the one before is no longer valid."""
        await self._pairing_tasks.close()
        await server_of(self._runtime.config, self._runtime.clock, self._runtime.env).start()
        invitation = Invitation.new()
        picture = await asyncio.to_thread(qr_picture, invitation.text)
        pairing = self.pairing = PhonePairing(invitation, picture)
        self._pairing_tasks.start(self._pair(pairing), "pairing by a QR code")
        return pairing

    async def _pair(self, pairing: PhonePairing) -> None:
        runtime, invitation = self._runtime, pairing.invitation
        server = server_of(runtime.config, runtime.clock, runtime.env)

        def on_paired(guid: str) -> None:
            pairing.state, pairing.say = "paired", f"Paired with {guid}. Connecting…"

        try:
            phone = await wait_for_invited(invitation, runtime.clock, PATIENCE_MS)
            serial = await pair_phone(
                phone.address, invitation.password, server, RememberedPhones(runtime.config.home),
                runtime.clock,
                report=on_paired,
            )  # fmt: skip
            session = await runtime.session(serial)
        except HandrailError as error:
            pairing.state, pairing.say, pairing.hint = "failed", error.message, error.hint or ""
        else:
            pairing.state, pairing.device = "ready", session.serial
            pairing.say = f"{session.facts.model} is here."

    async def close(self) -> None:
        await self._pairing_tasks.close()
        await self._simulators.close()


def _added_phones(request: Request) -> AddedPhones:
    request.state.visitor.must_be_person("Bringing a phone in")
    added_phones: AddedPhones = request.app.state.context.added_phones
    return added_phones


async def simulate(request: Request) -> JSONResponse:
    """Start a simulated phone; it ends with the server."""
    return JSONResponse({"device": await _added_phones(request).simulate()})


async def invite(request: Request) -> JSONResponse:
    """A QR code that a phone with wireless debugging reads to be paired."""
    started = await _added_phones(request).invite()
    return JSONResponse({**started.to_dict(), "picture": started.picture, "seconds": PATIENCE_MS / 1000})


async def pairing(request: Request) -> JSONResponse:
    """How far the pairing by the QR code is."""
    current = _added_phones(request).pairing
    return JSONResponse(current.to_dict() if current else {"state": "none"})


async def cable(request: Request) -> JSONResponse:
    """What to do on a phone with a cable, and which phones this machine sees on one."""
    _added_phones(request)
    phones = await asyncio.to_thread(usb_phones) if sys.platform == "linux" else None
    rows = [
        {"name": phone.name, "debugging": phone.debugging, "steps": switch_on(phone.vendor)}
        for phone in phones or ()
    ]
    return JSONResponse({"steps": switch_on(), "phones": rows})


ROUTES = [
    Route("/api/phones/simulated", simulate, methods=["POST"]),
    Route("/api/phones/pairing", invite, methods=["POST"]),
    Route("/api/phones/pairing", pairing),
    Route("/api/phones/cable", cable),
]
