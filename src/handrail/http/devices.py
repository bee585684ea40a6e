"""`/api/devices`: every phone, whether it can be used, whether it is open here, and who holds it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.android.discovery import Found
from handrail.android.serial import canonical
from handrail.engine.leases import Held
from handrail.engine.session import Session
from handrail.runtime import Runtime


async def devices(request: Request) -> JSONResponse:
    """Phones of the adb server, addresses that are known, and those that are open here."""
    runtime: Runtime = request.app.state.context.runtime
    listing = await runtime.devices()
    held = {canonical(one.device): one for one in await runtime.leases.all()}
    opened = {canonical(serial): session for serial, session in runtime.sessions.items()}
    found = {canonical(one.serial): one for one in listing.devices}
    for name, session in opened.items():
        found.setdefault(name, Found(session.serial, via="direct"))
    told = [_device(one, opened.get(name), held.get(name)) for name, one in found.items()]
    return JSONResponse({"devices": told, "notes": list(listing.notes)})


def _device(found: Found, session: Session | None, held: Held | None) -> dict[str, Any]:
    told = found.to_dict() | {"open": session is not None, "held": held.to_dict() if held else None}
    if session is not None:
        told |= {"model": session.facts.model, "android": session.facts.android_version}
    return told


ROUTES = [Route("/api/devices", devices)]
