"""A Maestro workspace: which files of a folder are its flows, and in which order they run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from handrail.errors import InvalidAction
from handrail.flow.parse import Fields, Items, Node, Scalar, Unreadable, read_documents
from handrail.flow.plan import has_wanted_tags
from handrail_maestro.files import read_text
from handrail_maestro.read import is_maestro, read
from handrail_maestro.words import CONFIG

NAMES = ("config.yaml", "config.yml")
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """What config.yaml says."""

    flows: tuple[str, ...] = ("*",)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    goes_on: bool = True
    """False: after a failure the rest of `order` is left out."""
    output: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The files that a folder's run means: those of the list first."""

    files: tuple[Path, ...]
    listed: frozenset[Path] = frozenset()
    config: WorkspaceConfig = WorkspaceConfig()


def is_workspace(folder: Path) -> bool:
    """Named .maestro, or with a file of Maestro's directly in it."""
    if folder.name == ".maestro":
        return True
    try:
        inside = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    except OSError:
        return False  # whoever looks for flows says why
    return any(is_config(path) for path in map(folder.joinpath, NAMES)) or any(map(is_flow, inside))


def is_config(path: Path) -> bool:
    """One document, with keys that only a workspace has."""
    if not path.is_file():
        return False
    try:
        roots = read_documents(read_text(path), [])
    except (Unreadable, InvalidAction):
        return False
    return len(roots) == 1 and isinstance(roots[0], Fields) and set(roots[0].entries) <= set(CONFIG)


def read_config(path: Path) -> WorkspaceConfig:
    """Raises `InvalidAction` with the line."""
    try:
        roots = read_documents(read_text(path), [])
    except Unreadable as error:
        raise _bad(path, error.problem.mark.line, error.problem.message) from None
    root = roots[0] if roots else Fields()
    if not isinstance(root, Fields) or len(roots) > 1:
        raise _bad(path, 1, "should be one mapping")
    order = root.get("executionOrder")
    order = order if isinstance(order, Fields) else Fields()
    goes_on = order.get("continueOnFailure")
    output = root.get("testOutputDir")
    flows = _texts(root.get("flows"), path, "flows") or ("*",)
    if all(flow.startswith("!") for flow in flows):
        raise _bad(path, 1, "flows only excludes", "Add a pattern of what to run, such as `*`.")
    strange = [
        f"{path}:{one.key.start.line}: {key!r:.60} is not known"
        for key, one in root.entries.items()
        if key not in CONFIG
    ]
    return WorkspaceConfig(
        flows,
        _texts(root.get("includeTags"), path, "includeTags"),
        _texts(root.get("excludeTags"), path, "excludeTags"),
        _texts(order.get("flowsOrder"), path, "flowsOrder"),
        not (isinstance(goes_on, Scalar) and goes_on.text.lower() == "false"),
        output.text if isinstance(output, Scalar) else None,
        tuple(strange),
    )


def choose(folder: Path, config: Path | None, tags: Collection[str], without: Collection[str]) -> Chosen:
    """The flows of a folder. Raises `InvalidAction` where there are none."""
    found = config or next((path for path in map(folder.joinpath, NAMES) if path.is_file()), None)
    read_as = read_config(found) if found else WorkspaceConfig()
    files = [path for path in _matching(folder, read_as.flows) if _is_candidate(path, found)]
    if not files:
        raise InvalidAction(
            f"no flow in {folder} matches {', '.join(read_as.flows)}",
            path="flows", hint="`*` does not look into folders; `**` does.",
        )  # fmt: skip
    only, never = {*tags, *read_as.include}, {*without, *read_as.exclude}
    named = {path: read(read_text(path), path) for path in files}
    kept = [path for path in files if has_wanted_tags(named[path].tags, only, never)]
    listed = _listed({named[path].name: path for path in reversed(kept)}, read_as.order, found)
    rest = [path for path in kept if path not in listed]
    return Chosen((*listed, *rest), frozenset(listed), read_as)


def _listed(by_name: dict[str, Path], order: tuple[str, ...], config: Path | None) -> list[Path]:
    """The list up to the first name that is not among the chosen ones."""
    if not order or not any(name in by_name for name in order):
        return []
    if order[0] not in by_name:
        raise InvalidAction(
            f"{config}: flowsOrder begins with {order[0]!r:.60}, which is not among the flows",
            path="flowsOrder", hint=f"There are {', '.join(sorted(by_name))[:300]}.",
        )  # fmt: skip
    found: list[Path] = []
    for name in order:
        if name not in by_name:
            break
        found.append(by_name[name])
    return found


def _matching(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """Files in the order of their paths; what a leading `!` names is left out."""
    root = folder.resolve()
    yes = [_glob(one) for one in patterns if not one.startswith("!")]
    no = [_glob(pattern[1:]) for pattern in patterns if pattern.startswith("!")]
    found = []
    for path in sorted(_below(root)):
        name = path.relative_to(root).as_posix()
        if any(one.fullmatch(name) for one in yes) and not any(one.fullmatch(name) for one in no):
            found.append(folder / name)
    return found


def _below(root: Path) -> Iterator[Path]:
    return (
        path for path in root.rglob("*") if path.suffix in _SUFFIXES and path.resolve().is_relative_to(root)
    )


def _glob(pattern: str) -> re.Pattern[str]:
    """`*` stays in its folder, `**` does not."""
    parts = re.split(r"(\*\*/?|\*|\?)", pattern.removeprefix("./"))
    words = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts))


def _is_candidate(path: Path, config: Path | None) -> bool:
    if path.stem == "config" or (config and path.resolve() == config.resolve()):
        return False
    return not is_config(path)


def is_flow(path: Path) -> bool:
    """Whether this file is one of Maestro's; one that can't be read is none."""
    try:
        return is_maestro(read_text(path))
    except InvalidAction:
        return False


def _texts(node: Node | None, path: Path, key: str) -> tuple[str, ...]:
    """A text or a list of texts."""
    if node is None or (isinstance(node, Scalar) and node.value is None):
        return ()
    values = node.items if isinstance(node, Items) else (node,)
    if not all(isinstance(one, Scalar) for one in values):
        raise _bad(path, node.start.line, f"{key} should be a list of texts")
    return tuple(one.text for one in values if isinstance(one, Scalar))


def _bad(path: Path, line: int, message: str, hint: str | None = None) -> InvalidAction:
    return InvalidAction(f"{path}:{line}: {message}", path="config", hint=hint, file=str(path), line=line)
