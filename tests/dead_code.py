"""What is defined in `src` and named nowhere: functions, classes, methods, constants.

    python -m tests.dead_code

prints it, and what only tests name. Names are compared, not meanings: a name that two things share keeps both
alive. A text that is one word counts, because `getattr` and tables go by such. An import counts, but not in
an `__init__`, which only passes a name on; nor does `__all__`. In use is also what stands under a decorator
that keeps it (`@command`, `@validator`), and a method that a base class from another library has.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
READERS = ("src", "packages", "bench", "docs", "examples", "tests")
PLAIN = frozenset(
    "property cached_property setter staticmethod classmethod dataclass overload override final cache wraps "
    "abstractmethod contextmanager asynccontextmanager lru_cache total_ordering runtime_checkable".split()
)
"""Decorators that keep nothing."""
_WORD = re.compile(r"[\w.:]+")
_PYTHON = re.compile(r"```python\n(.*?)```", re.S)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Defined:
    """A name and where it is defined."""

    name: str
    path: Path
    line: int
    kind: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} {self.kind} {self.name}"


def definitions(path: Path) -> Iterator[Defined]:
    tree = ast.parse(path.read_text())
    imported = dict(_imports(tree))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            yield from (
                Defined(name, path, node.lineno, "constant") for name in names if not _is_dunder(name)
            )
        elif isinstance(node, Definition) and not _is_kept(node):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            yield Defined(node.name, path, node.lineno, kind)
        if isinstance(node, ast.ClassDef):
            yield from _methods(node, path, imported)


def _methods(owner: ast.ClassDef, path: Path, imported: dict[str, str]) -> Iterator[Defined]:
    bases = [_foreign(base, imported) for base in owner.bases]
    for node in owner.body:
        if not isinstance(node, Definition) or _is_kept(node):
            continue
        if not any(hasattr(base, node.name) for base in bases):
            yield Defined(node.name, path, node.lineno, "method")
        if isinstance(node, ast.ClassDef):
            yield from _methods(node, path, imported)


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that imports bind, each with what it stands for."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}:{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, f"{alias.name}:") for alias in node.names)


def _foreign(base: ast.expr, imported: dict[str, str]) -> object:
    """The class of another library that is meant, or None."""
    first, *rest = ast.unparse(base).partition("[")[0].split(".")
    module, _, name = imported.get(first, "handrail").partition(":")
    if module.partition(".")[0] == "handrail":
        return None
    found: object = importlib.import_module(module)
    for part in filter(None, (name, *rest)):
        found = getattr(found, part)
    return found


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_kept(node: Definition) -> bool:
    return _is_dunder(node.name) or any(map(_keeps, node.decorator_list))


def _keeps(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")) not in PLAIN


def names_in(path: Path) -> set[str]:
    """Every name that a file uses."""
    text = path.read_text()
    if path.suffix == ".md":
        return {name for block in _PYTHON.findall(text) for name in re.findall(r"\w+", block)}
    is_package = path.name == "__init__.py"
    found: set[str] = set()
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(ast.parse(text), frozenset())]
    while waiting:
        node, inside = waiting.pop()  # what names itself is not in use for that
        for child in ast.iter_child_nodes(node):
            if not _tells_only(child):
                found |= _named(child, is_package=is_package) - inside
                waiting.append((child, inside | {child.name} if isinstance(child, Definition) else inside))
    return found


def _tells_only(node: ast.AST) -> bool:
    """A docstring or `__all__`."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _named(node: ast.AST, *, is_package: bool) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, ast.ImportFrom) and not is_package:
        return {alias.name for alias in node.names}
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value):
        return set(re.findall(r"\w+", node.value))
    return set(node.kwd_attrs) if isinstance(node, ast.MatchClass) else set()


def unused() -> tuple[list[Defined], list[Defined]]:
    """What nobody names, and what only tests name."""
    readers: dict[str, set[str]] = defaultdict(set)
    for folder in READERS:
        for path in sorted([*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.md")]):
            for name in names_in(path):
                readers[name].add(folder)
    for word in re.findall(r"\w+", (ROOT / "pyproject.toml").read_text() + (ROOT / "README.md").read_text()):
        readers[word].add("docs")
    found = [
        one
        for path in sorted(
            one for root in (ROOT / "src", *sorted(ROOT.glob("packages/*/src"))) for one in root.rglob("*.py")
        )
        for one in definitions(path)
    ]
    nobody = [one for one in found if not readers[one.name]]
    return nobody, [one for one in found if readers[one.name] == {"tests"}]


if __name__ == "__main__":
    nobody, tests = unused()
    print("Named nowhere:", *nobody, sep="\n  ")  # noqa: T201
    print("Named only by tests:", *tests, sep="\n  ")  # noqa: T201
