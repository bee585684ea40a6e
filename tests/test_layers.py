"""Imports only go down; siblings never import each other; the simulator is met in one place."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "handrail"
LAYERS = [
    {"clock", "errors", "places", "terminal"},
    {"owned"},
    {"asgi_server", "bind", "config", "simulator", "store", "waiting"},
    {"protocol", "transparency"},
    {"dialects"},
    {"tree", "adb", "cdp"},
    {"surface"},
    {"page"},
    {"android", "browser", "desk"},
    {"engine"},
    {"agent", "flow"},
    {"runtime"},
    {"mcp", "http", "local"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The parts of handrail that a file imports, wherever in the file the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module] if node.module != "handrail" else [f"handrail.{a.name}" for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("handrail.")}
    return found - {"__version__"}


def breaches(part: str, imported: set[str]) -> set[str]:
    """What this part may not import."""
    allowed = {other for other in LEVEL if LEVEL[other] < LEVEL[part]} | {part}
    if part == "engine":
        allowed -= {
            "android",
            "browser",
            "page",
            "desk",
            "adb",
            "cdp",
        }  # it acts on surfaces, whatever they are
    return imported - allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        assert not imports_of(path)
        return
    assert part in LEVEL, f"{part} has no layer: say in LAYERS and docs/architecture.md where it belongs"
    assert not breaches(part, imports_of(path))


def test_the_rule_itself_finds_a_sibling_and_an_upward_import() -> None:
    assert breaches("tree", {"adb"}) == {"adb"}
    assert breaches("protocol", {"dialects", "errors"}) == {"dialects"}
    assert breaches("engine", {"android", "surface", "tree"}) == {"android"}
    assert breaches("engine", {"adb", "desk"}) == {"adb", "desk"}
    assert breaches("engine", {"browser", "page", "cdp"}) == {"browser", "page", "cdp"}
    assert breaches("browser", {"android", "page", "cdp"}) == {"android"}
    assert not breaches("cli", {"simulator", "mcp", "errors"})


def test_no_file_imports_relatively() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def test_the_suite_uses_no_mocks() -> None:
    for path in Path(__file__).parent.rglob("*.py"):
        modules = {getattr(node, "module", None) for node in ast.walk(ast.parse(path.read_text()))}
        assert "unittest.mock" not in modules, path
