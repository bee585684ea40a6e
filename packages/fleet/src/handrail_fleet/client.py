"""A caller's side of the head's HTTP door, for people and CI: no Ray, and no member of its cluster."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from handrail.bind import is_loopback, tls_context_trusting
from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.web_server.desk_file import DeskFile
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.transport import HttpLine

TOKEN = "HANDRAIL_FLEET_TOKEN"  # noqa: S105  (a variable's name)
CERTIFICATE = "HANDRAIL_FLEET_CERT"
WATCH_MS = 1_000
PAGE = 1_000
PART_BYTES = 4_000_000
"""Of one request: a head reads 8,000,000."""


class FleetClient:
    """One head."""

    def __init__(self, address: str, token: str, context: ssl.SSLContext | None = None) -> None:
        self.address = address.rstrip("/")
        self._line = HttpLine(self.address, {"Authorization": f"Bearer {token}"}, context)

    @classmethod
    def open(cls, address: str | None, env: Mapping[str, str], *, as_owner: bool = False) -> FleetClient:
        """By the variables, else by what a head of this home has left. `as_owner`: with a person's rights."""
        own = DeskFile.read(private_head(env).desk) or DeskFile.read(Config.from_env(env).desk)
        if address in (None, "", "local"):
            if own is None:
                hint = "Give --fleet http://HEAD:8430, or start `handrail fleet head`."
                raise InvalidAction("No head of a fleet runs in this home", path="fleet", hint=hint)
            address = own.address
        place = urlsplit(str(address))
        is_own = own is not None and own.address == str(address).rstrip("/")
        if place.scheme == "http" and not is_own and not is_loopback(place.hostname or ""):
            _warn_of_plain_text(str(address), env)
        token = env.get(TOKEN, "")
        if own is not None and is_own and (as_owner or not token):
            return cls(own.address, own.key if as_owner else own.token, own.tls)
        if not token:
            hint = f"Set {TOKEN} to the token that `handrail fleet head` keeps in config/desk.json there."
            raise InvalidAction(f"There is no token for {address}", path="fleet", hint=hint)
        certificate = env.get(CERTIFICATE)
        return cls(str(address), token, tls_context_trusting(Path(certificate)) if certificate else None)

    def get(self, path: str, *, wait_ms: float = 0.0) -> Any:
        return json.loads(self._line.ask("GET", path, timeout_s=10 + wait_ms / 1000))

    def post(self, path: str, data: Mapping[str, Any]) -> Any:
        return json.loads(self._line.ask("POST", path, json.dumps(dict(data)).encode(), timeout_s=30))

    def submit(self, units: Sequence[UnitSpec], title: str, *, each_device: bool = False) -> str:
        """In as many requests as it needs: a head reads a few megabytes of each."""
        about = {"title": title, "each_device": each_device}
        part: dict[str, Any] = {}
        *before, last = _in_parts([asdict(unit) for unit in units])
        for some in before:
            part = {
                "part": self.post("/api/fleet/runs", {**about, **part, "units": some, "more": True})["part"]
            }
        return str(self.post("/api/fleet/runs", {**about, **part, "units": last})["run"])

    def watch(self, run: str) -> dict[str, Any]:
        """How it stands now, or when something has changed."""
        found: dict[str, Any] = self.get(f"/api/fleet/runs/{quote(run)}?wait_ms={WATCH_MS}", wait_ms=WATCH_MS)
        return found

    def units(self, run: str) -> Iterator[dict[str, Any]]:
        after = 0
        while page := self.get(f"/api/fleet/runs/{quote(run)}/units?after={after}&limit={PAGE}")["units"]:
            yield from page
            after = page[-1]["number"]

    def unit(self, unit: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/api/fleet/units/{quote(unit)}")
        return found

    def stop(self, run: str) -> None:
        self.post(f"/api/fleet/runs/{quote(run)}/stop", {})

    def status(self, limit: int = 20) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/api/fleet/status?limit={limit}")
        return found

    def file(self, name: str) -> bytes | None:
        """An artefact; None where the head has not got it."""
        try:
            return self._line.ask("GET", f"/api/fleet/files/{quote(name)}", timeout_s=30)
        except InvalidAction:
            return None


def _in_parts(units: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    parts: list[list[dict[str, Any]]] = [[]]
    size = 0
    for unit in units:
        more = len(json.dumps(unit))
        if parts[-1] and size + more > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += more
    return parts


def private_head(env: Mapping[str, str]) -> Config:
    """Of the head that `fleet host` without an address starts beside itself. Its notice ends with it."""
    home = Config.from_env(env).home / "fleet" / "head"
    return Config.from_env({**env, "HANDRAIL_HOME": str(home)})


def _warn_of_plain_text(address: str, env: Mapping[str, str]) -> None:
    """A token in plain text is everybody's who hears the line."""
    if env.get("HANDRAIL_FLEET_TRUSTED_NETWORK") != "1":
        raise InvalidAction(
            f"{address} is plain HTTP to another machine, and would show everybody your token",
            path="fleet",
            hint="Use https://, or set HANDRAIL_FLEET_TRUSTED_NETWORK=1 where no one else is on the network.",
        )
