"""A head and hosts as programs on this machine, without Ray and without namespaces."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packages.fleet.tests.bed import PROGRAM, until


@dataclass
class PlainFleet:
    folder: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def env(self, name: str) -> dict[str, str]:
        home = self.folder / name
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {
            "PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home),
            "PYTHONUNBUFFERED": "1", "HANDRAIL_NO_DAEMON": "1",
        }  # fmt: skip

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            made = subprocess.Popen(
                [*PROGRAM, *arguments], env=self.env(name), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self.running.append(made)
        return made

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def address(self) -> str:
        return re.search(r"The desk is at (\S+)", self.log("head"))[1]  # type: ignore[index]

    @property
    def link(self) -> str:
        return re.search(r"Log one browser in:\s+(\S+)", self.log("head"))[1]  # type: ignore[index]

    def host(self, name: str, phones: int, limit: int = 2) -> subprocess.Popen[bytes]:
        joining = self.folder / "head" / "config" / "fleet-host.token"
        about = ["--name", name, "--phones", str(phones), "--limit", str(limit), "--tag", "lab"]
        return self.start(name, "fleet", "host", "--address", self.address, "--token", f"@{joining}", *about)

    def command(
        self, *arguments: str, timeout: float = 300.0, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        line, env = [*PROGRAM, *arguments], self.env("head")
        return subprocess.run(line, env=env, cwd=cwd, capture_output=True, text=True, timeout=timeout)

    def hosts(self) -> int:
        told = self.command("fleet", "status")
        return sum("\tup\t" in line for line in told.stdout.splitlines())


@contextmanager
def plain_fleet(folder: Path, hosts: int, phones: int, limit: int = 2) -> Iterator[PlainFleet]:
    made = PlainFleet(folder)
    try:
        made.start("head", "fleet", "head", "--no-ray", "--port", "0")
        until(lambda: "Ctrl-C stops it" in made.log("head"), why="the head")
        for number in range(1, hosts + 1):
            made.host(f"h{number}", phones, limit)
        until(lambda: made.hosts() == hosts, why=f"{hosts} hosts: {made.log('h1')[-300:]}")
        yield made
    finally:
        for process in reversed(made.running):
            process.send_signal(signal.SIGTERM)
        for process in made.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
