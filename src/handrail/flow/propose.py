"""Healing as edits of a flow's file: shown as a unified diff, written only when somebody allows it."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.heal import Healed, by_field
from handrail.flow.load import Document, loads
from handrail.flow.places import StepPath
from handrail.flow.write import replace_target, replace_value
from handrail.protocol.actions import AnyAction
from handrail.protocol.target import Selector


class Repair:
    """The edits of one file during one run."""

    def __init__(self, document: Document) -> None:
        self._path = document.path
        self._before = document.text
        self._now = loads(document.text, document.path)
        self._healed: dict[tuple[StepPath, str], Selector] = {}

    @property
    def text(self) -> str:
        """The file as it would be."""
        return self._now.text

    def add(self, at: StepPath, healed: Healed) -> str:
        """One more edit; it alone as a unified diff."""
        before = self._now.text
        text = replace_target(before, self._now.places.of((*at, healed.field)), healed.proposal.selector)
        self._now = loads(text, self._path)
        if self._now.element(at) is not None:
            element = self._element(at, healed)
            text = replace_value(text, self._now.places.of((*at, "element")), element)
            self._now = loads(text, self._path)
        self._healed[at, healed.field] = healed.proposal.selector
        return _diff(before, text, self._path)

    def _element(self, at: StepPath, healed: Healed) -> dict[str, Any]:
        """The identity of the successor, where that of the old element stood."""
        known = self._now.element(at) or {}
        fields = by_field(known)
        now = dict(healed.proposal.element)
        return now if fields.get("target") is known else {**known, healed.field: now}

    def mended(self, at: StepPath, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a repeated step asks only once."""
        found = {field: new for (place, field), new in self._healed.items() if place == at}
        update = {("from_" if field == "from" else field): new for field, new in found.items()}
        return action.model_copy(update=update) if update else action

    def diff(self) -> str:
        """All edits."""
        return _diff(self._before, self._now.text, self._path)

    def save(self) -> None:
        """Write the file, unless somebody else did meanwhile."""
        if self._path is None or self._now.text == self._before:
            return
        if self._path.read_text(encoding="utf-8") != self._before:
            raise InvalidAction(
                f"{self._path} was changed while it ran, so the healed steps are not written into it",
                hint="Run it again, or make the edit that was printed by hand.",
                path=str(self._path),
            )
        self._path.write_text(self._now.text, encoding="utf-8")


def _diff(before: str, after: str, path: Path | None) -> str:
    name = str(path or "flow.yaml")
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
