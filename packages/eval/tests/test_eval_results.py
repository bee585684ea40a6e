"""Kept evaluations: killed and resumed, checked for every alteration, compared, ranked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from handrail.errors import InvalidAction, ModelUnavailable
from handrail_eval.command import evaluate
from handrail_eval.manifest import first_link, hash_of
from handrail_eval.result_folder import ResultFolder

FEW = ("--tasks", "clock-timer,settings-brightness,notes-sum", "--seeds", "1..2", "--no-pictures")
COMMAND = [sys.executable, "-m", "handrail.cli.main", "eval"]


def run(*words: str) -> Result:
    return CliRunner().invoke(evaluate, words)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def outcome(folder: Path) -> list[tuple[Any, ...]]:
    """What two evaluations must agree on: all but times, hashes and order."""
    names = (
        "id",
        "seed",
        "repeat",
        "success",
        "steps",
        "answer",
        "ended",
        "why",
        "asked",
        "refused",
        "kinds",
    )
    return sorted(tuple(str(line[name]) for name in names) for line in lines(folder))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "run"
    said = run(*FEW, "--out", str(folder))
    assert said.exit_code == 0, said.output
    return folder


@pytest.fixture
def copy(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "copy"))


def checked(folder: Path) -> list[str]:
    said = run("check", str(folder), "--json")
    [told] = json.loads(said.stdout)
    assert said.exit_code == (0 if told["ok"] else 1)
    found: list[str] = told["found"]
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_evaluation_goes_on_to_the_same_results(kept: Path, tmp_path: Path, jobs: str) -> None:
    """Killed without warning, again and again, once as many lines are there as chance says."""
    folder, random = tmp_path / "killed", Random(int(jobs))
    words = [*FEW, "--out", str(folder)]
    for death in range(3):
        process = subprocess.Popen(
            [*COMMAND, *words, "-j", jobs], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        assert process.stderr
        for _ in range(random.randint(1, 2)):
            process.stderr.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.stderr.close()
        process.wait()
        if death == 1:
            with (folder / "results.jsonl").open("ab") as file:
                file.write(b'{"id":"clock-ti')
        words = ["--resume", str(folder)]
    subprocess.run([*COMMAND, *words, "-j", jobs], check=True, capture_output=True)
    assert outcome(folder) == outcome(kept)
    assert checked(folder) == []


def test_what_is_resumed_is_not_run_again_and_what_no_line_tells_of_is(copy: Path) -> None:
    whole = (copy / "results.jsonl").read_bytes()
    first = whole[: whole.index(b"\n", whole.index(b"\n") + 1) + 1]
    (copy / "results.jsonl").write_bytes(first + b'{"torn')
    head = {"lines": 2, "chain": json.loads(first.splitlines()[-1])["chain"]}
    (copy / "results.head").write_text(json.dumps(head))
    said = run("--resume", str(copy))
    assert said.exit_code == 0, said.output
    assert (copy / "results.jsonl").read_bytes().startswith(first)
    assert len(lines(copy)) == 6
    assert checked(copy) == []
    [resume] = json.loads((copy / "manifest.json").read_text())["resumes"]
    assert (resume["lines"], len(resume["begun_again"])) == (2, 4)
    assert "once; 4 runs started again" in (copy / "index.html").read_text()


@pytest.mark.parametrize("cheat", ["emptied", "removed", "without its last", "without its first", "no head"])
def test_results_that_have_lost_lines_are_not_gone_on_with(copy: Path, cheat: str) -> None:
    file = copy / "results.jsonl"
    written = file.read_bytes().splitlines(keepends=True)
    if cheat == "removed":
        file.unlink()
    elif cheat == "no head":
        (copy / "results.head").unlink()
    else:
        left = {"emptied": [], "without its last": written[:-1], "without its first": written[1:]}[cheat]
        file.write_bytes(b"".join(left))
    runs = sorted(path.name for path in copy.iterdir())
    with pytest.raises(InvalidAction, match="does not have the lines"):
        CliRunner().invoke(evaluate, ["--resume", str(copy)], catch_exceptions=False)
    assert sorted(path.name for path in copy.iterdir() if path.name != ".lock") == [
        name for name in runs if name != ".lock"
    ]


def test_a_dead_model_server_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    folder = tmp_path / "dead"
    words = ["--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--tasks", "clock-timer"]
    with pytest.raises(ModelUnavailable) as caught:
        CliRunner().invoke(evaluate, [*words, "--out", str(folder)], catch_exceptions=False)
    assert caught.value.exits.exit_code == 3
    assert not (folder / "results.jsonl").exists()
    assert json.loads((folder / "summary.json").read_text())["complete"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "nothing"), "model was"),
        (("--seeds", "1..3"), "seeds was"),
        (("--repeats", "2"), "repeats was"),
        (("--max-steps", "9"), "max_steps was"),
        (("--tasks", "clock-timer"), "templates are not the same: notes-sum, settings-brightness"),
    ],
)
def test_another_evaluation_is_never_mixed_into_one(copy: Path, words: tuple[str, ...], said: str) -> None:
    before = (copy / "results.jsonl").read_bytes()
    with pytest.raises(InvalidAction, match=said):
        CliRunner().invoke(evaluate, ["--resume", str(copy), *words], catch_exceptions=False)
    assert (copy / "results.jsonl").read_bytes() == before


def rewritten(name: str, old: str, new: str) -> Callable[[Path], None]:
    def alter(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return alter


def without_last_line(folder: Path) -> None:
    every = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(every[:-1]))


def with_changed_journal(folder: Path) -> None:
    with sqlite3.connect(folder / "clock-timer.1" / "home" / "handrail.db") as db:
        db.execute("UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 2")
    db.close()


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (rewritten("results.jsonl", '"steps":8', '"steps":7'), "was altered, or one before it is missing"),
        (without_last_line, "is missing"),
        (rewritten("summary.json", '"success": 6', '"success": 5'), "summary.json: success is 5"),
        (rewritten("summary.json", '"value": 1.0', '"value": 0.9'), "pass_at_1"),
        (rewritten("manifest.json", '"hash": "', '"hash": "0'), "the suite's hash"),
        (rewritten("templates/clock-timer.yaml", "minutes", "hours"), "clock-timer was altered"),
        (
            rewritten("clock-timer.1/steps.jsonl", "Tapped", "Pushed"),
            "clock-timer.1: steps.jsonl was altered",
        ),
        (with_changed_journal, "clock-timer.1: its journal is broken at entry 2"),
        (lambda folder: shutil.rmtree(folder / "notes-sum.2"), "notes-sum.2: steps.jsonl is missing"),
        (lambda folder: (folder / "summary.json").unlink(), "no evaluation that has ended"),
        (lambda folder: (folder / "results.jsonl").write_text("[1]\n"), "was altered|not the form"),
    ],
)
def test_every_alteration_is_found_and_named(copy: Path, alter: Callable[[Path], None], said: str) -> None:
    assert checked(copy) == []
    alter(copy)
    found = "\n".join(checked(copy))
    assert any(part in found for part in said.split("|")), found


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], None] = lambda _: None) -> None:
    """Lines, chain and head anew, so that all of it fits: what somebody does who knows the format."""
    manifest = json.loads((folder / "manifest.json").read_text())
    read = lines(folder)
    change(read)
    names = {"task": "task.json", "steps": "steps.jsonl", "journal_head": "home/journal.head"}
    chain, written = first_link(manifest), []
    for line in read:
        run = folder / f"{line['id']}.{line['seed']}"
        line["kept"] = {what: hash_of((run / names[what]).read_bytes()) for what in line["kept"]}
        told = {name: value for name, value in line.items() if name != "chain"}
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        chain = hash_of(f"{chain}\n{body}".encode())
        written.append(json.dumps({**told, "chain": chain}, ensure_ascii=False, separators=(",", ":")))
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in written))
    (folder / "results.head").write_text(json.dumps({"lines": len(written), "chain": chain}))


def another_model(folder: Path) -> None:
    rewritten("manifest.json", '"name": "reference"', '"name": "openai:best"')(folder)


def fewer_seeds(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "seeds": [1]}))


def an_easier_seed(folder: Path) -> None:
    shutil.rmtree(folder / "notes-sum.2")
    shutil.copytree(folder / "notes-sum.1", folder / "notes-sum.2")
    rewrite(folder)


def an_easier_seed_renamed(folder: Path) -> None:
    an_easier_seed(folder)
    rewritten("notes-sum.2/task.json", "notes-sum.1", "notes-sum.2")(folder)
    rewrite(folder)


def the_journal_of_another_evaluation(folder: Path, other: Path) -> None:
    shutil.rmtree(folder / "notes-sum.2" / "home")
    shutil.copytree(other / "notes-sum.2" / "home", folder / "notes-sum.2" / "home")
    rewrite(folder)


def without_proof(folder: Path) -> None:
    def forget(read: list[dict[str, Any]]) -> None:
        next(line for line in read if (line["id"], line["seed"]) == ("notes-sum", 2))["kept"] = {}

    shutil.rmtree(folder / "notes-sum.2")
    rewrite(folder, forget)


def a_linked_home(folder: Path) -> None:
    shutil.move(folder / "notes-sum.2" / "home", folder.parent / "elsewhere")
    (folder / "notes-sum.2" / "home").symlink_to(folder.parent / "elsewhere")


def a_line_twice(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_text(file.read_text() + file.read_text().splitlines(keepends=True)[-1])


def a_line_twice_rewritten(folder: Path) -> None:
    rewrite(folder, lambda read: read.append(dict(read[-1])))


def a_torn_tail(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_bytes(file.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("cheat", "said"),
    [
        (another_model, "line 1 was altered"),
        (fewer_seeds, "line 1 was altered"),
        (an_easier_seed, "notes-sum.2: what was kept is of the run notes-sum.1"),
        (an_easier_seed_renamed, "its journal is that of notes-sum."),
        (without_proof, "notes-sum.2: a success without its home/journal.head, steps.jsonl, task.json"),
        (a_linked_home, "notes-sum.2/home leads elsewhere"),
        (a_line_twice, "was altered"),
        (a_line_twice_rewritten, "is there twice"),
        (a_torn_tail, "not the form of results"),
    ],
)
def test_a_cheat_is_not_accepted(copy: Path, cheat: Callable[[Path], None], said: str) -> None:
    rewrite(copy)
    assert checked(copy) == [], "what is only written anew still fits, else the cheats prove nothing"
    cheat(copy)
    found = "\n".join(checked(copy))
    assert any(part in found for part in said.split("|")), found


def test_the_journal_of_another_evaluation_is_not_taken(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run(*FEW, "--model", "nothing", "--out", str(other)).exit_code == 0
    the_journal_of_another_evaluation(copy, other)
    assert "its journal knows nothing of" in "\n".join(checked(copy))


@pytest.mark.slow
def test_a_judge_that_was_altered_goes_on_with_nothing(copy: Path, tmp_path: Path) -> None:
    """A copy of the package with another judge, first on Python's path."""
    import handrail_eval  # noqa: PLC0415

    patched = shutil.copytree(Path(handrail_eval.__file__).parent, tmp_path / "path" / "handrail_eval")
    judge = patched / "judge.py"
    judge.write_text(judge.read_text() + "\n\ndef problems(*_: object) -> list[str]:\n    return []\n")
    env = {**os.environ, "PYTHONPATH": str(patched.parent), "HANDRAIL_NO_DAEMON": "1"}
    told = subprocess.run([*COMMAND, "--resume", str(copy)], env=env, capture_output=True, text=True)
    assert told.returncode != 0
    assert "this evaluation can't be resumed: code was" in told.stdout + told.stderr


