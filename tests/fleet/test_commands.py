"""A fleet by its commands, as programs and without Ray: attach, Ctrl-C, evaluations, a private one."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.fleet.bed import PROGRAM, until
from tests.fleet.plain import PlainFleet, plain_fleet

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
ONE = "name: One\nsteps:\n  - press_key: home\n"
LONG = "name: Long\nsteps:\n  - wait_for: {condition: {visible: Never there}, timeout_ms: 120000}\n"
WRONG = "name: Wrong\nsteps:\n  - expect_visible: Never there\n"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainFleet]:
    with plain_fleet(tmp_path_factory.mktemp("fleet"), hosts=2, phones=2) as made:
        yield made


def flow(fleet: PlainFleet, name: str, text: str) -> str:
    path = fleet.folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_run_has_the_reports_and_exit_codes_of_one_machine(fleet: PlainFleet) -> None:
    files = [flow(fleet, "one", ONE), flow(fleet, "wrong", WRONG)]
    junit, report = fleet.folder / "junit.xml", fleet.folder / "report"
    told = fleet.command("run", *files, "--fleet", "local", "--junit", str(junit), "--report", str(report))
    assert told.returncode == 1
    assert "1 of 2 flows failed" in told.stdout
    assert 'tests="2" failures="1"' in junit.read_text()
    assert (report / "index.html").exists()
    assert fleet.command("run", files[0], "--fleet", "local", "--where", "sdk >").returncode == 2
    assert fleet.command("run", files[0], "--fleet", "local", "--heal").returncode == 2
    told = fleet.command("run", files[0], "--fleet", "local", "--json")
    assert json.loads(told.stdout)["flows"][0]["outcome"] == "passed"


def test_ctrl_c_stops_the_units_and_frees_their_phones(fleet: PlainFleet) -> None:
    running = subprocess.Popen(
        [*PROGRAM, "run", flow(fleet, "long", LONG), "--fleet", "local", "--each-device"],
        env=fleet.env("head"), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip

    def busy() -> int:
        hosts = json.loads(fleet.command("fleet", "status", "--json").stdout)["hosts"]
        return sum(len(host["held"]) for host in hosts)

    until(lambda: busy() == 4, 60, "all phones at work")
    os.kill(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=60)
    assert running.returncode == 130, told
    assert busy() == 0


def test_a_detached_run_is_attached_to_and_verified(fleet: PlainFleet) -> None:
    run = fleet.command("run", flow(fleet, "one", ONE), "--fleet", "local", "--detach").stdout.split()[1]
    told = fleet.command("fleet", "attach", run)
    assert told.returncode == 0, told.stdout
    told = fleet.command("fleet", "verify", run, "--json")
    [proved] = json.loads(told.stdout)["attempts"]
    assert proved["entries"]
    assert proved["problem"] == ""


def test_an_evaluation_runs_on_all_hosts(fleet: PlainFleet) -> None:
    told = fleet.command("eval", "--tasks", "settings", "--fleet", "local", "--json")
    assert told.returncode == 0, told.stdout + told.stderr
    ran = json.loads(told.stdout)["summary"]
    assert ran["complete"]
    assert ran["success"] == ran["wanted"] > 0


def test_a_drained_host_gets_nothing_and_works_again(fleet: PlainFleet) -> None:
    assert fleet.command("fleet", "drain", "h1").returncode == 0
    told = fleet.command("run", flow(fleet, "one", ONE), "--fleet", "local", "--each-device")
    assert "h1" not in told.stdout
    assert fleet.command("fleet", "drain", "h1", "--off").returncode == 0
    told = fleet.command("fleet", "phones", "--where", "simulated")
    assert len(told.stdout.splitlines()) == 4
    assert fleet.command("fleet", "drain", "nowhere").returncode == 2


def test_a_host_without_a_head_starts_a_private_fleet_and_goes_down_when_told(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = PlainFleet(tmp_path_factory.mktemp("private"))
    host = made.start("alone", "fleet", "host", "--phones", "1", "--name", "alone")
    home = made.folder / "alone" / "fleet" / "head"
    env = {**made.env("alone"), "HANDRAIL_HOME": str(home)}

    def command(*line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*PROGRAM, *line], env=env, capture_output=True, text=True)

    try:
        until(lambda: "\tup\t" in command("fleet", "status").stdout, 90, made.log("alone")[-400:])
        told = command("run", flow(made, "one", ONE), "--fleet", "local")
        assert told.returncode == 0, told.stdout + told.stderr
        assert command("fleet", "down").returncode == 0
        host.wait(60)
    finally:
        host.terminate()
        host.wait(30)
