"""Commands through the daemon: the same as without it, and nothing of one is left for the next.

Real processes and a phone in the test's own: what was touched is read from the phone.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.cli.daemon import daemon_status
from handrail.cli.local_client import socket_path
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.fuzz.daemon import storm
from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import Lodging, lodging, processes_of
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

SETTINGS = "com.android.settings"
ASK = '[[rule]]\nname = "ask"\naction = "press_key"\nverdict = "ask"\n'
DENY = '[[rule]]\nname = "no"\naction = "tap"\nverdict = "deny"\n'
ALONE = {"HANDRAIL_NO_DAEMON": "1"}


@asynccontextmanager
async def settings(home: Path, **more: str) -> AsyncIterator[tuple[Lodging, Phone]]:
    """A phone that shows the network's settings, and a home whose commands are handed over."""
    phone = Phone(clock=SystemClock())
    phone.start_activity(f"{SETTINGS}/.Settings")
    async with (
        serve([phone], port=0) as [served],
        lodging(home, HANDRAIL_DEVICE=f"{served.host}:{served.port}", **more) as place,
    ):
        yield place, phone


def downs(phone: Phone) -> list[tuple[int, int]]:
    return [(event["x"], event["y"]) for event in phone.input_log if event.get("action") == "down"]


def policy(home: Path, text: str) -> None:
    config = Config.from_env({"HANDRAIL_HOME": str(home)})
    config.make_home()
    config.policy.parent.mkdir(mode=0o700, exist_ok=True)
    config.policy.write_text(text)


def told(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """Without the moment."""
    out = re.sub(r'"(action_id|timestamp|timings_ms|settle)": (\{[^}]*\}|[^,}]*)', "", done.stdout)
    return done.returncode, re.sub(r"\br\d+\b", "REVISION", out), done.stderr


@pytest.mark.slow
async def test_a_command_says_and_returns_the_same_with_and_without_it(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        for words in (
            ["ui"],
            ["ui", "--json"],
            ["tap", "No such thing"],
            ["tap", "No such thing", "--json"],
            ["tap", "--nope"],
            ["swipe", "upp"],
            ["swipe", "upp", "--json"],
            ["tapp"],
            ["actions", "swipe"],
            ["expect-visible", "--text-contains", "Network"],
            ["ui", "--device", "127.0.0.1:1"],
            ["tree", "-"],
            ["tap", "--help"],
        ):
            alone = await place.command(*words, env=ALONE, stdin=b"<hierarchy/>")
            handed = await place.command(*words, stdin=b"<hierarchy/>")
            assert told(handed) == told(alone), words


async def test_the_socket_is_its_owners_and_no_process_is_left_behind(tmp_path: Path) -> None:
    async with lodging(tmp_path) as place:
        resident = await place.warm()
        assert resident in processes_of(tmp_path)
        mode = socket_path(tmp_path, "daemon").stat().st_mode
        assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode)) == (True, 0o600)
        status = json.loads((await place.command("daemon", "status", "--json")).stdout)
        assert (status["pid"], status["version"]) == (resident, handrail.__version__)
        stopped = await place.command("daemon", "stop")
        assert stopped.stdout == f"Stopped process {resident}.\n"
        await until(lambda: not processes_of(tmp_path))
        assert json.loads((await place.command("daemon", "status", "--json")).stdout)["running"] is False
        await place.command("ui", "--device", "127.0.0.1:1", env=ALONE)
        assert processes_of(tmp_path) == []


