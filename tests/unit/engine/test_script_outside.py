"""Allowed programs learn nothing of this machine: generated arguments for every one of them, and the kernel's
own wall behind the arguments. Judged by what comes out, for a file that is there and for one that is not.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.engine.script import ScriptExecutor, ScriptResult
from handrail.engine.script.allow import DEFAULT
from handrail.engine.script.arguments import GRAMMARS, WORDS_ONLY, runs_anything
from handrail.engine.script.confine import Confinement

PYTHON = str(Path(sys.executable).resolve())
CANARY = "tweet-of-the-canary"


async def running(folder: Path, script: str, *extra: str, **options: object) -> ScriptResult:
    executor = ScriptExecutor(folder / "runs", allow=(*DEFAULT, *extra), **options)  # type: ignore[arg-type]
    return await executor.run(script, timeout_sec=5)


def run(folder: Path, script: str, *extra: str, **options: object) -> ScriptResult:
    return asyncio.run(running(folder, script, *extra, **options))


def spellings(path: Path) -> Iterator[str]:
    """One place in many words."""
    up = "../" * 30
    yield from (str(path), f"/{path}", f"/.{path}", f"{up}{str(path)[1:]}", f"x/../{up}{str(path)[1:]}")


def uses(program: str) -> Iterator[str]:
    """Where an argument could be a file: plain, after every option, and glued to it."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0"
    yield from ("{}", "-- {}", "x {}", "-- x {}", "{} x")
    yield from (f"-{letter} {{}}" for letter in letters)
    yield from (f"-{letter}{{}}" for letter in letters)
    if program in GRAMMARS:
        known = GRAMMARS[program]
        for option in sorted(known.long | known.long_words | known.long_files):
            yield from (f"{option}={{}}", f"{option} {{}}", f"{option} x {{}}")
    elif program == "test":
        signs = [f"-{letter}" for letter in letters]
        yield from (f"{sign} {{}}" for sign in signs)
        yield from ("{} -ef .", ". -nt {}", "{} -ot .", "! -e {}", "-n x -a -f {}", "'(' -d {} ')'")


def attempts(program: str) -> Iterator[tuple[str, int]]:
    for use in uses(program):
        for spelling in range(5 if use in ("{}", "-e {}", "-f{}") else 1):
            yield use, spelling


def _same(result: ScriptResult, name: str) -> tuple[object, ...]:
    """What an agent sees, but for the name that it wrote itself."""
    said = [
        str(one).replace(name, "NAME").replace(result.run_id, "RUN")
        for one in (result.refused, result.stdout, result.stderr)
    ]
    return (result.ok, result.exit_code, *said)


async def _told(folder: Path, program: str, use: str, spelling: int) -> list[ScriptResult]:
    there, missing = folder / "secret-there", folder / "secret-gone"
    there.write_text(CANARY)
    scripts = [f"{program} {use.format(list(spellings(one))[spelling])}" for one in (there, missing)]
    return [await running(folder, script, env={"PATH": "/usr/bin:/bin"}) for script in scripts]


async def examine(folder: Path, program: str, use: str, spelling: int) -> None:
    there, missing = await _told(folder, program, use, spelling)
    assert CANARY not in there.stdout + there.stderr
    assert _same(there, "secret-there") == _same(missing, "secret-gone")


@pytest.mark.parametrize("program", sorted(set(DEFAULT) - {"sleep", "adb"}))
def test_a_program_does_not_tell_what_is_outside(tmp_path: Path, program: str) -> None:
    """A few of each; all of them in the slow test."""

    async def story() -> None:
        for use in ("{}", "-f{}"):
            await examine(tmp_path, program, use, len(use) % 5)

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted({*GRAMMARS, "test"} - {"tail"}))
def test_no_argument_of_an_allowed_program_tells_what_is_outside(tmp_path: Path, program: str) -> None:
    async def story() -> None:
        for use, spelling in attempts(program):
            await examine(tmp_path, program, use, spelling)

    asyncio.run(story())


