"""Both distributions as people install them: built, put into a new environment, used from an empty folder."""

from __future__ import annotations

import os
import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.timeout(1_000),
    pytest.mark.skipif(not os.environ.get("HANDRAIL_NEW_USER"), reason="HANDRAIL_NEW_USER=1 builds a venv"),
]


def run(*words: str | Path, cwd: Path) -> str:
    keep = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "HANDRAIL_HOME": str(cwd / "home"), **keep}
    env["HANDRAIL_NO_DAEMON"] = "1"
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels and sdists of a clean clone: what lies about here is not in them by chance."""
    place = tmp_path_factory.mktemp("built")
    run("git", "clone", "--quiet", ROOT, place / "clone", cwd=place)
    maker = place / "maker"
    venv.create(maker, with_pip=True)
    run(maker / "bin" / "pip", "install", "--quiet", "build", cwd=place)
    for folder in (".", "sim"):
        run(
            maker / "bin" / "python",
            "-m",
            "build",
            "--outdir",
            place / "dist",
            place / "clone" / folder,
            cwd=place,
        )
    return place / "dist"


def environment(place: Path, dist: Path, *names: str) -> Path:
    venv.create(place / "venv", with_pip=True)
    bin_ = place / "venv" / "bin"
    constraints = ROOT / "constraints.txt"
    run(bin_ / "pip", "install", "--quiet", "-c", constraints, "--find-links", dist, *names, cwd=place)
    return bin_


def test_neither_archive_holds_the_other(dist: Path) -> None:
    [plain] = dist.glob("handrail-*.whl")
    [phone] = dist.glob("handrail_sim-*.whl")
    assert all(name.startswith(("handrail/", "handrail-")) for name in zipfile.ZipFile(plain).namelist())
    assert all(name.startswith("handrail_sim") for name in zipfile.ZipFile(phone).namelist())
    with tarfile.open(next(dist.glob("handrail-*.tar.gz"))) as source:
        inside = [name.partition("/")[2] for name in source.getnames()]
    assert not [name for name in inside if name.startswith("sim/") or "handrail_sim" in name]
    assert "src/handrail/simulator.py" in inside


def test_handrail_alone_works_without_a_phone_to_simulate(dist: Path, tmp_path: Path) -> None:
    bin_ = environment(tmp_path, dist, "handrail")
    assert "handrail-sim" not in run(bin_ / "pip", "list", cwd=tmp_path)
    assert "Usage" in run(bin_ / "handrail", "--help", cwd=tmp_path)
    run(bin_ / "handrail", "tree", ROOT / "examples" / "dumps" / "contact_empty.xml", cwd=tmp_path)
    program = "import handrail, handrail.runtime, sys; print('handrail_sim' in sys.modules)"
    assert run(bin_ / "python", "-c", program, cwd=tmp_path) == "False\n"


def test_the_phone_alone_needs_nothing_of_handrail(dist: Path, tmp_path: Path) -> None:
    bin_ = environment(tmp_path, dist, "handrail-sim")
    listed = {line.split()[0] for line in run(bin_ / "pip", "list", cwd=tmp_path).splitlines()[2:]}
    assert listed <= {"handrail-sim", "pillow", "websockets", "pip", "setuptools"}
    program = (
        "from handrail_sim import Phone; from handrail_sim.clock import SystemClock\n"
        "print('hierarchy' in Phone(clock=SystemClock()).dump())"
    )
    assert run(bin_ / "python", "-c", program, cwd=tmp_path) == "True\n"
    assert "handrail-sim" in run(bin_ / "handrail-sim", "--version", cwd=tmp_path)


def test_both_together_show_the_demo(dist: Path, tmp_path: Path) -> None:
    bin_ = environment(tmp_path, dist, "handrail[sim]")
    assert "The journal proves it" in run(bin_ / "handrail", "demo", cwd=tmp_path)