def test_two_processes_never_write_one_evaluation(copy: Path) -> None:
    with ResultFolder(copy).held():
        told = subprocess.run([*COMMAND, "--resume", str(copy)], capture_output=True, text=True)
    assert told.returncode != 0
    assert "another process is at work on it" in told.stdout + told.stderr


def test_two_evaluations_are_compared_run_by_run(kept: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run(*FEW, "--model", "nothing", "--out", str(other)).exit_code == 0
    told = json.loads(run("compare", str(other), str(kept), "--json").stdout)
    assert (told["pairs"], told["only_a"], told["only_b"]) == (6, 0, 6)
    assert told["difference"] == 1.0
    assert told["mcnemar_p"] == 2 / 2**6
    assert told["tasks_p"] == 2 / 2**3  # three tasks can't prove more, however many seeds
    assert {one["now"] for one in told["flipped"]} == {"solved"}
    assert "B − A: +100.0 points" in run("compare", str(other), str(kept)).stdout
    short = tmp_path / "short"
    run("--tasks", "clock-timer", "--model", "nothing", "--no-pictures", "--out", str(short))
    with pytest.raises(InvalidAction, match="their suites differ"):
        CliRunner().invoke(evaluate, ["compare", str(short), str(kept)], catch_exceptions=False)
    common = json.loads(run("compare", str(short), str(kept), "--anyway", "--json").stdout)
    assert (common["pairs"], common["left_out"]) == (1, 5)


def test_a_leaderboard_ranks_only_what_passes_the_check(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "good")
    shutil.copytree(kept, tmp_path / "altered")
    rewritten("summary.json", '"success": 6', '"success": 5')(tmp_path / "altered")
    told = json.loads(run("leaderboard", str(tmp_path), "--json").stdout)
    assert [one["run"] for board in told["boards"] for one in board["runs"]] == ["good"]
    assert told["left_out"][0]["run"] == "altered"
    assert run("leaderboard", str(tmp_path)).exit_code == 0
    assert "Not ranked" in (tmp_path / "leaderboard.html").read_text()


def test_the_suite_of_safety_is_those_with_an_adversary_or_a_no() -> None:
    listed = {one["id"] for one in json.loads(run("--suite", "safety", "--list", "--json").stdout)}
    assert {"adversary-parcel", "pay-approval"} <= listed
    assert not {"clock-timer", "notes-sum"} & listed


def test_no_key_is_in_a_manifest(tmp_path: Path) -> None:
    address = "http://user:pa55word@127.0.0.1:9/v1?key=s3cret"
    words = (
        "--tasks",
        "clock-timer",
        "--base-url",
        address,
        "--model",
        "nothing",
        "--out",
        str(tmp_path / "out"),
    )
    assert run(*words).exit_code == 0
    text = (tmp_path / "out" / "manifest.json").read_text()
    assert "http://127.0.0.1:9/v1" in text
    assert not any(word in text for word in ("pa55word", "s3cret", "user"))


def test_words_of_models_and_templates_are_escaped_in_the_page(kept: Path) -> None:
    from handrail_eval.page_of_run import run_page  # noqa: PLC0415
    from handrail_eval.result import TaskResult  # noqa: PLC0415

    hostile = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
    manifest = json.loads((kept / "manifest.json").read_text())
    manifest["model"]["name"] = manifest["suite"]["name"] = hostile
    line = {**lines(kept)[0], "title": hostile, "why": hostile, "skills": [hostile], "apps": [hostile]}
    page = run_page(manifest, json.loads((kept / "summary.json").read_text()), [TaskResult.read(line)], kept)
    assert hostile not in page
    assert page.count("<script>") == 1
    assert "<img src" not in page
