"""`handrail run` as people and CI call it: a process, its exit code, its files."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests import forked

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "flows"
SETTINGS = "com.android.settings"
PATIENCE_S = 90
POLICY = """
[[rule]]
name = "commands on simulated phones"
action = "shell"
device = "127.0.0.1:*"
door = "flow"
verdict = "allow"
"""


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "handrail.cli.main", *map(str, words)]


def environment(home: Path, policy: str = POLICY) -> dict[str, str]:
    config = home / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "policy.toml").write_text(policy)
    return {**os.environ, "HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_DEVICE": ""}


def handrail(home: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return forked.handrail(*words, env=environment(home))


@contextmanager
def running(home: Path, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(*words),
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def flow(folder: Path, name: str, steps: str, head: str = f"app: {SETTINGS}") -> Path:
    path = folder / name
    path.write_text(f"{head}\nsteps: {steps}\n")
    return path


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """All of them, run once."""
    home = tmp_path_factory.mktemp("examples")
    done = handrail(
        home, "run", "--sim", EXAMPLES, "--approvals", EXAMPLES / "shop_payment.allow.toml", "--json",
        "--junit", home / "junit.xml",
    )  # fmt: skip
    return done, home


@pytest.mark.slow
def test_the_time_of_every_example_is_explained(
    examples: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    for one in json.loads(examples[0].stdout)["flows"]:
        explained = sum(one["spentMs"].values()) / one["durationMs"]
        assert 0.95 <= explained <= 1.05, f"{one['name']}: {explained:.1%} of its time, {one['spentMs']}"


@pytest.mark.slow
def test_every_example_passes(examples: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, home = examples
    told = json.loads(done.stdout)["flows"]
    failed = [(one["file"], one["trace"].get("error")) for one in told if one["outcome"] != "passed"]
    assert not failed
    assert done.returncode == 0
    files = {Path(one["file"]).name for one in told}
    assert files == {one.name for one in EXAMPLES.iterdir() if one.name[0] != "_" and one.suffix != ".toml"}
    assert len(files) >= 10
    by_name = {Path(one["file"]).stem: one for one in told}
    assert by_name["crash"]["trace"]["appCrashDetected"]
    assert "appCrashDetected" not in by_name["permission"]["trace"]
    assert set(by_name["two_phones"]["traces"]) == {"alice", "bob"}
    assert len(ElementTree.parse(home / "junit.xml").findall(".//testcase")) == len(files)


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True], ids=["plain", "json"])
def test_a_payment_without_a_terminal_says_at_once_which_command_answers_it(
    tmp_path: Path, as_json: bool
) -> None:
    words = ["run", "--sim", EXAMPLES / "shop_payment.yaml", "--approvals", "wait"]
    with running(tmp_path, *words, *(["--json"] if as_json else [])) as process:
        for asked in ("Pay €60.50", "Pay now"):
            line = _line_with(process, '"approve":' if as_json else "yes:")
            said = json.loads(line)["approve"] if as_json else line.partition("yes:")[2].strip()
            assert said.startswith(f"HANDRAIL_HOME={tmp_path} "), said
            [waiting] = json.loads(handrail(tmp_path, "approvals", "--json").stdout)
            assert (waiting["label"], waiting["id"]) == (asked, said.split()[-1])
            assert handrail(tmp_path, "approve", said.split()[-1]).returncode == 0
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, out
    if as_json:
        told = json.loads(out[out.index('{"flows"') :])
        assert [one["label"] for one in told["approvals"]] == ["Pay €60.50", "Pay now"]


def test_without_a_terminal_and_a_desk_a_question_fails_the_run_at_once(tmp_path: Path) -> None:
    flow = tmp_path / "page.yaml"
    flow.write_text("steps:\n  - open_url: https://example.org/help\n")
    done = handrail(tmp_path, "run", "--sim", flow)
    assert done.returncode == 1, done.stdout
    assert 'known_hosts = ["example.org"]' in done.stdout
    assert "ACTION_REJECTED" in done.stdout or "no desk is open" in done.stdout, done.stdout


def _line_with(process: subprocess.Popen[str], wanted: str) -> str:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if wanted in line:
            return line
    raise AssertionError(f"nobody was asked: {''.join(seen)}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "head", "code"),
    [
        ("[tap: Nowhere]", f"app: {SETTINGS}", 1),
        ("[tapp: Display]", f"app: {SETTINGS}", 2),
        ("[tap: '${WHO}']", "", 2),
        ("[get_state]", "devices: [a, b]", 0),
    ],
)
def test_the_exit_code_says_how_it_went(tmp_path: Path, steps: str, head: str, code: int) -> None:
    done = handrail(tmp_path, "run", flow(tmp_path, "one.yaml", steps, head), "--sim")
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.slow
def test_a_phone_that_is_not_there_is_exit_code_three(tmp_path: Path) -> None:
    one = flow(tmp_path, "one.yaml", "[press_key: home]")
    done = handrail(tmp_path, "run", one, "--device", "127.0.0.1:1")
    assert done.returncode == 3, done.stdout + done.stderr


def test_a_flow_for_two_phones_needs_two(tmp_path: Path) -> None:
    one = flow(tmp_path, "one.yaml", "[get_state]", "devices: [alice, bob]")
    done = handrail(tmp_path, "run", one, "--device", "alice=127.0.0.1:1")
    assert done.returncode == 2
    assert "bob" in done.stderr


def test_all_files_that_are_wrong_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    flow(folder, "a.yaml", "[tapp: X]")
    flow(folder, "b.yaml", "[press_kex: home]")
    done = handrail(tmp_path, "run", folder, "--sim")
    assert done.returncode == 2
    assert "a.yaml:2" in done.stderr
    assert "b.yaml:2" in done.stderr


@pytest.mark.slow
def test_a_failed_flow_is_run_again_and_both_attempts_are_told(tmp_path: Path) -> None:
    one = flow(tmp_path, "one.yaml", "[tap: Nowhere]")
    done = handrail(tmp_path, "run", one, "--sim", "--retries", "1", "--json")
    told = json.loads(done.stdout)["flows"]
    assert [(one["attempt"], one["outcome"]) for one in told] == [(1, "failed"), (2, "failed")]
    assert done.returncode == 1


@pytest.mark.slow
def test_every_flow_starts_on_a_phone_that_nobody_has_used(tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    make = "[tap: Create new contact, type_text: {target: {id: first}, text: Ada}, tap: Save]"
    for name in ("a.yaml", "b.yaml"):
        flow(folder, name, f"[expect_absent: Ada, {make[1:-1]}]", "app: com.google.android.contacts")
    done = handrail(tmp_path, "run", folder, "--sim")
    assert done.returncode == 0, done.stdout


def test_variables_of_the_command_line_win(tmp_path: Path) -> None:
    one = flow(tmp_path, "one.yaml", "[tap: '${WHAT}']", f"app: {SETTINGS}\nenv: {{WHAT: Nowhere}}")
    assert handrail(tmp_path, "run", one, "--sim", "--env", "WHAT=Display").returncode == 0


@pytest.mark.slow
def test_shards_and_tags_choose_flows(tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    for number in range(3):
        flow(folder, f"{number}.yaml", "[press_key: home]", f"tags: [all, t{number}]")
    first = handrail(tmp_path, "run", folder, "--sim", "--json", "--shard", "1/2")
    assert [Path(one["file"]).stem for one in json.loads(first.stdout)["flows"]] == ["0", "2"]
    tagged = handrail(tmp_path, "run", folder, "--sim", "--json", "--tags", "t1,t2", "--exclude-tags", "t2")
    assert [Path(one["file"]).stem for one in json.loads(tagged.stdout)["flows"]] == ["1"]
    nothing = handrail(tmp_path, "run", folder, "--sim", "--tags", "other")
    assert (nothing.returncode, "No flow" in nothing.stdout) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_complete_reports_and_a_free_phone(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    flow(folder, "a.yaml", "[tap: Display]")
    flow(folder, "b.yaml", "[tap: Display, wait: 60000, press_key: back]")
    flow(folder, "c.yaml", "[tap: Display]")
    junit, report = tmp_path / "junit.xml", tmp_path / "report"
    with running(tmp_path, "run", folder, "--sim", "--junit", junit, "--report", report) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        _ = next(line for line in lines if line.startswith("b on"))
        _ = next(line for line in lines if "tap Display" in line)  # the long wait is next
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, out
    cases = ElementTree.parse(junit).findall(".//testcase")
    assert [case.get("name") for case in cases] == ["a", "b"]
    assert (report / "index.html").stat().st_size > 1_000
    assert "stopped" in out
    assert _leases(tmp_path) == []


def _leases(home: Path) -> list[Any]:
    with sqlite3.connect(home / "handrail.db") as database:
        return database.execute("SELECT device, label FROM leases").fetchall()
