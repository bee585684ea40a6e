"""Ray's processes on one machine: started with a token, without statistics and dashboard, on fixed ports.

Imports nothing of Ray: it is run as programs, so that a head or a host lives on when Ray's processes die.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

from handrail.bind import is_loopback
from handrail.errors import AdbConnectionError, InvalidAction, Unsupported
from handrail.waiting import first
from handrail_fleet.transport import secret_file

PORTS = {
    "node-manager-port": 1,
    "object-manager-port": 2,
    "runtime-env-agent-port": 3,
    "dashboard-agent-listen-port": 4,
    "dashboard-agent-grpc-port": 5,
    "metrics-export-port": 6,
    "min-worker-port": 10,
    "max-worker-port": 39,
}
"""Counted from the first one, which the head itself listens on."""
QUIET = {
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_timeline": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_event_stats": "0",
    "RAY_event_stats_print_interval_ms": "0",
    "RAY_debug_dump_period_milliseconds": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_raylet_report_resources_period_milliseconds": "1000",
    "RAY_raylet_check_gc_period_milliseconds": "10000",
    "RAY_gcs_pull_resource_loads_period_milliseconds": "10000",
    "RAY_kill_idle_workers_interval_ms": "5000",
    "RAY_local_fs_monitor_interval_ms": "60000",
}
"""What Ray measures and writes about itself, and looks at ten times a second by itself: one actor on each
machine needs none of it, and it is most of what a fleet at rest costs."""
OBJECT_STORE = 100_000_000
"""Bytes: nothing that lasts is kept there."""
JOIN_S = 60.0
"""`ray start --address` tries without an end by itself."""
PLACE_S = 60.0
_LISTENS = "0A"
"""A socket's state in `/proc/net/tcp`. Its addresses are words in the order of a little-endian machine."""
TOKEN_FILE = "fleet-ray.token"  # noqa: S105  (a file's name)


@dataclass(frozen=True, slots=True)
class RayPlace:
    """Where one node of the cluster lives."""

    bind: str
    port: int
    home: Path
    redis: str | None = None
    is_trusted: bool = False
    """`--trusted-network`: others on this machine's networks may reach Ray."""

    @property
    def ip(self) -> str:
        return "127.0.0.1" if is_loopback(self.bind) else self.bind

    @property
    def token(self) -> Path:
        return self.home / "config" / TOKEN_FILE

    @property
    def temp(self) -> Path:
        """Short: Ray puts sockets there, whose paths have at most 107 bytes. Ray opens its own folder to
        everybody who can reach it, so it lies in one that nobody else can."""
        mark = hashlib.sha256(str(self.home).encode()).hexdigest()[:8]
        return Path(f"/tmp/handrail-ray-{os.getuid()}-{mark}")  # noqa: S108  (made with mode 0700)

    def env(self) -> dict[str, str]:
        """Also of every process that Ray starts."""
        return {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_health_check_period_ms": "1000",
            "RAY_health_check_timeout_ms": "1000",
            "RAY_health_check_failure_threshold": "3",
            "RAY_health_check_initial_delay_ms": "1000",
            "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
            "RAY_DEDUP_LOGS": "0",
            **QUIET,
            "HANDRAIL_NO_DAEMON": "1",
            **({"RAY_REDIS_ADDRESS": self.redis} if self.redis else {}),
        }

    def ports(self) -> list[str]:
        return [f"--{name}={self.port + number}" for name, number in PORTS.items()]

    def refuse_open_sockets(self) -> None:
        """Ray listens on every network of the machine, whatever address it was started with."""
        if self.is_trusted or not is_loopback(self.bind):
            return
        reachable = open_sockets(self.port, self.port + PORTS["max-worker-port"])
        if not reachable:
            return
        raise InvalidAction(
            f"Ray was started on {self.ip}, but others reach it at {', '.join(sorted(reachable)[:3])}",
            path="bind",
            hint="Give --no-ray (hosts join by HTTP), or --trusted-network if no one else is there.",
        )


def open_sockets(lowest: int, highest: int) -> set[str]:
    """Listening sockets of this machine that are not on loopback, by the kernel's own table. Empty where
    there is none: on systems other than Linux nothing is checked."""
    reachable = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if not table.exists():
            continue
        for row in table.read_text().splitlines()[1:]:
            _, local, _, state, *_ = row.split()
            number, _, port = local.partition(":")
            words = bytes.fromhex(number)
            order = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
            address = ip_address(order)
            if isinstance(address, IPv6Address) and address.ipv4_mapped:
                address = address.ipv4_mapped
            if state == _LISTENS and lowest <= int(port, 16) <= highest and not address.is_loopback:
                reachable.add(f"{address} port {int(port, 16)}")
    return reachable


