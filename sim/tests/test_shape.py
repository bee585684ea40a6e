"""The shape of the source: no file is too large or too small, no function is long."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail_sim"
OURS = sorted(ROOT.rglob("*.py"))
LARGEST, SMALLEST, LONGEST = 400, 40, 60
SMALL: dict[str, str] = {
    "__main__.py": "what `python -m handrail_sim` runs",
    "adbd/ports.py": "the ports that the command names before it imports anything else",
    "apps/clock/panel.py": "what a tab of the clock is, for all of its tabs",
    "apps/default_grants.py": "two apps need it that know nothing of each other",
    "apps/searching.py": "two apps need it that know nothing of each other",
    "apps/shop/orders.py": "one screen of the app, as each has its own file",
    "apps/trouble/notebook.py": "what all pages of the app write to",
    "channels/mortality.py": "three servers die in the same way",
    "channels/react/component.py": "what an app says of its views without loading the debugger",
    "disk/patterns.py": "pure: names in, names out",
    "extras.py": "apps ask it before they offer something",
    "errors.py": "every layer raises them",
    "paint/ground.py": "three kinds of pictures stand on it",
    "screen/backup_prompt.py": "what a prompt shows, beside the dialogs that fill their file",
    "screen/biometric.py": "what a prompt shows, beside the dialogs that fill their file",
    "shell/table.py": "empty until the registry fills it, so that commands may start commands",
    "shell/tools/expressions.py": "four commands read regular expressions",
    "shell/tools/names.py": "five commands print users by name",
    "system/calls.py": "pure: callbacks as data",
    "system/cell.py": "stands between phones, not inside one",
    "system/logs.py": "plain data that the shell reads",
    "system/web_engine.py": "what the phone asks of an engine that it does not know",
    "system/manifest.py": "class attributes, which packages read before an app runs",
    "world.py": "the one place where a world is given to apps, of which it knows no inside",
}
"""Files under forty lines, each with its reason."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_a_file_holds_one_idea() -> None:
    large = {name(path) for path in OURS if lines(path) > LARGEST}
    assert not large


def test_a_file_under_forty_lines_has_a_reason() -> None:
    small = {name(path) for path in OURS if lines(path) < SMALLEST and path.name != "__init__.py"}
    assert small == SMALL.keys()


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{name(path)}:{node.name}"
        for path in OURS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST
    }
    assert not long
