"""The shape of the source: sizes, importers, names, and how many files one tap passes.

    python bench/structure.py [OTHER_CHECKOUT ...]

With other checkouts their figures stand beside those of this one. A file is passed when one of its functions
runs between the call of a tap and its answer; for a command, while the command's process lives. The simulator
counts in the first row only, and executed lines are those of `handrail` alone. Only commands and public names
of `handrail` are used, so that checkouts with another layout can be compared.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
SETTINGS = "com.android.settings"
LONG, SHORT = 60, 40
"""Lines above which a function, and under which a file, is listed."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Rows = dict[str, str]

TRACED = """
import json, os, runpy, signal, sys, threading
passed, lines, is_on = set(), 0, {on}
def note(frame, event, arg):
    if is_on and event == "call" and frame.f_code.co_flags & 1:  # class and module bodies are no functions
        passed.add(frame.f_code.co_filename)
def count(frame, event, arg):
    global lines
    lines += is_on and event == "line"
    return count
def enter(frame, event, arg):
    return count if frame.f_code.co_filename.startswith({src!r}) else None
def switch(*_):
    global is_on
    is_on = not is_on
def tell(*_):
    with open({out!r}, "w") as file:
        json.dump({{"files": sorted(passed), "lines": lines}}, file)
signal.signal(signal.SIGUSR1, switch)
threading.setprofile(note)
sys.setprofile(note)
if {counts}:
    threading.settrace(enter)
    sys.settrace(enter)
sys.argv = {argv!r}
try:
    {run}
finally:
    tell()
"""
"""A program that says which files had a function that ran, and how many of their lines were executed.

SIGUSR1 starts and stops the counting.
"""
COMMAND = "runpy.run_module('handrail.cli.main', run_name='__main__', alter_sys=True)"
PROGRAM = """
import asyncio, os
from handrail import Runtime
async def main():
    async with Runtime.open() as runtime:
        phone = await runtime.session(os.environ["HANDRAIL_DEVICE"])
        await phone.get_ui_tree()
        switch()
        done = await phone.tap("Network & internet", reason="I look at it")
        switch()
        assert done.success, done
asyncio.run(main())
"""
FLOW = "- tap: Network & internet\n"


@dataclass(frozen=True, slots=True)
class Source:
    """One file."""

    path: Path
    module: str
    lines: int
    tree: ast.Module

    @property
    def is_simulator(self) -> bool:
        return self.module.partition(".")[0] == "handrail_sim"

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", nargs="*", type=Path, help="other checkouts, each with its own .venv")
    parser.add_argument("--static", action="store_true", help="run nothing, only read the source")
    options = parser.parse_args()
    columns = [figures(root.resolve(), taps=not options.static) for root in (*options.checkout, HERE)]
    names = [*(str(root) for root in options.checkout), "this one"]
    print("\n".join(table(names, columns)))


def figures(root: Path, *, taps: bool) -> Rows:
    sources = [*read(root / "src"), *read(simulator(root))]
    ours = [source for source in sources if not source.is_simulator]
    rows = {"files with the simulator": f"{len(sources)} of {sum(one.lines for one in sources)} lines"}
    rows |= sizes(ours) | modules(ours, sources) | twice(ours)
    return rows | (passed(root) if taps else {})


def read(src: Path) -> Iterator[Source]:
    for path in sorted(src.rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text()
        yield Source(path, module, len(text.splitlines()), ast.parse(text))


def sizes(sources: list[Source]) -> Rows:
    total = sum(source.lines for source in sources)
    functions = {
        f"{source.module.removeprefix('handrail.')}.{node.name}": sure(node.end_lineno) - node.lineno + 1
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, Function)
    }
    files = [source.lines for source in sources if not source.is_package]
    longest = Counter(functions).most_common(5)
    imports = sum(sure(node.end_lineno) - node.lineno + 1 for node in _imports(sources))
    long = sum(lines > LONG for lines in functions.values())
    return {
        "files": f"{len(sources)} of {total} lines",
        "lines of a file, median, p90": middle(files),
        "lines of a function, median, p90": middle(functions.values()),
        "longest functions": "\n".join(f"{lines} {name}" for name, lines in longest),
        f"functions over {LONG} lines": str(long),
        f"files under {SHORT} lines": str(sum(lines < SHORT for lines in files)),
        "import lines": f"{imports / total:.1%}",
    }


def _imports(sources: list[Source]) -> Iterator[ast.stmt]:
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node


def modules(ours: list[Source], sources: list[Source]) -> Rows:
    importers: dict[str, set[str]] = defaultdict(set)
    known = {source.module for source in sources}
    for source in sources:
        for name in _imported([source]):
            importers[name if name in known else name.rpartition(".")[0]].add(source.module)
    alone = [one for one in ours if len(importers[one.module]) == 1 and not one.is_package]
    return {"modules with one importer": str(len(alone))}


