"""All distributions: what is in them, what they say of themselves, what a person has who installs them.

The lines are those of README.md and docs/install.md; docs/releasing.md has how they are built.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.docs.installed import NAMES, ROOT, SATELLITES, VERSION, Built

pytestmark = pytest.mark.timeout(1_000)
MOST_PACKAGES, MOST_MB = 52, 130
"""Of the default install with the helper for phones."""


def files_of(wheel: Path) -> set[str]:
    """But for what says which files there are."""
    names = zipfile.ZipFile(wheel).namelist()
    return {name for name in names if not name.endswith("/RECORD")}


def test_neither_archive_holds_the_other(built: Built) -> None:
    assert all(name.startswith(("handrail/", "handrail-")) for name in files_of(built.wheel("handrail")))
    for satellite in SATELLITES:
        package = f"handrail_{satellite}"
        assert all(name.startswith(package) for name in files_of(built.wheel(f"handrail-{satellite}")))
    with tarfile.open(built.sdist("handrail")) as source:
        inside = [name.partition("/")[2] for name in source.getnames()]
    assert not [name for name in inside if name.startswith("packages/") or "handrail_sim" in name]
    assert "src/handrail/simulator.py" in inside


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_holds_the_package_and_nothing_that_lay_about(built: Built, name: str) -> None:
    package = name.replace("-", "_")
    parent = "src" if name == "handrail" else f"packages/{name.removeprefix('handrail-')}/src"
    source = ROOT / parent / package
    tracked = subprocess.run(
        ["git", "ls-files", "--", source], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    code = {path[path.index(f"{package}/") :] for path in tracked}
    inside = {one for one in files_of(built.wheel(name)) if ".dist-info/" not in one}
    assert inside - {"handrail/commit.txt", "handrail/engine/short_forms.pyi"} == code


@pytest.mark.parametrize("name", NAMES)
def test_an_sdist_becomes_a_wheel_with_the_same_files(built: Built, name: str, tmp_path: Path) -> None:
    """Far from any clone, as somebody else would build it."""
    sdist = built.sdist(name)
    built.run(
        built.tools / "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        tmp_path,
        sdist,
        cwd=tmp_path,
        PIP_CONSTRAINT="",
    )
    [again] = tmp_path.glob("*.whl")
    one, other = (zipfile.ZipFile(path) for path in (built.wheel(name), again))
    assert files_of(built.wheel(name)) == files_of(again)
    assert {path: one.read(path) for path in files_of(again)} == {
        path: other.read(path) for path in files_of(again)
    }


def test_what_they_say_of_themselves_is_what_an_index_takes(built: Built) -> None:
    said = built.run(built.tools / "twine", "check", "--strict", *built.dist.iterdir(), cwd=built.folder)
    assert said.count("PASSED") == 2 * len(NAMES)


@pytest.fixture(scope="module")
def plain(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built.environment(tmp_path_factory.mktemp("plain"), "handrail")


@pytest.fixture(scope="module")
def both(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built.environment(tmp_path_factory.mktemp("both"), "handrail[sim]")


def test_handrail_alone_works_without_a_phone_to_simulate(built: Built, plain: Path, tmp_path: Path) -> None:
    assert "handrail-sim" not in built.run(plain / "pip", "list", cwd=tmp_path)
    assert "Usage" in built.run(plain / "handrail", "--help", cwd=tmp_path)
    built.run(plain / "handrail", "tree", ROOT / "examples" / "dumps" / "contact_empty.xml", cwd=tmp_path)
    program = "import handrail, handrail.runtime, sys; print('handrail_sim' in sys.modules)"
    assert built.run(plain / "python", "-c", program, cwd=tmp_path) == "False\n"


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        *((words, "sim") for words in ("demo", "sim", "mcp --sim", "serve --sim 1", "ui --sim")),
        ("agent Go --model nothing", "agent"),
        ("serve --model nothing --port 0", "agent"),
        ("check --dialect anthropic_computer flow.yaml", "agent"),
        ("check --dialect mobile_mcp flow.yaml", "agent"),
        ("mcp --tools agent_device", "agent"),
        ("eval --list", "eval"),
        ("fleet status", "fleet"),
        ("run --fleet https://127.0.0.1:1 flow.yaml", "fleet"),
        ("run .maestro", "maestro"),
        ("flow check theirs.yaml", "maestro"),
        ("flow convert flow.yaml", "maestro"),
        ("serve --metrics --port 0", "telemetry"),
    ],
)
def test_handrail_alone_says_what_to_install(
    built: Built, plain: Path, tmp_path: Path, words: str, extra: str
) -> None:
    (tmp_path / "flow.yaml").write_text("- tap: Save\n")
    (tmp_path / "theirs.yaml").write_text("appId: com.example\n---\n- launchApp\n")
    (tmp_path / ".maestro").mkdir()
    done = built.attempt(plain / "handrail", *words.split(), cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert f"pip install 'handrail[{extra}]'" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "words", "answer"),
    [
        ("agent", "agent --help", "Let a model work"),
        ("eval", "eval --list", "adversary-balance"),
        ("fleet", "fleet --help", "Run on many hosts"),
        ("maestro", "flow check theirs.yaml", "level 5 of 5"),
    ],
)
def test_a_satellite_alone_brings_its_command(
    built: Built, tmp_path: Path, name: str, words: str, answer: str
) -> None:
    (tmp_path / "theirs.yaml").write_text("appId: com.example\n---\n- launchApp\n")
    bin_ = built.environment(tmp_path / "new", f"handrail-{name}")
    assert answer in built.run(bin_ / "handrail", *words.split(), cwd=tmp_path)


def test_all_satellites_live_together(built: Built, both: Path, tmp_path: Path) -> None:
    wheels = [built.wheel(f"handrail-{name}") for name in SATELLITES]
    built.run(both / "pip", "install", "--quiet", "--no-deps", *wheels, cwd=tmp_path)
    for words in ("agent --help", "eval --list", "fleet --help", "demo"):
        built.run(both / "handrail", *words.split(), cwd=tmp_path)


def test_the_default_install_stays_small(
    built: Built, plain: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    listed = json.loads(built.run(plain / "pip", "list", "--format", "json", cwd=tmp_path))
    packages = [one["name"] for one in listed if one["name"] not in ("pip", "setuptools")]
    [site] = plain.parent.glob("lib/*/site-packages")
    largest = sorted(((_megabytes(place), place.name) for place in site.iterdir()), reverse=True)[:3]
    whole = _megabytes(plain.parent)
    named = ", ".join(f"{name} {size:.0f} MB" for size, name in largest)
    record_property("figure", f"default install: {len(packages)} packages, {whole:.0f} MB; largest: {named}")
    assert len(packages) <= MOST_PACKAGES
    assert whole <= MOST_MB


def _megabytes(place: Path) -> float:
    """As wheels unpack it: without pip, which is there anyway, and what Python compiles at first use."""
    files = place.rglob("*") if place.is_dir() else [place]
    left_out = {"__pycache__", "pip", "setuptools"}
    return sum(file.stat().st_size for file in files if file.is_file() and not left_out & {*file.parts}) / 1e6


def test_the_phone_alone_needs_nothing_of_handrail(built: Built, tmp_path: Path) -> None:
    bin_ = built.environment(tmp_path, "handrail-sim")
    listed = {line.split()[0] for line in built.run(bin_ / "pip", "list", cwd=tmp_path).splitlines()[2:]}
    assert listed <= {"handrail-sim", "lxml", "pillow", "websockets", "pip", "setuptools"}
    program = (
        "from handrail_sim import Phone; from handrail_sim.clock import SystemClock\n"
        "print('hierarchy' in Phone(clock=SystemClock()).dump())"
    )
    assert built.run(bin_ / "python", "-c", program, cwd=tmp_path) == "True\n"
    assert "handrail-sim" in built.run(bin_ / "handrail-sim", "--version", cwd=tmp_path)


def test_both_together_show_the_demo(built: Built, both: Path, tmp_path: Path) -> None:
    built.show_demo(both / "handrail", cwd=tmp_path)


def test_an_install_knows_the_commit_that_it_was_built_from(built: Built, both: Path, tmp_path: Path) -> None:
    head = built.run(
        "git", "-C", built.folder / "clone", "rev-parse", "--short=12", "HEAD", cwd=tmp_path
    ).strip()
    assert built.run(both / "handrail", "--version", cwd=tmp_path) == f"handrail {VERSION} ({head})\n"


def test_sim_serves_a_phone_that_a_command_reaches(built: Built, both: Path, tmp_path: Path) -> None:
    command = [both / "handrail", "sim", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=built.env(tmp_path), cwd=tmp_path
    ) as sim:
        assert sim.stdout
        try:
            address = json.loads(sim.stdout.readline())["connect"]
            seen = built.run(both / "handrail", "ui", "--device", address, cwd=tmp_path)
        finally:
            sim.terminate()
    assert "Settings" in seen
    assert sim.returncode == 0


async def talk(command: str, arguments: list[str], env: dict[str, str], cwd: Path) -> str:
    """As the official client does it: tools are listed, one is called."""
    server = StdioServerParameters(command=command, args=arguments, env=env, cwd=cwd)
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert {"tap", "type_text", "get_ui_tree"} <= tools
        answer = await session.call_tool(
            "start_app", {"package": "com.android.settings", "reason": "I look at it"}
        )
        assert not answer.is_error, answer
        return str(answer.content)


def test_the_official_client_speaks_to_mcp_sim(built: Built, both: Path, tmp_path: Path) -> None:
    import asyncio  # noqa: PLC0415

    said = asyncio.run(talk(str(both / "handrail"), ["mcp", "--sim"], built.env(tmp_path), tmp_path))
    assert "Network & internet" in said


def test_uvx_runs_the_demo_and_an_mcp_server(built: Built, tmp_path: Path) -> None:
    import asyncio  # noqa: PLC0415

    uvx = ["uvx", "--from", "handrail[sim]", "handrail"]
    built.show_demo(*uvx, cwd=tmp_path)
    found = shutil.which("uvx", path=str(built.tools))
    assert found
    said = asyncio.run(talk(found, [*uvx[1:], "mcp", "--sim"], built.env(tmp_path), tmp_path))
    assert "Network & internet" in said


def test_pipx_installs_it_and_runs_it(built: Built, tmp_path: Path) -> None:
    places = {name: str(tmp_path / name) for name in ("PIPX_HOME", "PIPX_BIN_DIR", "PIPX_MAN_DIR")}
    built.run("pipx", "install", "handrail[sim]", cwd=tmp_path, **places)
    built.show_demo(tmp_path / "PIPX_BIN_DIR" / "handrail", cwd=tmp_path)
    said = built.run(
        "pipx", "run", "--spec", "handrail[sim]", "handrail", "--version", cwd=tmp_path, **places
    )
    assert said.startswith("handrail 0.")


@pytest.mark.parametrize("minor", [12, 13, 14])
def test_other_pythons_show_the_demo(built: Built, tmp_path: Path, minor: int) -> None:
    python = _python(minor)
    if python is None:
        pytest.skip(f"no Python 3.{minor} here")
    built.run("uv", "venv", "--quiet", "--python", python, "venv", cwd=tmp_path)
    built.run("uv", "pip", "install", "--quiet", "--python", "venv", "handrail[sim]", cwd=tmp_path)
    built.show_demo(tmp_path / "venv" / "bin" / "handrail", cwd=tmp_path)


def _python(minor: int) -> str | None:
    """One that starts: a shim may stand for a version that is not chosen."""
    shims = Path("~/.pyenv/versions").expanduser().glob(f"3.{minor}.*/bin/python")
    for found in (shutil.which(f"python3.{minor}"), *map(str, shims)):
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None


def test_a_strangers_package_of_the_same_name_is_not_taken(built: Built, tmp_path: Path) -> None:
    """The adversary of all of the above: a newer one lies where pip and uv look."""
    strangers = tmp_path / "index"
    strangers.mkdir()
    for version in ("99.0", VERSION.partition("+")[0]):
        _stranger(strangers, version)
    links = {"PIP_FIND_LINKS": f"{strangers} {built.dist}", "UV_FIND_LINKS": f"{strangers},{built.dist}"}
    pip = [built.tools / "pip", "install", "--dry-run", "--no-deps", "handrail"]
    free = built.run(*pip, cwd=tmp_path, **links, PIP_CONSTRAINT="")
    assert "handrail-99" in free, "it is what would be taken otherwise"
    assert f"handrail-{VERSION}" in built.run(*pip, cwd=tmp_path, **links)
    built.run("uv", "venv", "--quiet", "venv", cwd=tmp_path)
    uv = ["uv", "pip", "install", "--dry-run", "--no-deps", "--python", "venv", "handrail"]
    by_uv = built.attempt(*uv, cwd=tmp_path, **links)
    assert f"handrail=={VERSION}" in by_uv.stderr, by_uv.stderr


def _stranger(folder: Path, version: str) -> None:
    info = f"handrail-{version}.dist-info"
    with zipfile.ZipFile(folder / f"handrail-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: handrail\nVersion: {version}\n")
        tag = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", tag)
        wheel.writestr(f"{info}/RECORD", "")
