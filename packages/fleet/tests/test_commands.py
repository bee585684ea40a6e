"""A fleet by its commands, as programs and without Ray: attach, Ctrl-C, evaluations, a private one."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from packages.fleet.tests.bed import PROGRAM, until
from packages.fleet.tests.plain import PlainFleet, plain_fleet

from handrail_eval.manifest import FREE
from handrail_eval.result_folder import LINES, MANIFEST
from tests.docs.blocks import ROOT, blocks_of

pytestmark = pytest.mark.slow
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


def test_the_commands_of_the_page_run(fleet: PlainFleet) -> None:
    """docs/fleet.md: what is typed on the head of a lab."""
    [block] = [one for one in blocks_of(ROOT / "docs" / "fleet.md") if one.run_by]
    (fleet.folder / "flows").mkdir()
    flow(fleet, "flows/one", ONE)
    run = ""
    for line in block.commands:
        words = [run if word == "RUN" else word for word in shlex.split(line)]
        told = fleet.command(*words[1:], cwd=fleet.folder)
        assert told.returncode == 0, f"{line}\n{told.stdout}{told.stderr}"
        run = told.stdout.split()[1] if "--detach" in words else run
    assert run


TASKS = "settings-brightness,settings-join-wifi,settings-hostile-network"
EVALUATION = ("eval", "--tasks", TASKS, "--model", "quitter", "--seeds", "1..2")


def lines(folder: Any) -> list[dict[str, Any]]:
    """Without what differs between two runs of the same: times, order, and the chain over both."""
    free = ("ms", "chain", "kept")
    told = [json.loads(line) for line in (folder / LINES).read_text().splitlines()]
    return sorted(
        ({key: one[key] for key in one if key not in free} for one in told),
        key=lambda one: (one["id"], one["seed"]),
    )


def test_an_evaluation_on_hosts_is_the_one_of_a_machine(fleet: PlainFleet) -> None:
    there, here = fleet.folder / "there", fleet.folder / "here"
    told = fleet.command(*EVALUATION, "--fleet", "local", "--out", str(there), "--fail-under", "90", "--json")
    assert told.returncode == 1, told.stdout + told.stderr
    own = fleet.command(*EVALUATION, "--out", str(here), "--fail-under", "90", "--json")
    assert own.returncode == 1
    assert lines(there) == lines(here) != []
    for summary in (told, own):
        assert json.loads(summary.stdout)["summary"]["complete"]
    kept = [json.loads((folder / MANIFEST).read_text()) for folder in (there, here)]
    assert [{name: one[name] for name in one if name not in FREE} for one in kept] == [
        {name: kept[0][name] for name in kept[0] if name not in FREE}
    ] * 2
    checked = fleet.command("eval", "check", str(there))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    names = [sorted(path.name for path in folder.iterdir()) for folder in (there, here)]
    assert names[0] == names[1]


def test_a_reference_solves_on_hosts_and_a_killed_evaluation_goes_on_there(fleet: PlainFleet) -> None:
    out = fleet.folder / "kept"
    line = ("eval", "--tasks", TASKS, "--fleet", "local", "--no-pictures")
    told = fleet.command(*line, "--out", str(out))
    assert told.returncode == 0, told.stdout + told.stderr
    whole = lines(out)
    assert all(one["success"] for one in whole)
    kept = (out / LINES).read_text().splitlines(keepends=True)
    (out / LINES).write_text("".join(kept[:1]) + kept[1][:40])
    told = fleet.command("eval", "--resume", str(out), "--fleet", "local", "--no-pictures")
    assert told.returncode == 0, told.stdout + told.stderr
    assert lines(out) == whole
    assert fleet.command("eval", "check", str(out)).returncode == 0


def test_a_detached_evaluation_is_told_by_attach(fleet: PlainFleet) -> None:
    line = ("eval", "--suite", str(ROOT / "examples" / "eval"), "--fleet", "local", "--detach")
    told = fleet.command(*line)
    assert told.returncode == 0, told.stderr
    run = told.stdout.split()[1]
    told = fleet.command("fleet", "attach", run, "--json")
    assert told.returncode == 0, told.stdout + told.stderr
    found = json.loads(told.stdout)
    assert (found["model"], found["summary"]["success"]) == ("reference", 1)
    assert fleet.command("fleet", "verify", run).returncode == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("--suite", "miniwob"),
        ("--base-url", "http://127.0.0.1:1"),
        ("--jobs", "2"),
        ("--each-device",),
        ("--model", "scripted:/etc/passwd"),
        ("--where", "sdk >"),
        ("--detach", "--out", "nowhere"),
    ],
)
def test_what_is_for_one_machine_is_refused_with_words(fleet: PlainFleet, wrong: tuple[str, ...]) -> None:
    told = fleet.command("eval", "--tasks", TASKS, "--fleet", "local", *wrong)
    assert told.returncode == 2, told.stdout + told.stderr


def test_ctrl_c_ends_an_evaluation_with_what_was_done(fleet: PlainFleet) -> None:
    running = subprocess.Popen(
        [*PROGRAM, "eval", "--tasks", "settings", "--fleet", "local", "--seeds", "1..6", "--json"],
        env=fleet.env("head"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr
    running.stderr.readline()
    os.kill(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=100)
    assert running.returncode == 130
    summary = json.loads(told)["summary"]
    assert 0 < summary["episodes"] < summary["wanted"]
    hosts = json.loads(fleet.command("fleet", "status", "--json").stdout)["hosts"]
    assert [host["held"] for host in hosts] == [[], []]


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
    env = made.env("alone")

    def command(*line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*PROGRAM, *line], env=env, capture_output=True, text=True)

    try:
        until(lambda: "\tup\t" in command("fleet", "status").stdout, 90, made.log("alone")[-400:])
        told = command("run", flow(made, "one", ONE), "--fleet", "local")
        assert told.returncode == 0, told.stdout + told.stderr
        assert command("fleet", "down").returncode == 0
        host.wait(60)
        assert command("fleet", "status").returncode == 2, "nothing of it is left to speak to"
    finally:
        host.terminate()
        host.wait(30)