IMPORTED = """
import os, sys
end = os._exit
def ended(code):
    print(*sorted(sys.modules))
    sys.stdout.flush()
    end(code)
os._exit = ended
sys.argv = ["handrail", "ui", "--device", "127.0.0.1:1"]
from handrail.cli.main import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, {"PYTHONUTF8": "1"}])
async def test_a_client_is_taken_on_and_has_imported_next_to_nothing(
    tmp_path: Path, locale: dict[str, str]
) -> None:
    async with lodging(tmp_path, **locale) as place:
        await place.warm()
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-c", IMPORTED, env=place.env, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await client.communicate()
        imported = out.decode().split()
        assert "handrail.cli.client" in imported
        assert len([name for name in imported if name.startswith("handrail")]) <= 30
        assert not {"click", "json", "re", "socket", "signal", "enum", "typing", "pathlib"} & {*imported}


@pytest.mark.slow
async def test_a_secret_of_one_client_is_nowhere_for_the_next(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        secret = "correct-horse-" + "battery"
        await place.command("tap", "Search settings")
        first = await place.command("type-text", "${secret:WORD}", env={"HANDRAIL_SECRET_WORD": secret})
        assert first.returncode == 0, first
        second = await place.command("type-text", "${secret:WORD}")
        assert second.returncode != 0
        assert "WORD" in second.stderr
        for process in processes_of(tmp_path):
            assert b"HANDRAIL_SECRET" not in Path(f"/proc/{process}/environ").read_bytes()


@pytest.mark.slow
async def test_folder_mask_and_open_files_are_the_clients(tmp_path: Path) -> None:
    async with settings(tmp_path / "home") as (place, _):
        await place.warm()
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            done = await place.command("screenshot", "--out", "here.png", cwd=tmp_path / name)
            assert done.returncode == 0, done
            assert (tmp_path / name / "here.png").stat().st_size > 0
        words = " ".join([*HANDRAIL, "check", '<(echo \'{"type":"tapp"}\')'])
        script = f"umask 027; {' '.join(HANDRAIL)} screenshot --out m.png >&2; {words}"
        piped = await asyncio.create_subprocess_exec(
            "bash", "-c", script, cwd=tmp_path, env=place.env, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, err = await piped.communicate()
        assert b"INVALID_ACTION" in err
        assert stat.S_IMODE((tmp_path / "m.png").stat().st_mode) == 0o640


@pytest.mark.slow
async def test_on_a_terminal_it_looks_the_same(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        for words in (["ui"], ["tap", "No such thing"], ["ui", "--json"], ["actions"]):
            alone, _ = await at_terminal(place, words, env=ALONE)
            handed, _ = await at_terminal(place, words)
            both = [re.sub(rb"\x1b\[\d+m|\d+", b"", one) for one in (alone, handed)]
            assert b"\x1b[" in alone or words[-1] in ("--json", "ui"), alone
            assert (alone.count(b"\x1b["), len(alone.split(b"\n"))) == (
                handed.count(b"\x1b["),
                len(handed.split(b"\n")),
            )
            assert words == ["ui", "--json"] or both[0] == both[1]


async def at_terminal(
    place: Lodging, words: list[str], *, env: dict[str, str] | None = None, answer: bytes = b""
) -> tuple[bytes, int]:
    """What is written to a terminal of sixty columns; `answer` is typed when a question stands there."""
    near, far = pty.openpty()
    subprocess.run(["stty", "cols", "60"], stdin=far, check=True)
    process = await asyncio.create_subprocess_exec(
        *HANDRAIL, *words, env=place.env | {"TERM": "xterm"} | (env or {}), stdin=far, stdout=far, stderr=far,
        start_new_session=True,
    )  # fmt: skip
    os.close(far)
    seen, given = b"", False
    try:
        while data := await asyncio.to_thread(read_some, near):
            seen += data
            if answer and not given and b"[n] no:" in seen:
                os.write(near, answer)
                given = True
    finally:
        os.close(near)
    return seen, await process.wait()


def read_some(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other side has closed it
        return b""


@pytest.mark.slow
async def test_a_question_goes_to_the_clients_terminal_or_to_nobody(tmp_path: Path) -> None:
    policy(tmp_path, ASK)
    async with settings(tmp_path) as (place, phone):
        await place.warm()
        seen, code = await at_terminal(place, ["press-key", "back"], answer=b"y\n")
        assert code == 0, seen
        assert any(event.get("key") or "key" in str(event) for event in phone.input_log)
        _, refused = await at_terminal(place, ["press-key", "back"], answer=b"n\n")
        assert refused != 0
        asking = await started(place, "press-key", "back")
        assert asking.stderr
        heard = b""
        while b"handrail approve" not in heard:
            heard = await asking.stderr.readline()
            assert heard
        asking.send_signal(signal.SIGINT)
        await asking.communicate()
        assert asking.returncode == 130


async def started(place: Lodging, *words: str, **more: Any) -> asyncio.subprocess.Process:
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    options = {"stdin": null, "stdout": pipe, "stderr": pipe, **more}
    return await asyncio.create_subprocess_exec(*HANDRAIL, *words, env=place.env, **options)


WAIT = ("wait-for", "There is no such thing", "--timeout-ms", "600000")


async def test_a_client_that_writes_slowly_gets_its_exit_code(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writing, b" " * 512)
        os.set_blocking(writing, True)
        client = await started(place, "stop", stdout=writing, stderr=subprocess.STDOUT)
        os.close(writing)
        await until(lambda: daemon_status(tmp_path)["commands"])
        for _ in range(50):  # long enough for a daemon that does not wait for its client
            if not daemon_status(tmp_path)["commands"]:
                break
            await asyncio.sleep(0.02)
        with os.fdopen(reading, "rb") as output:
            printed = await asyncio.to_thread(output.read)
        assert (await client.wait(), b"went away" in printed) == (0, False), printed[-400:]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_stops_the_action_which_still_answers(tmp_path: Path, number: signal.Signals) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        waiting = await started(place, *WAIT, "--json")
        await until(lambda: busy(place))
        waiting.send_signal(number)
        out, _ = await waiting.communicate()
        assert (waiting.returncode, json.loads(out)["failure_code"]) == (130, "CANCELLED")


def busy(place: Lodging) -> bool:
    """Whether an action has begun: the journal has its first line."""
    done = subprocess.run(["grep", "-c", "wait_for", f"{place.home}/handrail.db-wal"], capture_output=True)
    return done.returncode == 0


@pytest.mark.slow
async def test_a_client_that_is_killed_ends_its_command(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        await place.warm()
        waiting = await started(place, *WAIT)
        await until(lambda: busy(place))
        waiting.kill()
        await waiting.wait()
        await until(lambda: daemon_status(place.home)["commands"] == 0)
        after = await place.command("tap", "Network & internet")
        assert after.returncode == 0, after


@pytest.mark.slow
async def test_a_command_whose_daemon_is_killed_ends_with_a_code_and_is_not_repeated(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, phone):
        resident = await place.warm()
        waiting = await started(place, *WAIT, "--json")
        await until(lambda: busy(place))
        before = downs(phone)
        os.kill(resident, signal.SIGKILL)
        out, err = await waiting.communicate()
        answer = json.loads(out)
        assert (answer["failure_code"], answer["delivery"]) == ("ADB_CONNECTION_ERROR", "unknown")
        assert (waiting.returncode, err) == (3, b"")
        assert downs(phone) == before
        assert (await place.command("ui")).returncode == 0
        assert place.resident() not in (None, resident)


@pytest.mark.slow
async def test_an_idle_one_holds_no_phone_and_a_changed_policy_counts_at_once(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, phone):
        await place.warm()
        opened = await place.command("tap", "Network & internet")
        assert opened.returncode == 0, opened
        async with Runtime.open(Config.from_env(place.env), env=place.env) as runtime:
            session = await runtime.session()
            assert await runtime.leases.holder(place.env["HANDRAIL_DEVICE"]) is None
            assert (await session.tap("Data Saver")).success
        policy(tmp_path, DENY)
        count = len(downs(phone))
        denied = await place.command("tap", "Data Saver", "--json")
        assert json.loads(denied.stdout)["failure_code"] == "ACTION_REJECTED"
        assert len(downs(phone)) == count


@pytest.mark.slow
async def test_a_home_behind_a_link_has_one_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with lodging(home) as place:
        resident = await place.warm()
        (tmp_path / "link").symlink_to(home)
        through = {"HANDRAIL_HOME": str(tmp_path / "link")}
        status = await place.command("daemon", "status", "--json", env=through)
        assert json.loads(status.stdout)["pid"] == resident
        await place.command("ui", "--device", "127.0.0.1:1", env=through)
        assert place.resident() == resident
        assert processes_of(tmp_path / "link") == []


async def test_a_home_that_others_could_read_is_closed_and_has_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    async with lodging(home) as place:
        done = await place.command("ui", "--device", "127.0.0.1:1")
        assert "daemon" not in done.stderr
        assert await until(place.resident)
        assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.slow
async def test_it_ends_when_its_home_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with lodging(home) as place:
        await place.warm()
        shutil.rmtree(home)
        await until(lambda: not processes_of(home))
        home.mkdir(mode=0o700)


@pytest.mark.slow
async def test_other_code_takes_over_and_keeps_the_refs(tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(Path(handrail.__file__).parent, older / "handrail")
    async with settings(tmp_path / "home") as (place, phone):
        with_older = {"PYTHONPATH": f"{older}:{place.env.get('PYTHONPATH', '')}"}
        seen = await place.command("ui", env=with_older)
        first = await until(place.resident)
        ref = re.search(r"(@\w+) .*Network", seen.stdout)
        assert ref, seen
        tapped = await place.command("tap", ref[1])
        assert (tapped.returncode, tapped.stderr) == (0, ""), tapped
        assert await until(place.resident) != first
        (older / "handrail" / "errors.py").touch()
        assert len(downs(phone)) == 1


@pytest.mark.slow
async def test_edited_code_is_not_served(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(Path(handrail.__file__).parent, copy / "handrail")
    path = f"{copy}:{os.environ.get('PYTHONPATH', '')}"
    async with lodging(tmp_path / "home", PYTHONPATH=path) as place:
        first = await place.warm()
        assert await place.warm() == first
        file = copy / "handrail" / "cli" / "perform.py"
        file.write_text(file.read_text() + "\n# edited\n")
        assert await place.warm() != first


async def test_it_ends_by_itself_when_nobody_uses_it(tmp_path: Path) -> None:
    program = "from handrail.cli.daemon import main; main(idle_s=0.2)"
    words = [sys.executable, "-c", program, str(tmp_path / "home")]
    process = await asyncio.create_subprocess_exec(*words)
    async with asyncio.timeout(60):
        assert await process.wait() == 0
    assert not socket_path(tmp_path / "home", "daemon").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [b"", b"\xff\xff\xff\xff", b"\0\0\0\4\0\0\0\xff", b"\0\0\0\0", b"GET / HTTP/1.1\r\n\r\n" * 9, b"\0\0"],
)
async def test_whoever_talks_nonsense_is_not_heard(tmp_path: Path, said: bytes) -> None:
    async with lodging(tmp_path) as place:
        resident = await place.warm()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(socket_path(tmp_path, "daemon")))
            line.sendall(said)
            line.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):  # it did not even read all
                assert (await asyncio.to_thread(line.recv, 100)).startswith(b'{"handrail"')
                assert await asyncio.to_thread(line.recv, 100) == b""
        assert await place.warm() == resident


@pytest.mark.slow
async def test_a_resident_process_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    async with settings(tmp_path) as (place, _):
        for process in (await place.warm(), *processes_of(tmp_path)):
            os.kill(process, signal.SIGSTOP)
        done = await place.command("ui")
        assert (done.returncode, done.stderr.count("runs by itself")) == (0, 1), done
        for process in processes_of(tmp_path):
            os.kill(process, signal.SIGCONT)
        again = await place.command("ui")
        assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.slow
def test_no_command_is_done_twice_while_its_processes_are_killed(tmp_path: Path) -> None:
    ends = asyncio.run(storm(tmp_path, commands=30, seed=7))
    assert sum(ends.values()) == 30
    assert ends["done"] > 10
