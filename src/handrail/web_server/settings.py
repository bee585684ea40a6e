"""The Settings app: rules in words and as text, how often each was asked, home, versions."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sqlite3
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import Field

from handrail import __version__
from handrail.errors import ActionRejected, HandrailError, InvalidAction
from handrail.protocol.model import CamelModel
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.policy import Policy, rulings, unreachable
from handrail.safety.policy_file import parse_policy, remember_sentence, sentence
from handrail.safety.subject import Subject, TouchedElement
from handrail.trusted_file import replace_file
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_body

ROUTES = RouteTable()
MOST_POLICY = 1_000_000  # characters of a policy file that a page may send
RECENT = 500  # requests of the history that the Settings app counts
MOST_NAMED = 3  # a class with more actions than this is called "any touch or key"
EVERYTHING_ELSE = "Everything else"
Counts = Counter[tuple[str, str]]
"""Number of requests by reason and outcome."""


@ROUTES("/api/settings", person="Looking at the settings")
async def settings(request: DeskRequest) -> JSON:
    """Rules in words, classes of acts with what is decided about them, the home, versions."""
    runtime = request.runtime
    history = await runtime.approvals.history(RECENT)
    counts: Counts = Counter((approval.request.why, approval.state) for approval in history)
    home, versions = await asyncio.gather(
        asyncio.to_thread(_home_sizes, runtime.config.home), asyncio.to_thread(_version_rows)
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
        rows.append(row | _question_counts(counts, why))
    return {
        "policy": _policy_document(runtime, counts),
        "classes": sorted(rows, key=lambda row: row["title"] == EVERYTHING_ELSE),
        "home": home,
        "versions": versions,
        "agentLine": request.context.agent_line,
        "agentClients": request.context.agent_clients,
        "mcp": _mcp_address(request),
        "tokenFile": str(runtime.config.desk),
    }


def _mcp_address(request: DeskRequest) -> str | None:
    """The address of MCP here, None where it is not served. Only browsers can look up the page's own name."""
    if not any(getattr(route, "path", "").startswith("/mcp") for route in request.app.routes):
        return None
    origin, server = request.context.origin(request), request.scope.get("server")
    if origin.startswith("https:") or server is None:
        return f"{origin}/mcp"
    host = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"http://{host}:{server[1]}/mcp"


def _question_counts(counts: Counts, why: str) -> dict[str, int]:
    """How often requests with this reason were made, approved and denied. A special case has `CASE;
    REASON`."""
    states: Counter[str] = Counter()
    for (reason, state), count in counts.items():
        if why and (reason == why or reason.endswith(f"; {why}")):
            states[state] += count
    return {"asked": states.total(), "approved": states["approved"], "denied": states["denied"]}


def _policy_document(runtime: Runtime, counts: Counts) -> dict[str, Any]:
    """The file, its rules in words; for a file that can't be used, what is wrong with it."""
    file = runtime.config.policy
    policy: dict[str, Any] = {"file": str(file), "exists": file.exists(), "rules": [], "knownHosts": []}
    if file.is_file():
        policy["text"] = file.read_text("utf-8", "replace")
    try:
        current = runtime.policy.current()
    except HandrailError as error:
        return policy | {"problem": {"message": error.message, "hint": error.hint}}
    if not isinstance(current, Policy):  # the file changed half a second ago: both versions hold
        return policy | {"changing": True}
    return policy | _rules_in_words(current, counts)


def _rules_in_words(policy: Policy, counts: Counts) -> dict[str, Any]:
    dead = unreachable(policy.rules)
    rules = [
        {
            "name": rule.name,
            "verdict": rule.verdict,
            "sentence": sentence(rule),
            "kept": remember_sentence(rule),
            "unreachable": dead.get(at),
            **_question_counts(counts, rule.why),
        }
        for at, rule in enumerate(policy.rules)
    ]
    return {"rules": rules, "knownHosts": sorted(policy.known_hosts)}


class PolicyBody(CamelModel):
    """A policy file as somebody edits it, and an action to try on it."""

    text: str = Field(max_length=MOST_POLICY)
    before: str | None = None
    """What the editor began with; another text in the file is not overwritten."""
    action: dict[str, Any] | None = None
    label: str = ""
    app: str = ""


@ROUTES("/api/policy/check", "POST", person="Trying rules")
async def check_policy(request: DeskRequest) -> JSON:
    """The rules of a text in words, and which of them would decide about an action; nothing is saved."""
    body = await json_body(request, PolicyBody)
    try:
        policy = Policy.of(parse_policy(body.text))
    except InvalidAction as error:
        return {"problem": {"message": error.message, "hint": error.hint}}
    if body.action is None:
        return _rules_in_words(policy, Counter())
    touched = TouchedElement(label=body.label, package=body.app)
    subject = Subject.of(
        action_from(body.action), resolved=touched, at_ms=request.runtime.clock.now_ms(), door="http"
    )
    verdict = policy.decide(subject)
    decides = {"verdict": verdict.kind, "rule": verdict.rule, "why": verdict.why}
    return _rules_in_words(policy, Counter()) | {"decides": decides}


@ROUTES("/api/policy", "POST", person="Changing the rules")
async def save_policy(request: DeskRequest) -> JSON:
    """Write the policy file, if its text can be used and nobody else changed it."""
    body, file = await json_body(request, PolicyBody), request.runtime.config.policy
    if request.visitor.is_remote:
        raise ActionRejected("Rules are changed at this machine only", hint="Open the desk there.")
    parse_policy(body.text)
    if (file.read_text("utf-8", "replace") if file.is_file() else None) != body.before:
        raise InvalidAction(f"{file} was changed meanwhile", path="before", hint="Read it again.")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await request.context.seal("policy_changed", request.visitor)
    await asyncio.to_thread(replace_file, file, body.text)
    return {"file": str(file)}


def _home_sizes(home: Path) -> dict[str, Any]:
    def size(*files: Path) -> int:
        return sum(file.stat().st_size for file in files if file.is_file())

    return {
        "path": str(home),
        "database": size(*home.glob("handrail.db*")),
        "pictures": size(*(home / "blobs").rglob("*")),
        "free": shutil.disk_usage(home).free,
    }


def _version_rows() -> list[dict[str, str]]:
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
