"""`/api/settings`: what the Settings app shows: rules in words, what is asked by class, home, versions."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sqlite3
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail import __version__
from handrail.engine.approval import AskedApproval
from handrail.engine.policy.in_words import kept, sentence
from handrail.engine.policy.policy import Policy, rulings
from handrail.errors import HandrailError
from handrail.http.context import Context
from handrail.runtime import Runtime

RECENT = 500
"""Questions that are counted."""
FEW = 3
"""Actions that are named; more are called any."""
Counts = Counter[tuple[str, str]]
"""Why it was asked and how it ended → how often."""


async def settings(request: Request) -> JSONResponse:
    """Rules in words, classes of acts with what is decided about them, the home, versions."""
    request.state.visitor.must_be_person("Looking at the settings")
    context: Context = request.app.state.context
    runtime = context.runtime
    counts = _counted(await runtime.approvals.history(RECENT))
    home, versions = await asyncio.gather(
        asyncio.to_thread(_home, runtime.config.home), asyncio.to_thread(_versions)
    )
    return JSONResponse(
        {
            "policy": _policy(runtime, counts),
            "classes": _classes(counts),
            "home": home,
            "versions": versions,
            "agentLine": context.agent_line,
            "mcp": _mcp(request),
            "tokenFile": str(runtime.config.desk),
        }
    )


def _mcp(request: Request) -> str | None:
    """Where programs find MCP here; None where it is not served. Only browsers know the page's own name."""
    if not any(getattr(route, "path", "").startswith("/mcp") for route in request.app.routes):
        return None
    origin, server = request.app.state.context.origin(request), request.scope.get("server")
    if origin.startswith("https:") or server is None:
        return f"{origin}/mcp"
    number = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"http://{number}:{server[1]}/mcp"


def _counted(asked: list[AskedApproval]) -> Counts:
    return Counter((one.request.why, one.state) for one in asked)


def _told(counts: Counts, why: str) -> dict[str, int]:
    """A special case says what it is about before its reason."""
    mine = {key: n for key, n in counts.items() if why and (key[0] == why or key[0].endswith(f"; {why}"))}
    answered = {
        state: sum(n for key, n in mine.items() if key[1] == state) for state in ("approved", "denied")
    }
    return {"asked": sum(mine.values()), **answered}


def _policy(runtime: Runtime, counts: Counts) -> dict[str, Any]:
    """The rules of this moment. A file that can't be used is shown with what is wrong with it."""
    file = runtime.config.policy
    told: dict[str, Any] = {"file": str(file), "exists": file.exists(), "rules": [], "knownHosts": []}
    try:
        now = runtime.policy.current()
    except HandrailError as error:
        return told | {"problem": {"message": error.message, "hint": error.hint}}
    if not isinstance(now, Policy):  # the file changed half a second ago: both versions hold
        return told | {"changing": True}
    rules = [
        {
            "name": rule.name,
            "verdict": rule.verdict,
            "sentence": sentence(rule),
            "kept": kept(rule),
            **_told(counts, rule.why),
        }
        for rule in now.rules
    ]
    return told | {"rules": rules, "knownHosts": sorted(now.known_hosts)}


def _classes(counts: Counts) -> list[dict[str, Any]]:
    """What holds where no rule matches: kinds of acts that are decided alike, the free ones last."""
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, what, ruling in rulings():
        grouped.setdefault((what, ruling.local, ruling.remote, ruling.why), []).append(kind)
    rows = []
    for (what, local, remote, why), kinds in grouped.items():
        names = ", ".join(one.replace("_", " ") for one in kinds)
        if local == remote == "allow":
            title = "Everything else"
        else:
            title = f"{names if len(kinds) <= FEW else 'Any touch or key'} {what}".strip()
        rows.append(
            {
                "title": title,
                "actions": names,
                "local": local,
                "remote": remote,
                "why": why,
                **_told(counts, why),
            }
        )
    return sorted(rows, key=lambda row: row["title"] == "Everything else")


def _home(home: Path) -> dict[str, Any]:
    def size(*files: Path) -> int:
        return sum(one.stat().st_size for one in files if one.is_file())

    return {
        "path": str(home),
        "database": size(*home.glob("handrail.db*")),
        "pictures": size(*(home / "blobs").rglob("*")),
        "free": shutil.disk_usage(home).free,
    }


def _versions() -> list[dict[str, str]]:
    found = {"Handrail": __version__, "Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for name, package in (
        ("Simulator", "handrail-sim"),
        ("MCP library", "mcp"),
        ("Phone helper", "uiautomator2"),
    ):
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    found["System"] = f"{platform.system()} {platform.release()}"
    return [{"name": name, "version": value} for name, value in found.items()]


ROUTES = [Route("/api/settings", settings)]
