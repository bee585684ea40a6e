"""A flow's file into a `Document`: the flow, where everything in it stands, and its variables filled.

YAML, JSON, and AgenTest's steps as they are. Whatever the bytes are, only `InvalidAction` comes out of it,
with every problem of the file.
"""

from __future__ import annotations

from pathlib import Path

from handrail.errors import InvalidAction
from handrail.flow.document import Document, make
from handrail.flow.nodes import MAX_BYTES, Entry, Fields, Items, Mark, Node, Scalar
from handrail.flow.problems import Problem, Unreadable, invalid_flow
from handrail.flow.read_json import read_json
from handrail.flow.read_yaml import read_yaml

__all__ = ["Document", "load", "loads"]


def load(path: Path) -> Document:
    """The flow in this file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidAction(
            f"{path}: {reason}", path="", hint="Give a file that exists.", file=str(path)
        ) from None
    if len(data) > MAX_BYTES:
        raise _too_large(len(data), path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(
            "", f"not UTF-8: byte {error.start}", Mark(line, 1, error.start), "Save it as UTF-8."
        )
        raise invalid_flow([problem], path) from None
    return loads(text, path)


def loads(text: str, path: Path | None = None) -> Document:
    """The flow in this text; `path` is where it comes from."""
    if len(text) > MAX_BYTES:
        raise _too_large(len(text), path)
    problems: list[Problem] = []
    try:
        root = _read(text, path, problems)
    except Unreadable as error:
        raise invalid_flow([*problems, error.problem], path) from None
    top = _top(root, problems)
    if top is None:
        raise invalid_flow(problems, path)
    return make(top, path, text, problems)


def _read(text: str, path: Path | None, problems: list[Problem]) -> Node | None:
    """JSON by its suffix, or where the text starts like it and is it; otherwise YAML."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("half of a surrogate pair", Mark(1, 1, error.start)) from None
    if path is not None and path.suffix.lower() == ".json":
        return read_json(text, problems)
    if text.lstrip()[:1] in ("{", "["):
        found: list[Problem] = []
        try:
            node = read_json(text, found)
        except Unreadable:
            pass  # a YAML flow may start with a bracket, too
        else:
            problems.extend(found)
            return node
    return read_yaml(text, problems)


def _top(root: Node | None, problems: list[Problem]) -> Fields | None:
    """The flow's own keys; a bare list is a flow of steps alone."""
    if isinstance(root, Items):
        key = Scalar("steps", "steps", root.start, root.end)
        return Fields({"steps": Entry(key, root)}, root.start, root.end)
    if isinstance(root, Fields):
        return root
    hint = "A flow has `name:` and `steps:`; docs/flows.md has examples."
    mark = root.start if root else Mark(1, 1, 0)
    empty = root is None or root.value is None
    problems.append(Problem("", "is empty" if empty else "is not a flow", mark, hint))
    return None


def _too_large(size: int, path: Path | None) -> InvalidAction:
    message = f"{size:,} bytes are too many; at most {MAX_BYTES:,} are read"
    return invalid_flow([Problem("", message, Mark(1, 1, 0), "Split the flow with run_flow.")], path)
