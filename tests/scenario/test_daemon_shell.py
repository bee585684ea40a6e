"""What a shell can do to a command, through the daemon and without it: nobody can tell which.

Each line runs in bash, twice. What it prints and how it ends must be the same; a phone of the test's own says
what was done.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import Lodging
from tests.scenario.test_daemon import ALONE, WAIT, downs, read_some, settings
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

LINES = {
    "a reader that goes": "handrail ui | true; echo ${PIPESTATUS[0]}",
    "a reader of one line": "handrail actions | head -1; echo ${PIPESTATUS[0]}",
    "a full disk": "handrail ui > /dev/full; echo $?",
    "a full disk, without buffers": "PYTHONUNBUFFERED=1 handrail ui > /dev/full; echo $?",
    "no standard error": "handrail tap nothing 2>&-; echo $?",
    "no standard output": "handrail ui >&-; echo $?",
    "no standard input": "handrail ui <&-; echo $?",
    "a home by a relative path": 'cd "$HANDRAIL_HOME/.."; HANDRAIL_HOME=home handrail ui; echo $?',
    "a folder that is gone": 'mkdir x; cd x; rmdir "$PWD"; handrail ui; echo $?',
    "a relative home in a folder that is gone": (
        'mkdir x; cd x; rmdir "$PWD"; HANDRAIL_HOME=y handrail ui; echo $?; '
        "HANDRAIL_HOME=y handrail ui --json; echo $?"
    ),
    "a folder for temporary files": "mkdir -p t; TMPDIR=$PWD/t handrail screenshot; ls t | wc -l; rm -r t",
    "a mask": "umask 027; handrail screenshot --out a.png; stat -c %a a.png; rm a.png",
    "many open files": 'for i in {10..90}; do eval "exec $i</dev/null"; done; handrail ui; echo $?',
    "a file with a high number": "exec 900</dev/null; handrail ui; echo $?",
    "bytes that are no text": "X=$'\\xff' handrail tap $'\\xff\\xfe'; echo $?",
    "few variables": 'env -i "${KEPT[@]}" $COMMAND ui; echo $?',
    "colours by force": "FORCE_COLOR=1 handrail tap nothing; NO_COLOR=1 handrail tap nothing; echo $?",
    "a narrow screen": "COLUMNS=40 handrail tap --help; COLUMNS=40 handrail actions swipe",
    "a word that is no level": "HANDRAIL_LOG=banana handrail ui; echo $?",
    "nohup": "nohup $COMMAND ui < /dev/null; echo $?",
    "a file made by the shell": "handrail tree <(echo '<hierarchy/>'); echo $?",
    "fewer files allowed": "ulimit -n 128; handrail ui; echo $?",
    "other alphabets": "LC_ALL=C handrail ui; LC_ALL=C PYTHONIOENCODING=ascii handrail ui; echo $?",
    "input for the next command": "printf 'a\\nb\\n' | { handrail ui > /dev/null; cat; }",
    "a file that grows": "echo x > g; handrail ui >> g; handrail ui >> g; cat g; rm g",
    "both streams in one file": "handrail tap nothing > m 2>&1; cat m; rm m",
    "a job in the background": "handrail ui & wait $!; echo $?",
}
PARTS = 6
"""A story has a minute."""


async def say(place: Lodging, line: str, folder: Path, env: dict[str, str]) -> str:
    """What bash prints and how it ends, without what differs between any two runs."""
    own = place.env | env
    kept = ("HANDRAIL_HOME", "HANDRAIL_DEVICE", "HANDRAIL_NO_DAEMON", "PYTHONPATH", "PATH")
    words = " ".join(shlex.quote(f"{name}={own[name]}") for name in kept if name in own)
    command = shlex.join(HANDRAIL)
    script = f'COMMAND={shlex.quote(command)}; KEPT=({words}); handrail() {{ {command} "$@"; }}; {line}'
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", script, env=own, cwd=folder, stdin=-3, stdout=asyncio.subprocess.PIPE, stderr=-2
    )
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    text = re.sub(r"\br\d+\b", "REVISION", out.decode(errors="backslashreplace"))
    return re.sub(r"handrail-\w+\.png|line \d+", "…", text) + f"[{process.returncode}]"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
async def test_no_shell_can_tell_which_process_did_a_command(tmp_path: Path, part: int) -> None:
    async with settings(tmp_path / "home") as (place, _):
        await place.warm()
        told = {}
        for name, line in [*LINES.items()][part::PARTS]:
            alone = await say(place, line, tmp_path, ALONE)
            assert "Traceback" not in alone, (name, alone)
            told[name] = (await say(place, line, tmp_path, {}), alone)
        assert {name for name, (handed, alone) in told.items() if handed != alone} == set(), told


@pytest.mark.slow
async def test_a_reader_gets_its_end_with_the_answer_and_what_was_done_is_never_denied(
    tmp_path: Path,
) -> None:
    async with settings(tmp_path / "home") as (place, phone):
        await place.warm()
        done = await say(place, "handrail tap 'Network & internet' > /dev/full; echo $?", tmp_path, {})
        assert "the answer can't be written" in done
        assert "STORE_FULL" not in done
        assert len(downs(phone)) == 1


@pytest.mark.slow
async def test_no_two_commands_have_one_number(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        answers = await asyncio.gather(*(place.command("ui", "--json") for _ in range(4)))
        ids = [json.loads(one.stdout)["action_id"] for one in answers]
        # What was forked from one process began to count at one number: the same in the same millisecond.
        assert len({one.rpartition("_")[2] for one in ids}) == len(ids), ids


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_another_user_is_not_served(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, phone):
        await place.warm()
        (tmp_path / "daemon.sock").chmod(0o777)
        tmp_path.chmod(0o755)
        for folder in tmp_path.parents[:-1]:
            folder.chmod(folder.stat().st_mode | 0o055)
        program = (
            "import os, socket; s = socket.socket(socket.AF_UNIX); s.settimeout(5);"
            "os.setgroups([]); os.setresuid(65534, 65534, 65534);"
            f"s.connect({str(tmp_path / 'daemon.sock')!r});"
            "print(s.recv(1))"
        )
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await other.communicate()
        tmp_path.chmod(0o700)
        assert out == b"b''\n", err
        assert downs(phone) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid")
async def test_what_is_typed_at_a_terminal_stops_a_command(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        assert (await place.command("ui")).returncode == 0
        alone = await typed(place, b"\x03", ALONE)
        handed = await typed(place, b"\x03", {})
        assert handed == alone
        assert handed[1] == 130
        assert b"CANCELLED" in handed[0]


async def typed(place: Lodging, keys: bytes, env: dict[str, str]) -> tuple[bytes, int | None]:
    """What a waiting command answers to keys, which the kernel turns into signals for the job in front."""
    near, far = pty.openpty()
    words = ["setsid", "--ctty", "--wait", *HANDRAIL, *WAIT]
    head = place.home / "journal.head"
    before = head.read_text()
    process = await asyncio.create_subprocess_exec(
        *words, env=place.env | env, stdin=far, stdout=far, stderr=far
    )
    os.close(far)
    try:
        await until(lambda: head.read_text() != before)  # it has begun
        os.write(near, keys)
        seen = b""
        while data := await asyncio.to_thread(read_some, near):
            seen += data
    finally:
        os.close(near)
    return re.sub(rb"\d+", b"N", seen), await process.wait()
