"""How long a command takes from Enter to the prompt, each beside its floor, its engine or its peer.

Bytecode is cached, and `handrail` is the script that pip installs. Wall time is what a person waits; CPU time
says how much of it was ours on a machine that others use too. A goal of CPU time is marked so. With
AGENT_DEVICE (its `agent-device.mjs`) and HANDRAIL_MOBILE_MCP (its `lib/index.js`) the peers run on
the same phone, see `cli_peers.py`. `--json` gives the figures as data.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cli_peers
from handrail.config import Config
from handrail.runtime import Runtime

FLOOR = "python -c pass"
COLD_FLOOR = "python, asyncio, a model"
MODEL = """
import asyncio, pydantic, sys
class Model(pydantic.BaseModel):
    x: int
Model(x=1)
async def main():
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    writer.write(b"x")
    await reader.read()
asyncio.run(main())
"""
SCRIPT = "import sys\nfrom handrail.cli.main import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
"""What pip 25 writes into `bin`. Older ones import `re` there, which takes five milliseconds more."""
ALONE = {"HANDRAIL_NO_DAEMON": "1"}
FLOWS = Path(__file__).parents[1] / "examples" / "flows"
SETTINGS = "com.android.settings"
SWITCH = "Data Saver"
PLACE = "960,1030"
"""The middle of that switch."""
NOTHING = "540,100"
"""The title of the page: nothing happens there, so the screen is watched until it has rested long enough."""
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|( +)(\S+)")
FIRST_WORDS = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)
PEERS = {"AGENT_DEVICE": cli_peers.agent_device, "HANDRAIL_MOBILE_MCP": cli_peers.mobile_mcp}
PARTS = ("handrail", "pydantic", "pydantic_core", "click", "asyncio", "sqlite3", "lxml", "PIL", "rich", "mcp")


@dataclass
class Row:
    """One command, done many times. Milliseconds."""

    name: str
    wall: list[float]
    cpu: list[float]
    goal: str = ""
    verdict: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def cpu_median(self) -> float:
        return statistics.median(self.cpu)

    def judge(self, goal: str, value: float, most: float, shown: str = "") -> None:
        """Against a figure of the same run."""
        self.goal, self.verdict = goal, f"{shown or f'{value:.0f}'}, {'kept' if value <= most else 'MISSED'}"

    def to_dict(self) -> dict[str, object]:
        ordered = sorted(self.wall)
        return {
            "command": self.name,
            "median_ms": round(self.median, 1),
            "p90_ms": round(ordered[int(len(ordered) * 0.9)], 1),
            "min_ms": round(ordered[0], 1),
            "cpu_ms": round(self.cpu_median, 1),
            "goal": self.goal,
            "verdict": self.verdict,
        }


def main() -> None:
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as home, phone() as address:
        bench = Bench(Path(home), address, options.runs)
        bench.run("start-app", SETTINGS)
        bench.run("tap", "Network & internet")
        floor, *rows = bench.cold()
        rows += bench.first_bytes()
        rows.append(bench.by_server())
        rows += bench.by_daemon()
        rows += bench.first_words()
        parts = {name: bench.imported(*words) for name, words in {"--help": ["--help"], "ui": ["ui"]}.items()}
        told = [floor, *rows, *peers(bench, rows)]
    if options.json:
        print(json.dumps({"commands": [row.to_dict() for row in told], "imports": parts}, indent=1))
    else:
        print("\n".join([*table(told, options.runs), "", *breakdown(parts)]))


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21, help="how often each command runs (default 21)")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    return parser


class Bench:
    """A home, a phone that shows the network's settings, and commands on it."""

    def __init__(self, home: Path, address: str, runs: int) -> None:
        self.home = home
        self.runs = runs
        self.address = address
        (home / "handrail").write_text(SCRIPT)
        self.env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.env |= {"HANDRAIL_HOME": str(home / "home"), "HANDRAIL_DEVICE": address}
        self.env["PYTHONPYCACHEPREFIX"] = str(home / "bytecode")
        self.env.pop("HANDRAIL_NO_DAEMON", None)
        self.alone = self.env | ALONE

    def handrail(self, *words: str) -> list[str]:
        return [sys.executable, str(self.home / "handrail"), *words]

    def run(self, *words: str) -> None:
        subprocess.run(self.handrail(*words), env=self.alone, check=True, capture_output=True)

    def measured(
        self, name: str, words: list[str], env: dict[str, str], before: list[str] | None = None
    ) -> Row:
        """The first run writes the bytecode and does not count."""
        row = Row(name, [], [])
        for number in range(self.runs + 1):
            if before:
                subprocess.run(before, env=env, check=True, capture_output=True)
            used, began = cpu_ms(), time.perf_counter()
            subprocess.run(words, env=env, check=True, capture_output=True)
            if number:
                row.wall.append((time.perf_counter() - began) * 1000)
                row.cpu.append(cpu_ms() - used)
        return row

    def timed(self, name: str, work: Callable[[], object]) -> Row:
        """Something in a process that stays; its CPU time is not known."""
        row = Row(name, [], [0.0])
        for number in range(self.runs + 1):
            began = time.perf_counter()
            work()
            if number:
                row.wall.append((time.perf_counter() - began) * 1000)
        return row

    def cold(self) -> list[Row]:
        """Commands that run by themselves. The first row is what any Python program pays."""
        flows = sorted(map(str, FLOWS.glob("*.yaml")))
        words = {
            "--version": ["--version"],
            "--help": ["--help"],
            "tap --help": ["tap", "--help"],
            "ui": ["ui"],
            f"tap {SWITCH}": ["tap", SWITCH],
            "actions swipe": ["actions", "swipe"],
            "flow check examples": ["flow", "check", *flows],
        }
        found = {name: self.measured(name, self.handrail(*said), self.alone) for name, said in words.items()}
        for name, most in {"--help": 120, f"tap {SWITCH}": 400}.items():
            found[name].judge(f"≤ {most}", found[name].median, most)
        for name, most in {"actions swipe": 200, "flow check examples": 300}.items():
            found[name].judge(f"CPU ≤ {most}", found[name].cpu_median, most)
        return [self.measured(FLOOR, [sys.executable, "-c", "pass"], self.alone), *found.values()]

    def first_bytes(self) -> list[Row]:
        """Until a phone hears something: what is left to import where there is no daemon."""
        floor = self.until_heard(f"{COLD_FLOOR}: first byte", [sys.executable, "-c", MODEL, "PORT"])
        rows = []
        for name, words in {"ui": ["ui"], f"tap {SWITCH}": ["tap", SWITCH]}.items():
            said = self.handrail(*words, "--device", "127.0.0.1:PORT")
            row = self.until_heard(f"{name}: first byte", said)
            more = row.cpu_median - floor.cpu_median
            row.judge("CPU ≤ floor + 100", more, 100, f"floor + {more:.0f}")
            rows.append(row)
        return [floor, *rows]

    def until_heard(self, name: str, words: list[str]) -> Row:
        row = Row(name, [], [])
        for number in range(self.runs + 1):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                port = str(listener.getsockname()[1])
                said = [word.replace("PORT", port) for word in words]
                began = time.perf_counter()
                with subprocess.Popen(said, env=self.alone, stdout=-3, stderr=-3) as process:
                    line, _ = listener.accept()
                    line.recv(1)
                    wall, cpu = (time.perf_counter() - began) * 1000, cpu_of(process.pid)
                    process.kill()
                    line.close()
            if number:
                row.wall.append(wall)
                row.cpu.append(cpu)
        return row

    def by_server(self) -> Row:
        """`handrail serve` with the phone open: commands hand their action over to it."""
        words = self.handrail("serve", "--port", "0", "--no-mcp", "--device", self.address)
        with subprocess.Popen(words, env=self.alone, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                next(line for line in process.stdout if "Ctrl-C" in line)
                row = self.measured("tap, server runs", self.handrail("tap", SWITCH), self.alone)
            finally:
                process.terminate()
        row.judge("≤ 400", row.median, 400)
        return row

    def by_daemon(self) -> list[Row]:
        """Commands that are handed over, beside Python's own start and the engine's own tap."""
        stop = self.handrail("daemon", "stop")
        try:
            subprocess.run(self.handrail("ui"), env=self.env, check=True, capture_output=True)
            floor = self.measured(FLOOR, [sys.executable, "-c", "pass"], self.env)
            ui, tap, same, nothing = (
                self.measured(f"{' '.join(words)} by daemon", self.handrail(*words), self.env)
                for words in (["ui"], ["tap", SWITCH], ["tap", PLACE], ["tap", NOTHING])
            )
            memory = self.daemon_memory()
            first = self.measured("first of all, starts the daemon", self.handrail("ui"), self.env, stop)
        finally:
            subprocess.run(stop, env=self.env, check=True, capture_output=True)
        engine, rest = asyncio.run(self.in_engine(SWITCH)), asyncio.run(self.in_engine(NOTHING))
        times = ui.median / floor.median
        ui.judge(f"≤ 4 × {FLOOR}", times, 4, f"{times:.2f} ×")
        for row, own in ((tap, engine), (same, engine), (nothing, rest)):
            more = row.median - own.median
            row.judge("≤ engine's + 60", more, 60, f"+ {more:.0f}")
        first.judge("≤ 800", first.median, 800)
        return [floor, ui, engine, tap, same, rest, nothing, first, memory]

    def daemon_memory(self) -> Row:
        """Resident megabytes of the daemon while it waits for something on a phone, and of the client."""
        waiting = self.handrail("wait-for", "There is no such thing", "--timeout-ms", "60000")
        with subprocess.Popen(waiting, env=self.env, stdout=-3, stderr=-3) as process:
            while True:
                status = subprocess.run(
                    self.handrail("daemon", "status", "--json"), env=self.env, check=True, capture_output=True
                )
                daemon = json.loads(status.stdout)
                if daemon["phones"]:
                    break
            text = Path(f"/proc/{daemon['pid']}/status").read_text()
            client = Path(f"/proc/{process.pid}/status").read_text()
            process.terminate()
        megabytes, own = (int(re.findall(r"VmRSS:\s+(\d+)", one)[0]) / 1024 for one in (text, client))
        row = Row(f"memory of the daemon, a client has {own:.0f}: MB", [megabytes], [0.0])
        row.judge("≤ 90", megabytes, 90)
        return row

    def first_words(self) -> list[Row]:
        """An MCP client's `initialize` and `tools/list`, in a daemon that runs and by itself."""
        stop = self.handrail("daemon", "stop")
        subprocess.run(self.handrail("ui"), env=self.env, check=True, capture_output=True)
        try:
            time.sleep(4)  # it imports the library when it has nothing else to do
            rows = [
                self.timed(f"mcp: first words {how}", lambda env=env: self.greet(env))
                for how, env in (("by daemon", self.env), ("alone", self.alone))
            ]
        finally:
            subprocess.run(stop, env=self.env, check=True, capture_output=True)
        rows[0].judge("≤ 400", rows[0].median, 400)
        return rows

    def greet(self, env: dict[str, str]) -> None:
        with subprocess.Popen(self.handrail("mcp"), env=env, stdin=-1, stdout=-1, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("".join(json.dumps(message) + "\n" for message in FIRST_WORDS))
            process.stdin.flush()
            for _ in range(2):
                assert "result" in json.loads(process.stdout.readline())
            process.stdin.close()

    async def in_engine(self, target: str) -> Row:
        """The same tap in a session that stays open, by the same helper."""
        config = Config.from_env({"HANDRAIL_HOME": str(self.home / "engine")})
        row = Row(f"tap {target}, engine alone", [], [])
        async with Runtime.open(config) as runtime:
            session = await runtime.session(self.address)
            for number in range(self.runs + 1):
                used, began = time.process_time(), time.perf_counter()
                envelope = await session.tap(target)
                assert envelope.success, envelope.to_json()
                if number:
                    row.wall.append((time.perf_counter() - began) * 1000)
                    row.cpu.append((time.process_time() - used) * 1000)
        waited = (envelope.timings_ms or {}).get("waiting", 0)
        row.verdict = f"of which {waited:.0f} watching the screen rest"
        return row

    def imported(self, *words: str) -> dict[str, float]:
        """Milliseconds of import by top-level package, each module without those that it imports itself."""
        timed = [sys.executable, "-X", "importtime", *self.handrail(*words)[1:]]
        done = subprocess.run(timed, env=self.alone, check=True, capture_output=True, text=True)
        spent: dict[str, float] = {}
        for own, _, _, module in IMPORT.findall(done.stderr):
            top = module.partition(".")[0]
            part = top if top in PARTS else "the rest of the library"
            spent[part] = spent.get(part, 0) + int(own) / 1000
        return {name: round(ms, 1) for name, ms in sorted(spent.items(), key=lambda item: -item[1])}


def peers(bench: Bench, rows: list[Row]) -> list[Row]:
    """Those that are named by the environment, beside our commands that do the same."""
    ours = {row.name: row for row in rows}
    ui, tap = ours["ui by daemon"], ours[f"tap {SWITCH} by daemon"]
    found: list[Row] = []
    for variable, work in PEERS.items():
        if path := os.environ.get(variable):
            for row, mine in work(bench, path, ui, tap):
                share = mine.median / row.median
                row.judge("ours faster", share, 1, f"ours takes {share:.2f} of it")
                found += [row] if mine in rows else [row, mine]
    return found


def cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def cpu_of(process: int) -> float:
    """Of a process that still runs, all its threads."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((one / "schedstat").read_text().split()[0]) for one in threads) / 1e6


def table(rows: list[Row], runs: int) -> Iterator[str]:
    yield f"{f'handrail … ({runs} runs), ms':<42}{'median':>8}{'p90':>7}{'min':>7}{'CPU':>7}   goal"
    for row in rows:
        told = row.to_dict()
        figures = (
            f"{told['median_ms']:>8.0f}{told['p90_ms']:>7.0f}{told['min_ms']:>7.0f}{told['cpu_ms']:>7.0f}"
        )
        yield f"{row.name:<42}{figures}   {row.goal}{': ' if row.goal else ''}{row.verdict}".rstrip()


def breakdown(parts: dict[str, dict[str, float]]) -> Iterator[str]:
    for name, spent in parts.items():
        yield f"imports of {name}: {sum(spent.values()):.0f} ms under -X importtime, which slows them"
        yield from (f"  {part:<26}{ms:>7.1f}" for part, ms in spent.items())


@contextmanager
def phone() -> Iterator[str]:
    """A phone in a process of its own."""
    words = [sys.executable, "-m", "handrail.cli.main", "sim", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["connect"]
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
