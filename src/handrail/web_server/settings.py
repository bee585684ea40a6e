"""`/api/settings`, for the Settings app: rules in words, how often each was asked, home, versions."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sqlite3
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail import __version__
from handrail.errors import HandrailError
from handrail.runtime import Runtime
from handrail.safety.policy import Policy, rulings
from handrail.safety.policy_file import remember_sentence, sentence

if TYPE_CHECKING:
    from handrail.web_server.server import Context

RECENT = 500
"""Questions that are counted."""
MOST_NAMED = 3
"""A class with more actions than this is called "any touch or key"."""
EVERYTHING_ELSE = "Everything else"
Counts = Counter[tuple[str, str]]
"""How often, by the reason for the question and how it ended."""


async def settings(request: Request) -> JSONResponse:
    """Rules in words, classes of acts with what is decided about them, the home, versions."""
    request.state.visitor.must_be_person("Looking at the settings")
    context: Context = request.app.state.context
    runtime = context.runtime
    history = await runtime.approvals.history(RECENT)
    counts: Counts = Counter((approval.request.why, approval.state) for approval in history)
    home, versions = await asyncio.gather(
        asyncio.to_thread(_home, runtime.config.home), asyncio.to_thread(_versions)
    )
    grouped: dict[tuple[str, str, str, str], list[str]] = {}
    for kind, what, ruling in rulings():
        grouped.setdefault((what, ruling.local, ruling.remote, ruling.why), []).append(kind)
    rows = []
    for (what, local, remote, why), kinds in grouped.items():
        names = ", ".join(kind.replace("_", " ") for kind in kinds)
        title = f"{names if len(kinds) <= MOST_NAMED else 'Any touch or key'} {what}".strip()
        if local == remote == "allow":
            title = EVERYTHING_ELSE
        row = {"title": title, "actions": names, "local": local, "remote": remote, "why": why}
        rows.append(row | _asked(counts, why))
    return JSONResponse(
        {
            "policy": _policy(runtime, counts),
            "classes": sorted(rows, key=lambda row: row["title"] == EVERYTHING_ELSE),
            "home": home,
            "versions": versions,
            "agentLine": context.agent_line,
            "mcp": _mcp(request),
            "tokenFile": str(runtime.config.desk),
        }
    )


def _mcp(request: Request) -> str | None:
    """The address of MCP here, None where it is not served. Only browsers can look up the page's own name."""
    if not any(getattr(route, "path", "").startswith("/mcp") for route in request.app.routes):
        return None
    origin, server = request.app.state.context.origin(request), request.scope.get("server")
    if origin.startswith("https:") or server is None:
        return f"{origin}/mcp"
    host = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"http://{host}:{server[1]}/mcp"


def _asked(counts: Counts, why: str) -> dict[str, int]:
    """A special case is asked as `what it is about; why`."""
    states: Counter[str] = Counter()
    for (reason, state), count in counts.items():
        if why and (reason == why or reason.endswith(f"; {why}")):
            states[state] += count
    return {"asked": states.total(), "approved": states["approved"], "denied": states["denied"]}


def _policy(runtime: Runtime, counts: Counts) -> dict[str, Any]:
    """A file that can't be used is shown with what is wrong with it."""
    file = runtime.config.policy
    policy: dict[str, Any] = {"file": str(file), "exists": file.exists(), "rules": [], "knownHosts": []}
    try:
        current = runtime.policy.current()
    except HandrailError as error:
        return policy | {"problem": {"message": error.message, "hint": error.hint}}
    if not isinstance(current, Policy):  # the file changed half a second ago: both versions hold
        return policy | {"changing": True}
    rules = [
        {
            "name": rule.name,
            "verdict": rule.verdict,
            "sentence": sentence(rule),
            "kept": remember_sentence(rule),
            **_asked(counts, rule.why),
        }
        for rule in current.rules
    ]
    return policy | {"rules": rules, "knownHosts": sorted(current.known_hosts)}


def _home(home: Path) -> dict[str, Any]:
    def size(*files: Path) -> int:
        return sum(file.stat().st_size for file in files if file.is_file())

    return {
        "path": str(home),
        "database": size(*home.glob("handrail.db*")),
        "pictures": size(*(home / "blobs").rglob("*")),
        "free": shutil.disk_usage(home).free,
    }


def _versions() -> list[dict[str, str]]:
    versions = {
        "Handrail": __version__,
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    packages = {"Simulator": "handrail-sim", "MCP library": "mcp", "Phone helper": "uiautomator2"}
    for name, package in packages.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            versions[name] = "not installed"
    versions["System"] = f"{platform.system()} {platform.release()}"
    return [{"name": name, "version": number} for name, number in versions.items()]


ROUTES = [Route("/api/settings", settings)]
