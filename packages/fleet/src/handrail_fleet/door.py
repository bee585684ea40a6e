"""The head's HTTP routes: for callers with Handrail's own tokens, and for hosts with theirs on top."""

from __future__ import annotations

import asyncio
import hmac
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.errors import ActionRejected, InvalidAction
from handrail.web_server.responses import json_object, read_number
from handrail_fleet.head import FleetHead
from handrail_fleet.transport import HOST_HEADER

_OWN = ("incarnation", "ask", "timer", "due_ms")
"""Of the ledger and its hosts: whoever knows a host's incarnation could speak in its name."""


def fleet_routes(head: FleetHead, host_token: str) -> list[Route]:
    """For `http.server.build`: its guard has let in whoever comes here."""
    door = _Door(head, host_token)
    return [
        Route("/api/fleet/host/file/{name}", door.put_file, methods=["PUT"]),
        Route("/api/fleet/host/{call}", door.host_call, methods=["POST"]),
        Route("/api/fleet/status", door.status),
        Route("/api/fleet/runs", door.submit, methods=["POST"]),
        Route("/api/fleet/runs/{run}", door.watch),
        Route("/api/fleet/runs/{run}/units", door.units),
        Route("/api/fleet/runs/{run}/stop", door.stop, methods=["POST"]),
        Route("/api/fleet/units/{unit}", door.unit),
        Route("/api/fleet/files/{name}", door.get_file),
        Route("/api/fleet/hosts/{host}/drain", door.drain, methods=["POST"]),
        Route("/api/fleet/hosts/{host}/down", door.down, methods=["POST"]),
    ]


class _Door:
    def __init__(self, head: FleetHead, host_token: str) -> None:
        self._head = head
        self._host_token = host_token

    def _must_be_host(self, request: Request) -> None:
        given = request.headers.get(HOST_HEADER, "").encode("utf-8", "backslashreplace")
        if not hmac.compare_digest(given, self._host_token.encode()):
            raise ActionRejected("This is for hosts of the fleet", hint="Send the token of hosts as well.")

    async def host_call(self, request: Request) -> JSONResponse:
        self._must_be_host(request)
        data = await json_object(request)
        return JSONResponse(await self._head.answer(request.path_params["call"], data))

    async def put_file(self, request: Request) -> JSONResponse:
        self._must_be_host(request)
        offset, total = read_number(request, "offset", 0, 10**12), read_number(request, "total", 0, 10**12)
        chunk = await request.body()
        return JSONResponse({"have": await self._head.put(request.path_params["name"], offset, total, chunk)})

    async def status(self, request: Request) -> JSONResponse:
        """Hosts with their phones, and the newest runs."""
        hosts = await self._head.do(lambda ledger: ledger.hosts())
        runs = await self._head.do(lambda ledger: ledger.runs(read_number(request, "limit", 20, 1_000)))
        return JSONResponse({"hosts": [self._host(host) for host in hosts], "runs": runs})

    def _host(self, one: dict[str, Any]) -> dict[str, Any]:
        for held in one["held"]:
            held["said"] = self._head.progress.get((held["unit"], held["attempt"]), "")
        return {key: value for key, value in one.items() if key not in _OWN}

    async def submit(self, request: Request) -> JSONResponse:
        given = await json_object(request)
        return JSONResponse(await self._head.submit(given, request.state.visitor.name))

    async def watch(self, request: Request) -> JSONResponse:
        wait_ms = read_number(request, "wait_ms", 0, 20_000)
        return JSONResponse(await self._head.watch(request.path_params["run"], wait_ms))

    async def units(self, request: Request) -> JSONResponse:
        run, after = request.path_params["run"], read_number(request, "after", 0, 10**9)
        limit = read_number(request, "limit", 1_000, 1_000)
        found = await self._head.do(lambda ledger: ledger.units(run, after, limit))
        return JSONResponse({"units": found})

    async def unit(self, request: Request) -> JSONResponse:
        """Every attempt of one unit, and the proofs that came with them."""
        unit = request.path_params["unit"]
        if not unit.replace(".", "").isalnum():
            raise InvalidAction(f"{unit!r:.60} is not a unit", path="unit")
        attempts = await self._head.do(lambda ledger: ledger.attempts(unit))
        told = [{key: value for key, value in attempt.items() if key not in _OWN} for attempt in attempts]
        for one in told:
            one["proof"] = await asyncio.to_thread(self._head.proof, unit, one["attempt"])
        return JSONResponse({"unit": unit, "attempts": told})

    async def get_file(self, request: Request) -> Response:
        data = await asyncio.to_thread(self._head.artefacts.get, request.path_params["name"])
        if data is None:
            raise InvalidAction("There is no such file", path="name")
        return Response(data, media_type="application/octet-stream")

    async def stop(self, request: Request) -> JSONResponse:
        return JSONResponse({"stopped": await self._head.stop(request.path_params["run"])})

    async def drain(self, request: Request) -> JSONResponse:
        """No new units for a host; `{"draining": false}` lets it work again, `{"forget": true}` drops it."""
        request.state.visitor.must_be_person("Draining a host")
        host, given = request.path_params["host"], await json_object(request)
        if given.get("forget") is True:
            await self._head.forget(host)
        else:
            draining = given.get("draining", True) is True
            await self._head.do(lambda ledger: ledger.drain(host, draining))
        return JSONResponse(json.loads(json.dumps({"host": host, **given})))

    async def down(self, request: Request) -> JSONResponse:
        """End a host's agent for good."""
        request.state.visitor.must_be_person("Ending a host")
        return JSONResponse(await self._head.people.order(request.path_params["host"], "down", {}))
