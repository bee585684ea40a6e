"""Every server, started without naming an address, listens on loopback only: the kernel's table says so."""

from __future__ import annotations

import asyncio
import os
import signal
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import lodging
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's /proc"),
]
JOURNAL = "handrail/witness/ba71739c5958443f+d32e431e+BM6e9c0cW40+puzUN3brZ1GzW0ooIB0hiGOp3qc8abPJ"
"""A public key, of no journal."""
SERVERS = {
    "desk": ["serve", "--port", "0", "--sim", "1"],
    "mcp": ["mcp", "--http", "--port", "0", "--sim"],
    "simulated phones": ["sim", "--port", "0", "--phones", "2"],
    "head of a fleet": ["fleet", "head", "--no-ray", "--port", "0"],
    "private fleet": ["fleet", "host", "--phones", "1"],
    "witness": ["witness", "serve", "--port", "0", "--key", JOURNAL],
    "head of a fleet with Ray": ["fleet", "head", "--port", "0"],
}


def processes(home: Path) -> list[Path]:
    """All that were started with this home, whoever started them; the daemon has it among its words."""
    folders = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            if os.fsencode(home) in words and os.listdir(folder / "fd"):
                folders.append(folder)
        except OSError:
            continue
    return folders


def listening(home: Path) -> set[tuple[str, int]]:
    own = set()
    for folder in processes(home):
        for handle in (folder / "fd").glob("*"):
            try:
                own.add(os.readlink(handle))
            except OSError:
                continue
    sockets = set()
    for name in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                number, port = fields[1].split(":")
                words = [bytes.fromhex(number[at : at + 8])[::-1] for at in range(0, len(number), 8)]
                sockets.add((str(ip_address(b"".join(words))), int(port, 16)))
    return sockets


@pytest.mark.parametrize("name", SERVERS)
async def test_a_server_listens_on_loopback_only(tmp_path: Path, name: str) -> None:
    with_ray = name.endswith("Ray")
    if with_ray and find_spec("ray") is None:
        pytest.skip("no Ray here: pip install 'handrail-fleet[ray]'")
    async with lodging(tmp_path) as place:
        process = await asyncio.create_subprocess_exec(
            *HANDRAIL,
            *SERVERS[name],
            env=place.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout
        try:
            await until(lambda: listening(tmp_path) or process.returncode is not None)
            if with_ray:  # which opens its ports to everybody, and is ended for it before anything is served
                words = (await process.stdout.read()).decode()
                assert "--no-ray" in words, words
                await until(lambda: not listening(tmp_path))
                return
            await asyncio.sleep(2)  # further sockets, such as the other loopback's
            assert {address for address, _ in listening(tmp_path)} <= {"127.0.0.1", "::1"}
            assert process.returncode is None, (await process.stdout.read()).decode()
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.communicate()
