"""Edits of a flow's text that change one value and keep comments, order and layout of everything else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.nodes import Fields, Items, Node, Scalar, plain
from handrail.flow.places import Place
from handrail.flow.problems import Problem, Unreadable, invalid_flow
from handrail.flow.read_json import read_json
from handrail.flow.read_yaml import read_yaml
from handrail.flow.short import shorten
from handrail.flow.yaml_text import WIDTH, block, flat
from handrail.protocol.model import Model


def replace_target(text: str, place: Place, new: Model | Mapping[str, Any] | str) -> str:
    """The text with another target at this place, in its shortest form."""
    data = new.model_dump(mode="json", exclude_defaults=True) if isinstance(new, Model) else new
    return replace_value(text, place, shorten({"target": data})["target"])


def replace_value(text: str, place: Place, new: Any) -> str:
    """The text with another value at this place."""
    root, is_json = _read(text, place)
    node = next((one for one in _every(root) if _stands_at(one, place)), None)
    if node is None:
        raise InvalidAction(
            f"{place}: no value starts here",
            path="",
            hint="Take the place from the document of this very text.",
        )
    for start, end, written in reversed(_edits(text, node, new, is_json)):
        text = text[:start] + written + text[end:]
    return text


def _read(text: str, place: Place) -> tuple[Node, bool]:
    problems: list[Problem] = []
    try:
        if text.lstrip()[:1] in ("{", "["):
            return read_json(text, problems), True
    except Unreadable:
        pass  # YAML may start with a bracket, too
    try:
        root = read_yaml(text, problems)
    except Unreadable as error:
        raise invalid_flow([error.problem], place.file) from None
    return root or Fields(), False


def _every(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Items):
        for one in node.items:
            yield from _every(one)
    elif isinstance(node, Fields):
        for entry in node.entries.values():
            yield from _every(entry.value)


def _stands_at(node: Node, place: Place) -> bool:
    return node.start.line == place.line and node.start.column == place.column


def _edits(text: str, node: Node, new: Any, is_json: bool) -> list[tuple[int, int, str]]:
    """What to write where, first place first."""
    start, end = node.start.offset, _end(text, node)
    if is_json:
        return [(start, end, json.dumps(new, ensure_ascii=False))]
    if not isinstance(node, Fields) or text[start] == "{" or not isinstance(new, Mapping):
        return [(start, end, flat(new))]
    if node.entries.keys() == new.keys():  # below each other: what stays the same keeps its comments
        changed = [
            (entry.value, new[key]) for key, entry in node.entries.items() if plain(entry.value) != new[key]
        ]
        return [(one.start.offset, _end(text, one), flat(value)) for one, value in changed]
    indent = "\n" + " " * (node.start.column - 1)
    return [(start, end, indent.join(block(new, WIDTH - node.start.column)))]


def _end(text: str, node: Node) -> int:
    """Where the value's last character is behind; a block text's last line break is not part of it."""
    return (
        node.start.offset + len(text[node.start.offset : node.end].rstrip())
        if not _is_empty(node)
        else node.end
    )


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.end == node.start.offset
