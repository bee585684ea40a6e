"""Several hosts on one machine: a network namespace each, joined by a bridge that a test can cut. Needs root.

Every process is a real one, and is ended by its namespace: nothing of the machine's own is touched.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

PROGRAM = [sys.executable, "-m", "handrail.cli.main"]
TOKEN = "a-token-for-the-test-bed-0123456789"
HTTP, RAY = 8931, 6390
READY_S = 150.0


def why_not() -> str:
    """Why there can be no bed here; '' where there can."""
    if find_spec("ray") is None:
        return "Ray is not installed: pip install 'handrail[fleet]'"
    if os.getuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need root and ip: the lines about a cut network were not run"
    made = subprocess.run(["ip", "netns", "add", f"hrtry{os.getpid()}"], capture_output=True)
    if made.returncode:
        return "network namespaces are not allowed here: the lines about a cut network were not run"
    subprocess.run(["ip", "netns", "del", f"hrtry{os.getpid()}"], check=True)
    return ""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def until(what: Callable[[], object], seconds: float = READY_S, why: str = "") -> None:
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError(f"it did not come: {why or what}")
        time.sleep(0.2)


@dataclass
class Bed:
    folder: Path
    hosts: int
    phones: int
    limit: int
    with_ray: bool = True
    lease: float = 8.0
    redis: str = ""
    disk_mb: int = 0
    """Room of the first host's home; 0 is that of the machine."""
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    mark: int = field(default_factory=count().__next__)
    """Another one for every bed of this process."""

    def space(self, number: int) -> str:
        return f"hr{os.getpid()}b{self.mark}n{number}"

    def address(self, number: int) -> str:
        return f"10.79.0.{10 + number}"

    def net(self) -> None:
        for number in range(self.hosts + 1):
            ip("netns", "add", self.space(number))
            ip("-n", self.space(number), "link", "set", "lo", "up")
        ip("-n", self.space(0), "link", "add", "br0", "type", "bridge")
        ip("-n", self.space(0), "addr", "add", f"{self.address(0)}/24", "dev", "br0")
        ip("-n", self.space(0), "link", "set", "br0", "up")
        for number in range(1, self.hosts + 1):
            self.join(number)

    def join(self, number: int) -> None:
        own, mine = f"v{number}", self.space(number)
        ip("link", "add", own, "netns", self.space(0), "type", "veth", "peer", "name", "eth0", "netns", mine)
        ip("-n", self.space(0), "link", "set", own, "master", "br0", "up")
        ip("-n", mine, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
        ip("-n", mine, "link", "set", "eth0", "up")

    def cut(self, number: int, *, is_cut: bool = True) -> None:
        ip("-n", self.space(0), "link", "set", f"v{number}", "down" if is_cut else "up")

    def slow(self, number: int, *, is_slow: bool = True) -> None:
        """128 kbit/s in both directions."""
        shape = ["root", "tbf", "rate", "128kbit", "burst", "16kbit", "latency", "600ms"]
        for space, device in ((self.space(0), f"v{number}"), (self.space(number), "eth0")):
            words = ["add", "dev", device, *shape] if is_slow else ["del", "dev", device, "root"]
            subprocess.run(["tc", "-n", space, "qdisc", *words], check=True, capture_output=True)

    def home(self, name: str) -> Path:
        return self.folder / name

    def start(self, name: str, number: int, *arguments: str) -> None:
        home = self.home(name)
        (home / "config").mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
        env = {
            "PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home),
            "PYTHONUNBUFFERED": "1", "HANDRAIL_NO_DAEMON": "1", "HANDRAIL_FLEET_TRUSTED_NETWORK": "1",
        }  # fmt: skip
        # Ray's head refuses to start where it sees other nodes' processes: on real machines it sees none.
        alone = ["unshare", "--pid", "--fork", "--mount-proc"] if name == "head" else []
        with (self.folder / f"{name}.log").open("ab") as log:
            line = ["ip", "netns", "exec", self.space(number), *alone, *PROGRAM, *arguments]
            self.running.append(
                subprocess.Popen(
                    line, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
                )
            )

    def start_head(self) -> None:
        ray = [f"--ray-port={RAY}"] if self.with_ray else ["--no-ray"]
        ray += [f"--redis={self.redis}"] if self.redis else []
        place = ["--bind", self.address(0), "--port", str(HTTP), "--token", TOKEN, "--trusted-network"]
        self.start("head", 0, "fleet", "head", *place, "--lease", str(self.lease), *ray)

    def start_host(self, number: int) -> None:
        name = f"h{number}"
        if number == 1 and self.disk_mb and not self.home(name).is_mount():
            self.home(name).mkdir(mode=0o700)
            line = ["mount", "-t", "tmpfs", "-o", f"size={self.disk_mb}m", "bed", str(self.home(name))]
            subprocess.run(line, check=True, capture_output=True)
        config = self.home(name) / "config"
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = ["--name", name, "--phones", str(self.phones), "--limit", str(self.limit)]
        if self.with_ray:
            shutil.copy(self.home("head") / "config" / "fleet-ray.token", config)
            way = ["--address", f"{self.address(0)}:{RAY}", "--bind", self.address(number)]
            way += ["--ray-port", str(RAY + 50 * number)]
        else:
            joining = self.home("head") / "config" / "fleet-host.token"
            way = ["--address", f"http://{self.address(0)}:{HTTP}", "--token", f"@{joining}"]
        self.start(name, number, "fleet", "host", *about, *way)

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start_redis(self) -> None:
        """Beside the head, and not killed with it."""
        host, _, port = self.redis.partition(":")
        about = ["--bind", host, "--port", port, "--protected-mode", "no", "--appendonly", "yes"]
        line = ["ip", "netns", "exec", self.space(0), "redis-server", *about, "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("ab") as log:
            self.running.append(subprocess.Popen(line, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        until(lambda: "Ready to accept connections" in self.log("redis"), why="Redis")

    def up(self) -> None:
        if self.redis:
            self.start_redis()
        self.start_head()
        until(lambda: "Ctrl-C stops it" in self.log("head"), why=f"the head: {self.log('head')[-500:]}")
        for number in range(1, self.hosts + 1):
            self.start_host(number)
        until(lambda: len(self.alive()) == self.hosts, why="all hosts")

    def rows(self, order: str, *values: object) -> list[tuple[object, ...]]:
        """The ledger, read by plain SQL."""
        db = sqlite3.connect(f"file:{self.home('head')}/fleet/fleet.db?mode=ro", uri=True, timeout=20)
        try:
            return db.execute(order, values).fetchall()
        finally:
            db.close()

    def alive(self) -> set[str]:
        with suppress(sqlite3.Error):
            now = time.time() * 1000
            rows = self.rows("SELECT name FROM hosts WHERE heard_ms > ?", now - 5_000)
            return {str(name) for (name,) in rows}
        return set()

    def command(
        self, *arguments: str, number: int = 0, home: str = "head", timeout: float = 600.0
    ) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home(home)), "HANDRAIL_HOME": str(self.home(home)),
            "HANDRAIL_NO_DAEMON": "1", "HANDRAIL_FLEET_TRUSTED_NETWORK": "1",
        }  # fmt: skip
        line = ["ip", "netns", "exec", self.space(number), *PROGRAM, *arguments]
        return subprocess.run(line, env=env, capture_output=True, text=True, timeout=timeout)

    def pids(self, number: int) -> list[int]:
        told = subprocess.run(["ip", "netns", "pids", self.space(number)], capture_output=True, text=True)
        return [int(one) for one in told.stdout.split()]

    def of(self, number: int, word: str) -> list[int]:
        """Processes of one host whose command line has this word."""
        found = []
        for pid in self.pids(number):
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [pid] if word in line else []
        return found

    def kill(self, pids: list[int], number: int = signal.SIGKILL) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def down(self) -> None:
        for number in range(self.hosts + 1):
            self.kill(self.pids(number), signal.SIGCONT)
            for _ in range(20):
                self.kill(self.pids(number))
                if not self.pids(number):
                    break
                time.sleep(0.1)
            subprocess.run(["ip", "netns", "del", self.space(number)], capture_output=True)
        for process in self.running:
            process.wait()
        if self.home("h1").is_mount():
            subprocess.run(["umount", "-l", str(self.home("h1"))], check=True)


@contextmanager
def bed(hosts: int = 2, phones: int = 3, limit: int = 2, **more: object) -> Iterator[Bed]:
    with tempfile.TemporaryDirectory(prefix="fleet-bed-") as folder:
        made = Bed(Path(folder), hosts, phones, limit, **more)  # type: ignore[arg-type]
        try:
            made.net()
            made.up()
            yield made
        finally:
            made.down()
