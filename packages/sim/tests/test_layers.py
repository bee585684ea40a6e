"""Imports only go down, also those that only a type checker reads, and no large group imports itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail_sim"
LAYERS = [
    {"clock", "errors", "extras", "resources", "timers", "waiting"},
    {"faults", "stream"},
    {"disk", "view"},
    {"paint"},
    {"system"},
    {"screen"},
    {"input"},
    {"handset"},
    {"shell"},
    {"channels"},
    {"apps"},
    {"phone"},
    {"iphone"},
    {"adbd"},
    {"served"},
    {"command"},
    {"__main__"},
]
"""Each may import what stands above it in this list, and nothing beside it."""
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(ROOT.rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    return module.partition(".")[0]


MODULES = {module_of(path) for path in FILES}


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports_of(path: Path) -> set[str]:
    """The modules of this package that a file imports, wherever in the file the import stands."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {one.name.removeprefix("handrail_sim.") for one in node.names if ours(one.name)}
        elif isinstance(node, ast.ImportFrom) and ours(node.module or ""):
            inner = (node.module or "").removeprefix("handrail_sim").removeprefix(".")
            whole = [f"{inner}.{one.name}".removeprefix(".") for one in node.names]
            found |= {name if name in MODULES else inner for name in whole}
    return found - {""}


def ours(name: str) -> bool:
    return name.partition(".")[0] == "handrail_sim"


def breaches(part: str, imported: set[str]) -> set[str]:
    """What this part may not import."""
    if not part:
        return imported
    return {one for one in imported if LEVEL[one] >= LEVEL[part]} - {part}


def test_every_part_has_a_layer() -> None:
    """`LAYERS` and docs/simulator.md say where it belongs."""
    assert {part_of(module_of(path)) for path in FILES} - {""} == LEVEL.keys()


def test_imports_only_go_down() -> None:
    wrong = {
        module_of(path): breaches(part_of(module_of(path)), set(map(part_of, imports_of(path))))
        for path in FILES
    }
    assert {module: imported for module, imported in wrong.items() if imported} == {}


def test_the_rule_itself_finds_a_sibling_and_an_upward_import() -> None:
    assert breaches("view", {"disk", "clock"}) == {"disk"}
    assert breaches("system", {"phone", "view", "system"}) == {"phone"}
    assert breaches("shell", {"apps", "channels", "handset"}) == {"apps", "channels"}
    assert not breaches("adbd", {"phone", "shell", "stream"})


KNOTS = {
    "adbd.connection adbd.daemon adbd.services": "a connection and the services that it opens",
    "disk.files disk.image": "files, and those that are there from the start",
    "shell.interpret shell.start shell.table": "a command may be a script, which is commands",
    "shell.processes shell.session": "a session belongs to a process, which has a session's user",
}
"""Modules of one folder that need each other, with the reason. Nothing is to be added without one."""


def knots(graph: dict[str, set[str]]) -> set[str]:
    """Groups of modules, each of which reaches every other of its group."""
    reached = {name: closure(graph, name) for name in graph}
    groups = {frozenset(one for one in reached[name] if name in reached[one]) for name in graph}
    return {" ".join(sorted(group)) for group in groups if group}


def closure(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for one in graph[waiting.pop()] - found:
            found.add(one)
            waiting.append(one)
    return found


def test_only_small_groups_inside_a_folder_import_each_other() -> None:
    graph = {module_of(path): imports_of(path) - {module_of(path)} for path in FILES}
    assert knots(graph) == KNOTS.keys()


def test_the_search_for_knots_finds_one() -> None:
    assert knots({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b c"}


def test_no_file_imports_relatively() -> None:
    for path in FILES:
        for node in nodes(path):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path
