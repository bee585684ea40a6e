"""A fleet on Ray, each host in a network namespace of its own: faults, strangers, and flows on two phones.

`make test-fleet` runs it. What a judge says here is read from the ledger's file and from journals.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages.fleet.tests.bed import HTTP, RAY, TOKEN, Bed, bed, why_not
from packages.fleet.tests.faults import FAULTS, MORE_FAULTS, journals_hold, story

from handrail_fleet.ray_cluster import RayPlace

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(580)]
UNITS = 24


@pytest.fixture(scope="module")
def lab() -> Iterator[Bed]:
    if reason := why_not():
        pytest.skip(reason)
    with bed(hosts=2, phones=3, limit=2) as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_middle_leaves_one_result_for_each_unit(lab: Bed, fault: str) -> None:
    """The driver is dead in each of them: the run is handed in detached."""
    told = story(lab, UNITS, [fault])
    sys.stdout.write(f"{fault}: {told}\n")
    assert told["done"] == UNITS, "flows that may be repeated are, until each has passed"
    assert told["passed"] == UNITS


def test_the_journals_of_all_hosts_hold_after_all_of_that(lab: Bed) -> None:
    journals_hold(lab)


def test_all_faults_in_one_run_that_is_larger_than_a_request() -> None:
    """With a full disk and a slow network besides; the first host's home has a disk of its own."""
    if reason := why_not():
        pytest.skip(reason)
    with bed(hosts=2, phones=3, limit=2, disk_mb=400) as made:
        told = story(made, 60, list(MORE_FAULTS), padding=140_000)
        sys.stdout.write(f"all: {told}\n")
        assert told["done"] == told["passed"] == told["proved"] == 60
        journals_hold(made)


DRIVER = """
import sys
import ray
ray.init(address=sys.argv[1], namespace="handrail", log_to_driver=False)
@ray.remote(num_cpus=0)
def code():
    return "ran"
print("CODE", ray.get(code.remote(), timeout=20))
"""


def drive(lab: Bed, **auth: str) -> str:
    """What a driver in host 2's namespace gets done."""
    line = ["ip", "netns", "exec", lab.space(2), "timeout", "60", sys.executable, "-c", DRIVER]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(lab.folder), "RAY_USAGE_STATS_ENABLED": "0", **auth}
    told = subprocess.run([*line, f"{lab.address(0)}:{RAY}"], env=env, capture_output=True, text=True)
    return told.stdout


def test_a_stranger_on_the_network_runs_nothing_on_any_open_port(lab: Bed) -> None:
    """From a host's namespace, without its token: Ray refuses, and the door knows nobody."""
    right = str(lab.home("head") / "config" / "fleet-ray.token")
    assert "CODE ran" in drive(lab, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=right), (
        "else this proves nothing"
    )
    assert "CODE" not in drive(lab, RAY_AUTH_MODE="disabled")
    assert "CODE" not in drive(lab, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="0" * 64)
    assert "CODE" not in drive(lab, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN), (
        "a run's token is none of Ray's"
    )
    for path, token, status in (
        ("/api/fleet/status", None, b"401"),
        ("/api/fleet/status", "wrong", b"401"),
        ("/api/fleet/host/claim", TOKEN, b"403"),
    ):
        answer = ask(lab, path, token)
        assert answer.startswith(b"HTTP/1.1 " + status), answer[:200]


def ask(lab: Bed, path: str, token: str | None) -> bytes:
    """A plain request from another namespace."""
    method = "POST" if "/host/" in path else "GET"
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    request = (
        f"{method} {path} HTTP/1.1\r\nHost: {lab.address(0)}:{HTTP}\r\n{bearer}"
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    )
    code = (
        "import socket, sys\n"
        f"line = socket.create_connection(({lab.address(0)!r}, {HTTP}), 10)\n"
        f"line.sendall({request.encode()!r})\n"
        "while part := line.recv(65536): sys.stdout.buffer.write(part)\n"
    )
    space = lab.space(2)
    told = subprocess.run(["ip", "netns", "exec", space, sys.executable, "-c", code], capture_output=True)
    return told.stdout


def test_nobody_else_enters_the_folders_of_ray(lab: Bed) -> None:
    """Ray opens its own to everybody; the one around it keeps them out."""
    for name in ("head", "h1", "h2"):
        place = RayPlace("localhost", RAY, lab.home(name))
        assert place.temp.stat().st_mode & 0o777 == 0o700
        assert [one.name for one in place.temp.iterdir() if one.is_dir()] == ["r"]


def test_no_process_of_the_fleet_has_a_secret_on_its_command_line(lab: Bed) -> None:
    """But the run's token that the bed itself gives by hand."""
    config = lab.home("head") / "config"
    ray, host = ((config / name).read_text().strip() for name in ("fleet-ray.token", "fleet-host.secret"))
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes().decode() for n in range(3) for pid in lab.pids(n)]
    assert any("raylet" in line for line in lines), "else this proves nothing"
    assert not [line for line in lines for secret in (ray, host) if secret in line]
    for name in ("head", "h1", "h2"):
        assert ray not in lab.log(name)
        assert host not in lab.log(name)
    for one in config.iterdir():
        assert one.stat().st_mode & 0o077 == 0, one


def test_only_the_listed_ports_are_open_at_the_head(lab: Bed) -> None:
    told = subprocess.run(
        ["ip", "netns", "exec", lab.space(0), "cat", "/proc/net/tcp", "/proc/net/tcp6"],
        capture_output=True, text=True,
    )  # fmt: skip
    rows = [line.split() for line in told.stdout.splitlines() if " 0A " in line]
    reachable = {int(row[1].rpartition(":")[2], 16) for row in rows if not row[1].startswith("0100007F")}
    assert reachable
    assert reachable <= {HTTP, *range(RAY, RAY + 40)}


def test_with_a_run_token_alone_flows_run_and_nothing_else(lab: Bed) -> None:
    """From a machine that has neither Ray's token nor the head's home."""
    flow = lab.folder / "alone.yaml"
    flow.write_text("name: Alone\nsteps:\n  - press_key: home\n", encoding="utf-8")
    home = lab.home("caller")
    home.mkdir(mode=0o700, exist_ok=True)
    env = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "HANDRAIL_HOME": str(home), "HANDRAIL_NO_DAEMON": "1",
        "HANDRAIL_FLEET_TOKEN": TOKEN, "HANDRAIL_FLEET_TRUSTED_NETWORK": "1",
    }  # fmt: skip
    line = ["ip", "netns", "exec", lab.space(2), sys.executable, "-m", "handrail.cli.main"]
    address = f"http://{lab.address(0)}:{HTTP}"
    ran = subprocess.run(
        [*line, "run", str(flow), "--fleet", address], env=env, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    drained = subprocess.run(
        [*line, "fleet", "drain", "h1", "--fleet", address], env=env, capture_output=True, text=True
    )
    assert drained.returncode == 4, "what a person decides is refused to a program's token"


def test_a_head_whose_cluster_is_kept_in_redis_comes_back_with_its_hosts() -> None:
    if reason := why_not():
        pytest.skip(reason)
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: the head's restart with Redis was not run")
    with bed(hosts=1, phones=3, limit=2, redis="10.79.0.10:6379") as made:
        told = story(made, 16, ["head"])
        sys.stdout.write(f"head with Redis: {told}\n")
        assert told["done"] == told["passed"] == 16
