"""Where things stand in a file, by the path of a step: (2,) is the third, (2, 0) the first inside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handrail.flow.nodes import Fields, Node, child
from handrail.flow.shorthand import StepDraft

StepPath = tuple[int | str, ...]
"""Indices of steps, with the branch (`then`, `else`) or the device's name before those inside.

A last word that names a field, such as `target`, means the field's value.
"""


_WORDS: dict[int | str, int | str] = {"otherwise": "else"}
"""The model's names are accepted beside the file's words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column, from 1."""

    file: Path | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file or 'flow'}:{self.line}:{self.column}"


class Places:
    """Answers where a step or one of its values stands."""

    def __init__(self, file: Path | None, root: Node, drafts: list[StepDraft | None]) -> None:
        self._file = file
        self._root = root
        self._drafts = drafts

    def of(self, path: StepPath) -> Place:
        """The place of what lies at the path, or of the nearest thing around it."""
        mark = self._node(path).start
        return Place(self._file, mark.line, mark.column)

    def draft(self, path: StepPath) -> StepDraft | None:
        """The step at this path."""
        return self._walk(path)[0]

    def _node(self, path: StepPath) -> Node:
        draft, rest = self._walk(path)
        if draft is None:
            return child(self._root, path[0]) or self._root if path else self._root
        if rest == ("element",) and draft.element is not None:
            return draft.element
        node: Node = draft.fields
        action = draft.fields.get("action")
        if rest and isinstance(action, Fields) and child(action, rest[0]) is not None:
            node = action
        for part in rest:
            below = child(node, part)
            if below is None:
                break
            node = below
        return draft.source if node is draft.fields or node is action else node

    def _walk(self, path: StepPath) -> tuple[StepDraft | None, StepPath]:
        """The deepest step on the path, and what is left of the path."""
        here: StepDraft | None = None
        steps: dict[str, list[StepDraft | None]] = {"steps": self._drafts}
        at = 0
        while at < len(path):
            word = _WORDS.get(path[at], path[at])
            if word == "devices" and "devices" not in steps and at + 1 < len(path) and path[at + 1] in steps:
                at += 1
                word = path[at]
            if isinstance(word, str) and word in steps:
                at, name = at + 1, word
            elif isinstance(word, int) and "steps" in steps:
                name = "steps"
            else:
                break
            index = path[at] if at < len(path) else None
            if not isinstance(index, int) or not 0 <= index < len(steps[name]):
                return here, ()
            found = steps[name][index]
            if found is None:
                return here, ()
            here, steps, at = found, found.inner, at + 1
        return here, path[at:]
