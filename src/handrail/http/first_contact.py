"""From a desk without a phone to one with: a simulated phone, or a real one that reads a QR code off a page.

What a cable needs is told in words: nothing on this side can press a phone's switches.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.android.contact.known_phones import KnownPhones
from handrail.android.contact.pairing import invited, paired
from handrail.android.contact.usb import switch_on, usb_phones
from handrail.android.contact.wireless import Invitation
from handrail.android.discovery import server_of
from handrail.errors import HandrailError, InvalidAction
from handrail.http.pages import qr_picture
from handrail.runtime import Runtime
from handrail.simulator import simulated_phones
from handrail.waiting import Background

MOST_SIMULATED = 4
"""Phones that pages may start; each holds some 60 MB."""
PATIENCE_MS = 180_000.0
"""For somebody to find the phone's dialog and to hold it to the screen."""


@dataclass(slots=True)
class PhonePairing:
    """One QR code on a page, and what has come of it."""

    invitation: Invitation
    picture: str
    state: str = "waiting"
    """waiting, paired, ready or failed"""
    say: str = "Waiting for a phone to read the code."
    hint: str = ""
    device: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"state": self.state, "say": self.say, "hint": self.hint, "device": self.device}


class FirstContacts:
    """Phones that people bring in from a page of one server. They leave with it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulated = 0
        self._living = Background()
        self._reading = Background()
        self.pairing: PhonePairing | None = None

    async def simulate(self) -> str:
        """One more simulated phone; its address."""
        if self._simulated >= MOST_SIMULATED:
            raise InvalidAction(
                f"{MOST_SIMULATED} simulated phones are the most that the page starts",
                path="",
                hint="`handrail serve --sim N` starts more.",
            )
        self._simulated += 1
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._living.start(self._simulate(self._simulated, ready), "a simulated phone")
        try:
            address = await ready
            await self._runtime.session(address)
        except BaseException:
            self._simulated -= 1
            raise
        return address

    async def _simulate(self, number: int, ready: asyncio.Future[str]) -> None:
        """Open and close in one task: whatever the phone holds belongs to it."""
        config, clock = self._runtime.config, self._runtime.clock
        serial = f"handrail-sim-desk-{number}"
        seed = config.sim_seed + number - 1
        try:
            async with simulated_phones(1, clock=clock, seed=seed, apps=config.sim_apps, serial=serial) as [
                one
            ]:
                ready.set_result(one.address)
                await asyncio.Event().wait()
        except HandrailError as error:
            if ready.done():
                raise
            ready.set_exception(error)

    async def invite(self) -> PhonePairing:
        """A new QR code; the one before counts no more."""
        await self._reading.close()
        server = server_of(self._runtime.config, self._runtime.clock, self._runtime.env)
        await server.start()
        invitation = Invitation.new()
        made = self.pairing = PhonePairing(invitation, await asyncio.to_thread(qr_picture, invitation.text))
        self._reading.start(self._pair(made), "pairing by a QR code")
        return made

    async def _pair(self, pairing: PhonePairing) -> None:
        runtime, invitation = self._runtime, pairing.invitation
        server = server_of(runtime.config, runtime.clock, runtime.env)

        def told(guid: str) -> None:
            pairing.state, pairing.say = "paired", f"Paired with {guid}. Connecting…"

        try:
            found = await invited(invitation, runtime.clock, PATIENCE_MS)
            serial = await paired(
                found.address, invitation.password, server, KnownPhones(runtime.config.home), runtime.clock,
                told=told,
            )  # fmt: skip
            session = await runtime.session(serial)
        except HandrailError as error:
            pairing.state, pairing.say, pairing.hint = "failed", error.message, error.hint or ""
        else:
            pairing.state, pairing.device = "ready", session.serial
            pairing.say = f"{session.facts.model} is here."

    async def close(self) -> None:
        await self._reading.close()
        await self._living.close()


def _asked(request: Request) -> FirstContacts:
    request.state.visitor.must_be_person("Bringing a phone in")
    found: FirstContacts = request.app.state.context.first_contacts
    return found


async def simulate(request: Request) -> JSONResponse:
    """Start a simulated phone; it leaves with the server."""
    return JSONResponse({"device": await _asked(request).simulate()})


async def invite(request: Request) -> JSONResponse:
    """A QR code that a phone with wireless debugging reads to be paired."""
    made = await _asked(request).invite()
    return JSONResponse({**made.to_dict(), "picture": made.picture, "seconds": PATIENCE_MS / 1000})


async def pairing(request: Request) -> JSONResponse:
    """What has come of the QR code."""
    found = _asked(request).pairing
    return JSONResponse(found.to_dict() if found else {"state": "none"})


async def cable(request: Request) -> JSONResponse:
    """What to do on a phone with a cable, and which phones this machine sees on one."""
    _asked(request)
    phones = await asyncio.to_thread(usb_phones) if sys.platform == "linux" else None
    seen = [
        {"name": one.name, "debugging": one.debugging, "steps": switch_on(one.vendor)} for one in phones or ()
    ]
    return JSONResponse({"steps": switch_on(), "phones": seen})


ROUTES = [
    Route("/api/phones/simulated", simulate, methods=["POST"]),
    Route("/api/phones/pairing", invite, methods=["POST"]),
    Route("/api/phones/pairing", pairing),
    Route("/api/phones/cable", cable),
]