def test_every_allowed_program_has_a_grammar_or_takes_words() -> None:
    assert set(DEFAULT) == {*GRAMMARS, *WORDS_ONLY, "test"}


@pytest.mark.parametrize(
    "script",
    ["date 010100002030", "diff -l a b", "sort --random-source=x a", "tail --pid=1 x", "grep -R x", "ls -L"],
)
def test_an_option_that_does_more_than_read_and_print_is_refused(tmp_path: Path, script: str) -> None:
    assert run(tmp_path, script).refused


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("echo /data/app/x | grep /data/app", "/data/app/x\n"),
        ("echo /etc/passwd | grep -e /etc", "/etc/passwd\n"),
        ("echo a/b/c | cut -d / -f 2", "b\n"),
        ("printf '1\n2\n3\n' | head -n 2 | tail -1", "2\n"),
        ("echo b > f; echo a >> f; sort -r f | nl -s /", "     1/b\n     2/a\n"),
        ("echo x > f; test -e f && wc -l f", "1 f\n"),
        ("date -u -d @0 +%F", "1970-01-01\n"),
        ("echo a > f; grep -r a .", "./f:a\n"),
    ],
)
def test_words_that_look_like_paths_are_no_files(tmp_path: Path, script: str, out: str) -> None:
    assert run(tmp_path, script).stdout == out


REACHES = {
    "read": "open({there!r}).read()",
    "list": "__import__('os').listdir({folder!r})",
    "write": "open({folder!r} + '/new', 'w').write('x')",
    "truncate": "__import__('os').truncate({there!r}, 0)",
    "remove": "__import__('os').remove({there!r})",
    "link": "__import__('os').link({there!r}, 'mine')",
    "signal": "__import__('os').kill({pid}, 0)",
}


@pytest.mark.parametrize("name", REACHES)
def test_the_kernel_keeps_an_allowed_interpreter_inside(tmp_path: Path, name: str) -> None:
    if (probe := Confinement.of([], tmp_path, [])) is None:
        pytest.skip("this kernel has no Landlock")
    probe.close()
    there = tmp_path / "secret-there"
    there.write_text(CANARY)
    # Written so that no argument is a path: the check of arguments is not what is tried here.
    reach = REACHES[name].format(there=str(there), folder=str(tmp_path), pid=os.getpid())
    code = f"exec(bytes.fromhex('{f'print({reach})'.encode().hex()}').decode())"
    result = run(tmp_path, f'{PYTHON} -I -c "{code}"', PYTHON)
    assert result.confined
    assert (result.exit_code, CANARY in result.stdout) == (1, False), result
    assert "Error: [Errno" in result.stderr
    assert there.read_text() == CANARY
    assert run(tmp_path, f"{PYTHON} -I -c \"open('mine', 'w').write('x')\"; cat mine", PYTHON).stdout == "x"


def test_a_link_that_a_script_made_itself_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no kernel helps: every file is looked at again before its command starts."""
    monkeypatch.setattr(Confinement, "of", lambda *_: None)
    (tmp_path / "secret-there").write_text(CANARY)
    made = f"__import__('os').symlink({str(tmp_path / 'secret-there')!r}, 'link')"
    code = f"exec(bytes.fromhex('{made.encode().hex()}').decode())"
    for reading in ("cat link", "cat < link", "grep -f link link", "test -e link && echo yes"):
        result = run(tmp_path, f'{PYTHON} -I -c "{code}"; {reading}', PYTHON)
        assert not result.confined
        assert not result.ok, reading
        assert CANARY not in result.stdout + result.stderr


def test_programs_that_run_anything_are_known_by_any_of_their_names() -> None:
    for name in ("awk", "/usr/bin/git", "tar", "env", "xargs", "python3.11", "gcc-12", "find", "sed"):
        assert runs_anything(name), name
    for name in (*DEFAULT, "jq", "tee", "/opt/tool/md5sum"):
        assert not runs_anything(name), name
