"""Writes the table of constants into devices.md (`make docs`). A test fails when it is stale."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from handrail.android import constants

PAGE = Path(__file__).parent / "devices.md"
BEGIN, END = "<!-- constants -->", "<!-- /constants -->"


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text()))


def filled(page: str) -> str:
    """The page with the table as the code has it."""
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{table()}{END}{after}"


def table() -> str:
    rows = [f"| `{name}` | {_shown(getattr(constants, name))} | {why} |\n" for name, why in described()]
    return "".join(["| constant | value | why |\n|---|---|---|\n", *rows])


def described() -> Iterator[tuple[str, str]]:
    """Every constant with the line that follows it."""
    body = ast.parse(Path(constants.__file__).read_text()).body
    for one, after in pairwise(body):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            said = after.value.value if _is_text(after) else ""
            yield one.targets[0].id, " ".join(str(said).split())


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _shown(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(f"`{one}`" for one in sorted(value)) if isinstance(value, frozenset) else f"`{value}`"


if __name__ == "__main__":
    main()
