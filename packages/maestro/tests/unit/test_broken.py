"""Whatever a file holds, reading it gives problems with lines and never anything else."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail_maestro.check import check_files
from handrail_maestro.convert import to_handrail
from handrail_maestro.document import MaestroSettings, open_maestro
from handrail_maestro.files import Workspace
from handrail_maestro.read import is_maestro, read
from handrail_maestro.workspace import is_config, is_flow, is_workspace

FLOWS = Path(__file__).parents[1] / "data"
GOOD = sorted(FLOWS.glob("*.yaml"))
BITS = [
    "${",
    "}",
    "---\n",
    "- ",
    ":",
    "{",
    "[",
    "\t",
    "\x00",
    "&a ",
    "*a",
    "!x ",
    "ü",
    "\n  ",
    "null",
    "${1}",
    "'",
    '"',
    "%",
]


def bent(text: str, luck: random.Random) -> str:
    """One to four cuts, copies or insertions."""
    for _ in range(luck.randint(1, 4)):
        at, end = sorted(luck.randrange(len(text) + 1) for _ in range(2))
        match luck.randrange(3):
            case 0:
                text = text[:at] + text[min(end, at + 20) :]
            case 1:
                text = text[:at] + luck.choice(BITS) + text[at:]
            case _:
                text = text[:at] + text[at : at + 40] + text[at:]
    return text


def test_bent_files_are_read_made_ready_and_converted_without_a_foreign_exception(tmp_path: Path) -> None:
    luck = random.Random(23)
    path = tmp_path / "bent.yaml"
    settings = MaestroSettings(Workspace(tmp_path), tmp_path)
    for _ in range(400):
        text = bent(luck.choice(GOOD).read_text(), luck)
        path.write_text(text)
        is_maestro(text)
        made = read(text, path)
        assert all(one.mark.line >= 1 and one.message for one in made.problems)
        for work in (lambda: open_maestro(path, settings).ready({}), lambda: to_handrail(path)):
            try:
                work()
            except InvalidAction as error:
                assert error.hint


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"appId: a\n---\n\xff", b"---\n---\n---\n", b"\x00", b"- " * 5_000, b"[" * 500]
)
def test_files_that_are_none_have_level_zero(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    [found] = asyncio.run(check_files([path]))
    assert found.broken
    assert found.level in (0, 1)
    assert is_flow(path) in (True, False)
    assert is_config(path) in (True, False)


def test_a_file_that_cannot_be_opened_is_no_flow_and_a_loop_of_links_no_file(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    assert not is_flow(loop)
    assert not is_workspace(tmp_path)
    (tmp_path / "a.yaml").write_text(
        "appId: a.b\n---\n- runFlow: loop.yaml\n- runScript: x\x00y\n".replace("\x00", "")
    )
    [found] = asyncio.run(check_files([tmp_path / "a.yaml"]))
    assert [one.rule for one in found.problems] == ["missing-file", "missing-file"]
