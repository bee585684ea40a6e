"""Handrail without `handrail-sim`: what needs no simulated phone works, what does says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import handrail
import handrail_sim
from handrail.cli.program import COMMANDS, cli

ROOT = Path(__file__).parent.parent
WITHOUT = "import sys; sys.modules['handrail_sim'] = None; "
COMMAND = WITHOUT + "from handrail.cli.main import main; sys.exit(main())"
DUMP = ROOT / "examples" / "dumps"

Done = subprocess.CompletedProcess[str]


def run(program: str, home: Path, *words: str) -> Done:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home / "home")}
    env["HANDRAIL_NO_DAEMON"] = "1"
    if "PYTHONPATH" in os.environ:
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    done = [sys.executable, "-c", program, *words]
    return subprocess.run(done, env=env, cwd=home, capture_output=True, text=True, check=False)


QUICK = [["sim"], ["ui", "--sim"]]
LONG = [
    ["sim", "--port", "0"],
    ["demo"],
    ["eval", "--model", "nothing"],
    ["serve", "--sim", "1", "--port", "0"],
    ["tap", "OK", "--sim"],
    ["mcp", "--sim"],
    ["run", str(ROOT / "examples" / "flows"), "--sim"],
    ["agent", "Look", "--model", "scripted:answers.yaml", "--sim"],
    ["act", str(ROOT / "examples" / "model_answer.txt"), "--dialect", "openpocket", "--sim"],
    ["record", "recorded.yaml", "--sim"],
    ["watch", "--sim"],
]
TRIED = [*QUICK, *LONG]


@pytest.mark.parametrize(
    "words", [*QUICK, *(pytest.param(words, marks=pytest.mark.slow) for words in LONG)], ids=" ".join
)
def test_what_needs_a_simulated_phone_says_how_to_get_one(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "answers.yaml").write_text("- action: {type: finish, message: Done}\n")
    done = run(COMMAND, tmp_path, *words)
    assert done.returncode == 3, done.stdout + done.stderr
    told = done.stdout + done.stderr
    assert "UNSUPPORTED" in told
    assert "pip install 'handrail[sim]'" in told
    assert "pip install ./packages/sim" in told
    assert "Traceback" not in told
    assert "ImportError" not in told


def test_every_command_with_a_simulated_phone_is_tried() -> None:
    """`bug-report --sim` packs that there is none, as it packs every other failure."""
    context = click.Context(cli)
    known = {name: cli.get_command(context, name) for name in COMMANDS}
    takes = {
        name for name, one in known.items() if one and any("--sim" in option.opts for option in one.params)
    }
    assert takes - {"bug-report"} <= {words[0] for words in TRIED}


def test_the_python_api_says_the_same(tmp_path: Path) -> None:
    program = (
        WITHOUT
        + """
import asyncio
from handrail import simulated_phone
async def main():
    async with simulated_phone() as address:
        print(address)
asyncio.run(main())
"""
    )
    told = run(program, tmp_path).stderr
    assert told.splitlines()[-1].startswith("handrail.errors.Unsupported: Simulated phones are not installed")


@pytest.mark.parametrize("words", [["--help"], ["sim", "--help"], ["devices"], ["doctor"], ["actions"]])
def test_what_needs_none_works(tmp_path: Path, words: list[str]) -> None:
    done = run(COMMAND, tmp_path, *words)
    assert "UNSUPPORTED" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_reading_a_dump_needs_none(tmp_path: Path) -> None:
    dump = next(iter(sorted(DUMP.iterdir())))
    done = run(COMMAND, tmp_path, "tree", str(dump))
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_nothing_of_it_is_loaded_unasked(tmp_path: Path) -> None:
    """With the simulator installed: what was not asked for is not imported."""
    for words in (["--help"], ["devices"], ["tree", str(next(iter(sorted(DUMP.iterdir()))))]):
        program = (
            f"import sys; sys.argv[1:] = {words!r}\nfrom handrail.cli.main import main\n"
            "try: main()\nexcept SystemExit: pass\n"
            "print([name for name in sys.modules if name.startswith('handrail_sim')])"
        )
        assert run(program, tmp_path).stdout.splitlines()[-1] == "[]", words


def test_both_distributions_have_one_version() -> None:
    assert handrail.__version__ == handrail_sim.__version__
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["sim"] == [f"handrail-sim=={handrail.__version__}"]
