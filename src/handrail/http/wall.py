"""All phones at once: what each is called, who works on it, and what was done on it last; giving a name."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.config import canonical
from handrail.engine.journal.query import Filter
from handrail.errors import InvalidAction
from handrail.http.api import listed_devices
from handrail.http.journal import JournalSearch, read_journal, search
from handrail.http.responses import json_object


async def wall(request: Request) -> JSONResponse:
    """Every phone that can be used, with its name, who has it, and the last thing that was done on it."""
    context = request.app.state.context
    found, _ = await listed_devices(context)
    usable = [
        one for one in found if one.get("usable") is not False and one.get("state", "device") == "device"
    ]
    serials = [str(one["serial"]) for one in usable]
    opened = {canonical(serial): serial for serial in context.runtime.sessions}
    asked = [opened.get(canonical(serial), serial) for serial in serials]  # as the journal knows it
    last = await read_journal(context.runtime, lambda db: [_last(db, serial) for serial in asked])
    names = context.phones.names
    tiles = [
        one | {"device": known, "given": names.get(known), "last": done}
        for one, known, done in zip(usable, asked, last, strict=True)
    ]
    if context.phones.remote is not None:
        tiles += await context.phones.remote.tiles()
    return JSONResponse({"phones": sorted(tiles, key=lambda one: str(one["name"]).casefold())})


def _last(db: sqlite3.Connection, serial: str) -> dict[str, Any] | None:
    """What touched it; looking is nothing that was done."""
    page = search(db, JournalSearch(limit=1, columns=Filter(device=serial), touches_only=True))
    return page.rows[0].to_dict() | {"about": page.rows[0].about} if page.rows else None


async def give_name(request: Request) -> JSONResponse:
    """What people call this phone from now on; an empty name takes it away."""
    request.state.visitor.must_be_person("Naming a phone")
    given = (await json_object(request)).get("name")
    if not isinstance(given, str):
        raise InvalidAction("name: should be a text", path="name")
    phones, device = request.app.state.context.phones, request.path_params["device"]
    session = await phones.session(device)
    phones.names.give(session.serial, given)
    return JSONResponse({"device": session.serial, "name": phones.name(session.serial)})


ROUTES = [
    Route("/api/wall", wall),
    Route("/api/phone/{device}/name", give_name, methods=["POST"]),
]