def own_folder(path: Path) -> None:
    """Made with mode 0700. Raises where somebody else was here first: its name can be guessed."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = path.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o077:
        raise InvalidAction(f"{path} is not this user's own, or others may enter it", hint=f"Remove {path}.")


_RAY = (
    "import ray.scripts.scripts as scripts\n"
    "scripts.get_ray_client_dependency_error = lambda: 'not wanted'\n"
    "scripts.main()"
)
"""`ray` as a program. Where gRPC is installed it would open port 10001 for clients that may run any code, and
it has no option against that."""


def need_ray() -> list[str]:
    """How Ray's own program is called. Raises `Unsupported` where it is not installed."""
    if importlib.util.find_spec("ray") is None:
        hint = "pip install 'handrail[fleet]', or give --no-ray: hosts then join by HTTP alone."
        raise Unsupported("Ray is not installed here", hint=hint)
    return [sys.executable, "-c", _RAY]


@dataclass(slots=True)
class RayNode:
    """`ray start --block` as a child; it ends everything that it started."""

    place: RayPlace
    arguments: list[str]
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        program = need_ray()
        own_folder(self.place.temp)
        log = (self.place.temp / "start.log").open("ab")
        command = [
            *program, "start", "--block", f"--node-ip-address={self.place.ip}",
            "--include-log-monitor=false", "--disable-usage-stats", f"--temp-dir={self.place.temp / 'r'}",
            "--num-cpus=1", f"--object-store-memory={OBJECT_STORE}", *self.place.ports(), *self.arguments,
        ]  # fmt: skip
        with log:
            self.process = await asyncio.create_subprocess_exec(
                *command, env=self.place.env(), stdout=log, stderr=log, stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def ended(self) -> None:
        if self.process is not None:
            await self.process.wait()

    def last_words(self) -> str:
        """The last line of its log that says something."""
        log = self.place.temp / "start.log"
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else "no word of it"

    async def stop(self) -> None:
        """The group gets its time, then its end."""
        if self.process is None:
            return
        for number, seconds in ((signal.SIGTERM, 8.0), (signal.SIGKILL, 3.0)):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.process.wait()
        with suppress(ProcessLookupError):  # what was orphaned in the group
            os.killpg(self.process.pid, signal.SIGKILL)


async def place_actor(
    place: RayPlace, address: str, kind: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """By a program of its own, which ends: actors stay without it. What it told."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "handrail_fleet.ray_actors", kind, address, json.dumps(dict(settings)),
        env=place.env(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        stdin=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PLACE_S):
            told, problems = await child.communicate()
    except TimeoutError:
        raise AdbConnectionError(
            f"Ray at {address} did not answer in {PLACE_S:g} s",
            hint="Is its head running, and the token the same?",
        ) from None
    finally:
        with suppress(ProcessLookupError):
            child.kill()
    if child.returncode != 0:
        why = problems.decode(errors="replace").strip().splitlines()[-1:] or ["no word of it"]
        raise AdbConnectionError(
            f"Ray at {address} could not be used: {why[0]:.300}", hint=f"Look into {place.temp}."
        )
    return dict(json.loads(told.decode().strip().splitlines()[-1]))


@asynccontextmanager
async def ray_head(place: RayPlace, address: str, joining: Path) -> AsyncIterator[list[str]]:
    """The cluster's head, and the actor by which hosts reach ours; lines that tell how to join."""
    need_ray()
    secret_file(place.token)
    resources = json.dumps({"handrail-head": 1000})
    node = RayNode(
        place,
        [
            "--head", f"--port={place.port}", "--include-dashboard=false", "--no-monitor",
            f"--resources={resources}",
        ],
    )  # fmt: skip
    await node.start()
    try:
        settings = {"address": address, "joining": str(joining)}
        await _placed(place, node, f"{place.ip}:{place.port}", "head", settings)
        place.refuse_open_sockets()
        last = place.port + PORTS["max-worker-port"]
        yield [
            f"Ray:                 {place.ip}, ports {place.port} to {last}, token in {place.token}",
            f"Hosts by Ray:        handrail fleet host --address {place.ip}:{place.port}",
        ]
    finally:
        await node.stop()


async def _placed(
    place: RayPlace, node: RayNode, address: str, kind: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Ray needs some seconds until it takes actors."""
    deadline = asyncio.get_running_loop().time() + JOIN_S
    while True:
        placing, _ = await first(place_actor(place, address, kind, settings), node.ended())
        if placing.cancelled():
            raise AdbConnectionError(
                f"Ray's processes ended: {node.last_words()}", hint=f"Look into {place.temp}."
            )
        if placing.exception() is None:
            return placing.result()
        if asyncio.get_running_loop().time() > deadline:
            raise AdbConnectionError(str(placing.exception()), hint=f"Look into {place.temp}.")
        await asyncio.sleep(1.0)


@asynccontextmanager
async def ray_host(
    place: RayPlace, address: str, name: str, settings: Mapping[str, Any]
) -> AsyncIterator[RayNode]:
    """This machine's node, and the agent on it as a detached actor that lives nowhere else."""
    if not place.token.exists():
        hint = f"Copy the head's config/{TOKEN_FILE} to {place.token}, mode 0600."
        raise InvalidAction("There is no token for Ray here", path="address", hint=hint)
    secret_file(place.token)
    resources = json.dumps({f"handrail-host-{name}": 1})
    node = RayNode(place, [f"--address={address}", f"--resources={resources}"])
    await node.start()
    try:
        await _placed(place, node, address, "host", {"name": name, **settings})
        place.refuse_open_sockets()
        yield node
    finally:
        await node.stop()
