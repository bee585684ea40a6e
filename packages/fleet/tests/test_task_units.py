"""An episode as a unit: what a caller may make a host read, run and send back."""

import asyncio
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import SystemClock
from handrail.errors import InvalidAction
from handrail_eval.load import SHIPPED, load_tasks, load_templates, shipped_file
from handrail_eval.manifest import hash_of
from handrail_eval.models import ModelChoice
from handrail_eval.result import TaskResult
from handrail_fleet.task_unit import TaskKind, episode_of, task_units
from handrail_fleet.unit_kind import UnitStage

OWN = Path(__file__).parents[3] / "examples" / "eval" / "note-code.yaml"


def stage_in(folder: Path) -> UnitStage:
    folder.mkdir(exist_ok=True)
    return UnitStage(None, SystemClock(), [], None, folder, True, lambda: None)  # type: ignore[arg-type]


def body_of(name: str, model: str = "reference", **how: Any) -> dict[str, Any]:
    [task] = load_tasks([name], [3])
    [template] = load_templates([name])
    assert template.file
    how = {"max_steps": None, "keep": False, "pictures": False, **how}
    [unit] = task_units([task], {task.id: template.file}, ModelChoice(model), "", **how)
    return dict(unit.body)


def shipped(suffix: str) -> str:
    return next(one.stem.replace("_", "-") for one in sorted(SHIPPED.glob(f"*{suffix}")))


def test_a_shipped_task_travels_by_name_also_one_that_is_a_program() -> None:
    for name in (shipped(".yaml"), shipped(".py")):
        body = body_of(name)
        assert body["task"] == name
        assert "text" not in body


def test_a_task_of_ones_own_travels_by_its_text_and_a_program_never(tmp_path: Path) -> None:
    assert body_of(str(OWN))["text"] == OWN.read_text()
    program = tmp_path / "own.py"
    program.write_bytes((shipped_file(shipped(".py")) or OWN).read_bytes() + b"\n# mine\n")
    with pytest.raises(InvalidAction, match="is a program of your own"):
        body_of(str(program))


@pytest.mark.parametrize("model", ["reference", "memoriser", "liar"])
def test_the_same_line_comes_back_with_its_run(tmp_path: Path, model: str) -> None:
    stage = stage_in(tmp_path / "host")
    result = asyncio.run(TaskKind().run(body_of(str(OWN), model, keep=True), stage))
    unit = {"result": result.to_dict()}
    [task] = load_tasks([str(OWN)], [3])
    found = episode_of(unit, task, stage.artefacts.get, tmp_path / "out")
    assert found == TaskResult.read(result.data["episode"])
    assert found.success is (model == "reference")
    assert found.report
    assert (tmp_path / "out" / found.report).exists()
    assert (tmp_path / "out" / f"{task.id}.3" / "home").stat().st_mode & 0o777 == 0o700
    other = task.model_copy(update={"seed": 4})
    assert episode_of(unit, other, stage.artefacts.get, None) is None, "a result of another episode"


@pytest.mark.parametrize("way", ["path", "folder", "tag", "hash", "text"])
def test_a_host_runs_no_file_that_a_caller_names(tmp_path: Path, way: str) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "evil.py"
    program.write_text(f"open({str(ran)!r}, 'w')\nTEMPLATE = {{}}\n")
    digest = hash_of(program.read_bytes())
    wrong: dict[str, Any] = {
        "path": {"task": str(program), "hash": digest},
        "folder": {"task": str(tmp_path), "hash": digest},
        "tag": {"task": "settings", "hash": digest},
        "hash": {"task": shipped(".yaml"), "hash": digest},
        "text": {"task": "evil.py", "text": program.read_text()},
    }[way]
    more = {"seed": 1, "repeat": 1, "model": {"name": "reference"}}
    with pytest.raises(InvalidAction):
        asyncio.run(TaskKind().run({**wrong, **more}, stage_in(tmp_path / "host")))
    assert not ran.exists()


@pytest.mark.parametrize("model", ["scripted:FILE", " scripted:FILE", "recorded:FOLDER", "file:x"])
def test_a_host_reads_no_model_from_a_file_that_a_caller_names(tmp_path: Path, model: str) -> None:
    body = {**body_of(str(OWN)), "model": {"name": model}}
    with pytest.raises(InvalidAction, match="another machine"):
        asyncio.run(TaskKind().run(body, stage_in(tmp_path / "host")))
    with pytest.raises(InvalidAction, match="another machine"):
        body_of(str(OWN), model)


def test_a_callers_address_is_not_where_a_hosts_key_goes(tmp_path: Path) -> None:
    units = body_of(str(OWN), "openai:NAME")
    assert "base_url" not in units["model"]
    body = {**units, "model": {"name": "reference", "base_url": "http://127.0.0.1:1"}}
    result = asyncio.run(TaskKind().run(body, stage_in(tmp_path / "host")))
    assert result.outcome == "passed"


def packed(*members: tarfile.TarInfo) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for one in members:
            tar.addfile(one, io.BytesIO(b"x" * one.size))
    return made.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname, one.size = kind, link, 1 if kind == tarfile.REGTYPE else 0
    return one


@pytest.mark.parametrize(
    "members",
    [
        [member("../../out.txt")],
        [member("link", tarfile.SYMTYPE, "/"), member("link/out.txt")],
        [member("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [member("pipe", tarfile.FIFOTYPE)],
    ],
)
def test_what_a_host_has_kept_is_written_nowhere_else(tmp_path: Path, members: list[tarfile.TarInfo]) -> None:
    [task] = load_tasks([str(OWN)], [3])
    stage = stage_in(tmp_path / "host")
    result = asyncio.run(TaskKind().run(body_of(str(OWN)), stage))
    unit = {"result": {**result.to_dict(), "kept": "0" * 64}}
    out = tmp_path / "deep" / "out"
    with pytest.raises(InvalidAction):
        episode_of(unit, task, lambda _: packed(*members), out)
    assert list(tmp_path.rglob("out.txt")) == []
    assert not [path for path in (tmp_path / "deep").rglob("*") if path.is_symlink() or path.is_file()]
