"""Measures the source against `budget.toml`.

`python -m tests.budget` prints the figures, `--lower` writes those that fell.
A figure may only be raised by hand, in a commit whose body says why.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUDGET = ROOT / "budget.toml"
RIDDLES = frozenset(
    "one told said found given made known seen whole like so felt gone heard meant mine asked kept".split()
)
"""Words that name nothing: as a variable, a function or a module each of them can mean anything."""
SHORT = 6
"""A private function under this many lines that is used once is written where it is used."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of Python below a source root."""

    path: Path
    name: str

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.text)))

    @property
    def package(self) -> str:
        """`handrail.adb.link` belongs to `adb`, `handrail.clock` to `foundation`."""
        parts = self.name.split(".")
        return (
            parts[1]
            if len(parts) > 1 and (self.path.name == "__init__.py" or len(parts) > 2)
            else "foundation"
        )


@cache
def modules(source: Path) -> list[Module]:
    """Each file is parsed once."""
    out = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        out.append(Module(path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)))
    return out


def identifiers(module: Module) -> Iterator[str]:
    """Every name that the syntax tree binds or reads, and the module's own."""
    yield module.name.rpartition(".")[2]
    for node in module.nodes:
        match node:
            case ast.Name():
                yield node.id
            case ast.arg() | ast.keyword():
                yield node.arg or ""
            case ast.Attribute():
                yield node.attr
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name


def riddles(module: Module) -> int:
    return sum(name.strip("_").lower() in RIDDLES for name in identifiers(module))


def importers(sources: list[Module]) -> dict[str, set[str]]:
    """Who imports each module, wherever in the file the import stands."""
    names = {module.name for module in sources}
    out: dict[str, set[str]] = defaultdict(set)
    for module in sources:
        for node in module.nodes:
            targets = []
            if isinstance(node, ast.ImportFrom):
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            for target in targets:
                out[target if target in names else target.rpartition(".")[0]].add(module.name)
    return out


def single_importer(sources: list[Module]) -> list[str]:
    """Modules whose only importer is in their own package."""
    by_name = {module.name: module for module in sources}
    out = []
    for name, users in importers(sources).items():
        if len(users) == 1 and name in by_name and by_name[name].path.name != "__init__.py":
            (user,) = users
            if by_name[user].package == by_name[name].package:
                out.append(name)
    return sorted(out)


def functions(sources: list[Module]) -> Iterator[tuple[Module, Function]]:
    for module in sources:
        for node in module.nodes:
            if isinstance(node, Function) and not node.name.startswith("__"):
                yield module, node


def references(sources: list[Module]) -> Counter[str]:
    """How often each name is read, by name alone, over all of the source."""
    out: Counter[str] = Counter()
    for module in sources:
        for node in module.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                out[node.id] += 1
            elif isinstance(node, ast.Attribute):
                out[node.attr] += 1
    return out


def used_once(sources: list[Module]) -> list[tuple[Module, Function]]:
    """Functions that are read in one place. A private name is counted in its own file."""
    everywhere = references(sources)
    own = {module: references([module]) for module in sources}
    return [
        (module, node)
        for module, node in functions(sources)
        if not node.decorator_list
        and (own[module] if node.name.startswith("_") else everywhere)[node.name] == 1
    ]


def to_inline(sources: list[Module]) -> int:
    """Private functions that are used once and have fewer lines than `SHORT`."""
    return sum(
        node.name.startswith("_") and (node.end_lineno or 0) - node.lineno + 1 < SHORT
        for _, node in used_once(sources)
    )


def lazy_imports(sources: list[Module]) -> int:
    """Import statements inside functions."""
    return sum(
        isinstance(inner, ast.Import | ast.ImportFrom)
        for _, node in functions(sources)
        for inner in ast.walk(node)
    )


def figures(source: Path, reasons: dict[str, str]) -> dict[str, dict[str, int]]:
    """What `budget.toml` says of one source root, as it is now."""
    sources = modules(source)
    out: dict[str, dict[str, int]] = {
        "total": {
            "files": len(sources),
            "lines": sum(module.lines for module in sources),
            "single_importer": len(set(single_importer(sources)) - reasons.keys()),
            "to_inline": to_inline(sources),
            "lazy_imports": lazy_imports(sources),
        }
    }
    for module in sources:
        part = out.setdefault(module.package, {"files": 0, "lines": 0, "riddles": 0})
        part["files"] += 1
        part["lines"] += module.lines
        part["riddles"] += riddles(module)
    return out


def budget() -> dict[str, dict[str, dict[str, int]]]:
    return tomllib.loads(BUDGET.read_text())


def source_of(name: str) -> Path:
    return next(path for path in (ROOT / "src", ROOT / "packages" / name / "src", ROOT / name / "src")
                if (path / ("handrail" if name == "core" else f"handrail_{name}")).is_dir())  # fmt: skip


def measured(name: str) -> dict[str, dict[str, int]]:
    return figures(source_of(name), budget().get("reasons", {}))  # type: ignore[arg-type]


def lower() -> None:
    """Writes what fell, and leaves out packages that are gone; every other line stays as it is."""
    text = BUDGET.read_text()
    for name, parts in budget().items():
        if name == "reasons":
            continue
        now = measured(name)
        for part, limits in parts.items():
            if part not in now:
                text = re.sub(rf"\[{name}\.{part}\]\n(?:\w.*\n)*\n?", "", text)
                continue
            for key, limit in limits.items():
                if now[part][key] < limit:
                    text = re.sub(
                        rf"(\[{name}\.{part}\]\n(?:\w.*\n)*?{key} = )\d+", rf"\g<1>{now[part][key]}", text
                    )
    BUDGET.write_text(text)


def main() -> None:
    if "--lower" in sys.argv:
        lower()
    for name, parts in budget().items():
        if name == "reasons":
            continue
        now = measured(name)
        for part, limits in parts.items():
            cells = [f"{key} {now.get(part, {}).get(key, 0)}/{limit}" for key, limit in limits.items()]
            print(f"{name}.{part:<16}", *cells)  # noqa: T201


if __name__ == "__main__":
    main()
