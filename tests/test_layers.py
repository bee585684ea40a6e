"""Imports only go down; siblings never import each other; the simulator is met in one place."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail"
LAYERS = [
    {"clock", "errors", "invocation", "local_socket"},
    {"trusted_file", "system"},
    {
        "asgi_server", "bind", "config", "hosts", "http_exchange", "satellites", "simulator", "store",
        "waiting",
    },
    {"device_names", "protocol"},
    {"dialects", "journal"},
    {"screen", "adb", "cdp"},
    {"surface"},
    {"page", "film"},
    {"android", "browser", "desk", "ios"},
    {"devices", "safety"},
    {"engine"},
    {"flow"},
    {"runtime"},
    {"sync"},
    {"mcp_server", "web_server"},
    {"cli", "pytest_plugin"},
]  # fmt: skip
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


def imports_of(path: Path) -> set[str]:
    """The parts of handrail that a file imports, wherever in the file the import stands."""
    found: set[str] = set()
    for node in nodes(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module] if node.module != "handrail" else [f"handrail.{a.name}" for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("handrail.")}
    return found - {"__version__"}


def breaches(part: str, imported: set[str]) -> set[str]:
    """What this part may not import."""
    if part == "__init__":
        return imported
    allowed = {other for other in LEVEL if LEVEL[other] < LEVEL[part]} | {part}
    if part in ("safety", "engine"):
        allowed -= {
            "android", "ios", "browser", "page", "desk", "adb", "cdp",
        }  # it acts on surfaces, whatever they are  # fmt: skip
    return imported - allowed


def test_every_part_has_a_layer() -> None:
    """`LAYERS` and docs/architecture.md say where it belongs."""
    assert {part_of(path) for path in FILES} - {"__init__"} == LEVEL.keys()


def test_imports_only_go_down() -> None:
    wrong = {path.relative_to(ROOT): breaches(part_of(path), imports_of(path)) for path in FILES}
    assert {path: imported for path, imported in wrong.items() if imported} == {}


def test_the_rule_itself_finds_a_sibling_and_an_upward_import() -> None:
    assert breaches("screen", {"adb"}) == {"adb"}
    assert breaches("protocol", {"dialects", "errors"}) == {"dialects"}
    assert breaches("engine", {"android", "surface", "screen"}) == {"android"}
    assert breaches("engine", {"adb", "desk"}) == {"adb", "desk"}
    assert breaches("safety", {"engine", "android", "surface"}) == {"engine", "android"}
    assert breaches("engine", {"browser", "page", "cdp"}) == {"browser", "page", "cdp"}
    assert breaches("browser", {"android", "page", "cdp"}) == {"android"}
    assert not breaches("cli", {"simulator", "mcp_server", "errors"})


def test_no_file_imports_relatively() -> None:
    for path in FILES:
        for node in nodes(path):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def test_the_suite_uses_no_mocks() -> None:
    forms = ("unittest" + ".mock", "unittest" + " import")
    files = [
        *Path(__file__).parent.rglob("*.py"),
        *(ROOT.parent.parent / "packages" / "sim" / "tests").rglob("*.py"),
    ]
    assert [path for path in files if any(form in path.read_text() for form in forms)] == []
