"""The flows that the desk offers: files of the given folders, read and checked without a phone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.check import check
from handrail.flow.document import FlowDocument, load
from handrail.flow.lint import uses
from handrail.flow.nodes import Fields, Items, plain
from handrail.flow.plan import devices_of, plan
from handrail.flow.problems import Problem
from handrail.flow.select_flows import find_flows
from handrail.protocol.read import nearest

UNSAID = "unknown-variable"
"""The rule for a variable without a value: a person can give it here, so it is no fault of the file."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Folders of flows. A file is named by its path within its folder."""

    folders: Sequence[Path]

    def files(self) -> dict[str, Path]:
        """By name; where two folders have the same, the first one's."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            if folder.is_dir():
                for path in find_flows([folder]):
                    found.setdefault(str(path.relative_to(folder)), path)
        return found

    def path(self, name: str) -> Path:
        """Only what is listed, whatever the name tries."""
        files = self.files()
        if name in files:
            return files[name]
        close = nearest(name, files)
        meant = f"Did you mean {' or '.join(close)}?" if close else "Look at the list of flows."
        raise InvalidAction(f"file: {name[:100]!r} is not among the flows here", path="file", hint=meant)

    def listed(self) -> list[dict[str, Any]]:
        """All of them, the broken ones too."""
        files = self.files()
        checked = {one.path: one for one in check(list(files.values()))}
        return [_listed(name, path, checked[path].problems) for name, path in files.items()]


def _listed(name: str, path: Path, problems: Iterable[Problem]) -> dict[str, Any]:
    told: dict[str, Any] = {"file": name, "name": path.stem, "problems": list(map(_problem, problems))}
    try:
        document = load(path)
    except InvalidAction:
        return told | {"broken": True, "variables": [], "devices": [], "steps": 0, "tags": []}
    variables = variables_of(document)
    faults = [one for one in told["problems"] if one["level"] == "error" and one["rule"] != UNSAID]
    return told | {
        "name": document.name,
        "tags": list(document.tags),
        "app": _app(document),
        "steps": len(document.drafts),
        "variables": variables,
        "devices": _devices(document, variables),
        "problems": [one for one in told["problems"] if one["rule"] != UNSAID],
        "broken": bool(faults),
    }


def _problem(one: Problem) -> dict[str, Any]:
    return {"level": one.level, "rule": one.rule, **one.to_dict()}


def _app(document: FlowDocument) -> str | None:
    app = document.root.get("app")
    value = plain(app) if app is not None else None
    return value if isinstance(value, str) else None


def variables_of(document: FlowDocument) -> list[dict[str, Any]]:
    """What a run may be given: the file's own with their values, and those that it only names."""
    env = document.root.get("env")
    own: Mapping[str, Any] = plain(env) if isinstance(env, Fields) else {}
    known: dict[str, str | None] = {name: str(value) for name, value in own.items()}
    for use in uses(document):
        known.setdefault(use.reference.name, use.reference.default)
    return [{"name": name, "value": value} for name, value in known.items()]


def _devices(document: FlowDocument, variables: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the phones that a flow needs; one without names needs one."""
    stand_in = {one["name"]: one["value"] or "1" for one in variables}
    try:
        return list(devices_of(plan(document, stand_in)))
    except InvalidAction:
        named = document.root.get("devices")
        return [str(name) for name in plain(named)] if isinstance(named, Items) else []