def _imported(sources: list[Source]) -> Iterator[str]:
    for node in _imports(sources):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def twice(sources: list[Source]) -> Rows:
    """Public classes of one name in two places."""
    names = Counter(
        node.name
        for source in sources
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    found = sorted(name for name, count in names.items() if count > 1)
    lines = [" ".join(found[at : at + 4]) for at in range(0, len(found), 4)]
    return {"class names that exist twice": "\n".join([str(len(found)), *lines])}


def passed(root: Path) -> Rows:
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as home, phone(root, home) as env:
        run = Traced(root, Path(home), env)
        anew = [*run.python, "-m", "handrail.cli.main", "restart-app", SETTINGS]
        rows = {}
        for name, count in (("Python", run.program), ("MCP", run.mcp), ("CLI", run.cli), ("flow", run.flow)):
            subprocess.run(anew, env=env, check=True, capture_output=True)
            rows[f"files passed by a tap, {name}"] = str(count())
        subprocess.run(anew, env=env, check=True, capture_output=True)
        rows["lines executed by a tap, Python"] = str(run.lines())
    return rows


class Traced:
    """Programs of one checkout that say which files they passed."""

    def __init__(self, root: Path, home: Path, env: dict[str, str]) -> None:
        self._src, self._out, self._env = root / "src", home / "passed.json", env
        self._flow = home / "one_step.yaml"
        self.python = python(root)

    def program(self) -> int:
        return self._ended(PROGRAM.strip().replace("\n", "\n    "), on=False)

    def lines(self) -> int:
        self._ended(PROGRAM.strip().replace("\n", "\n    "), on=False, counts=True)
        return int(json.loads(self._out.read_text())["lines"])

    def cli(self) -> int:
        return self._ended(COMMAND, "tap", "Network & internet")

    def flow(self) -> int:
        self._flow.write_text(FLOW)
        return self._ended(COMMAND, "run", str(self._flow))

    def mcp(self) -> int:
        """The server is asked to look first, and counts from then on."""
        words = self._words(COMMAND, ["mcp"], on=False)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(words, env=self._env, **pipes) as server:  # type: ignore[call-overload]
            ask = Asked(server)
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "b", "version": "1"},
            }
            ask("initialize", hello)
            ask.tell("notifications/initialized")
            ask("tools/call", {"name": "get_ui_tree", "arguments": {}})
            server.send_signal(signal.SIGUSR1)
            arguments = {"target": "Network & internet", "reason": "I look at it"}
            done = ask("tools/call", {"name": "tap", "arguments": arguments})
            server.send_signal(signal.SIGUSR1)
            assert not done["result"].get("isError"), done
            ask("ping", {})
            server.stdin.close()
            server.wait(30)
        return self._count()

    def _ended(self, run: str, *argv: str, on: bool = True, counts: bool = False) -> int:
        words = self._words(run, list(argv), on=on, counts=counts)
        done = subprocess.run(words, env=self._env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return self._count()

    def _words(self, run: str, argv: list[str], *, on: bool, counts: bool = False) -> list[str]:
        text = TRACED.format(
            on=on,
            counts=counts,
            src=str(self._src / "handrail"),
            out=str(self._out),
            argv=["handrail", *argv],
            run=run,
        )
        return [*self.python, "-c", text]

    def _count(self) -> int:
        files = {Path(file) for file in json.loads(self._out.read_text())["files"]}
        inside = {file.relative_to(self._src) for file in files if file.is_relative_to(self._src)}
        return sum(file.parts[0] == "handrail" for file in inside)


class Asked:
    """Requests to an MCP server, one JSON object a line."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server, self._count = server, 0

    def __call__(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self.tell(method, params, id=self._count)
        for line in sure(self._server.stdout):
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._count:
                return answer
        raise SystemExit(f"the server hung up at {method}")

    def tell(self, method: str, params: dict[str, Any] | None = None, **more: int) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        pipe = sure(self._server.stdin)
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()


@contextmanager
def phone(root: Path, home: str) -> Iterator[dict[str, str]]:
    """A simulated phone of that checkout, and the environment in which commands find it."""
    env = {**os.environ, "HANDRAIL_HOME": home, "PYTHONPATH": f"{root / 'src'}:{simulator(root)}"}
    words = [*python(root), "-m", "handrail.cli.main", "sim", "--port", "0"]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield env | {"HANDRAIL_DEVICE": json.loads(sure(process.stdout).readline())["connect"]}
        finally:
            process.terminate()


def simulator(root: Path) -> Path:
    """Up to 0.2 the simulator was in the root of the repository."""
    new = root / "packages" / "sim" / "src"
    return new if new.exists() else root / "sim" / "src"


def python(root: Path) -> list[str]:
    own = root / ".venv" / "bin" / "python"
    return [str(own) if own.exists() else sys.executable]


def middle(values: Iterable[int]) -> str:
    """The median and the 90th percentile."""
    ordered = sorted(values)
    return f"{statistics.median(ordered):.0f}, {ordered[int(len(ordered) * 0.9)]}"


def sure(value: Any) -> Any:
    assert value is not None
    return value


def table(names: list[str], columns: list[Rows]) -> Iterator[str]:
    cells = [["", *names]]
    for title in columns[-1]:
        split = [column.get(title, "").split("\n") for column in columns]
        cells += [
            [title if at == 0 else "", *(one[at] if at < len(one) else "" for one in split)]
            for at in range(max(map(len, split)))
        ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


if __name__ == "__main__":
    main()
