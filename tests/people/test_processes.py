"""The face without await in real processes: Ctrl-C, the program's end, notebooks, threads, forks.

The phone lives in the test's own process, so its input log is a judge that shares nothing with the program.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import Cancelled, Misused
from handrail.sync import phone, runtime
from handrail.sync.openers import OpenBlock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.clock import SystemClock
from handrail_sim.phone import Phone
from tests.people.story import SETTINGS, config_of, opened

pytestmark = pytest.mark.slow

PATIENCE_S = 50
HEAD = "import sys\nfrom handrail.sync import phone\nserial = sys.argv[1]\n"


@pytest.fixture
def served() -> Iterator[Served]:
    kept = OpenBlock(serve([Phone(clock=SystemClock())], port=0))
    yield kept.value[0]
    kept.close()


def started(program: str, served: Served, home: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_HELPER": "none"}
    command = [sys.executable, "-W", "error", "-c", HEAD + program, served.address]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def finished(program: str, served: Served, home: Path) -> tuple[int, str, str]:
    with started(program, served, home) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def fingers(served: Served) -> list[dict[str, Any]]:
    return [one for one in served.phone.input_log if one["action"] in ("down", "key")]


INTERRUPTED = """
with phone(serial) as p:
    p.start_app("com.android.settings")
    print("begins", flush=True)
    try:
        p.scroll_to("Nowhere", max_scrolls=100)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.stdin.readline()
    p.press_key("home")
    print("goes on", flush=True)
"""


def test_ctrl_c_stops_what_the_phone_is_doing_and_the_program_can_go_on(
    served: Served, tmp_path: Path
) -> None:
    with started(INTERRUPTED, served, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "begins\n"
        _wait_for_swipe(served)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        before = len(served.phone.input_log)
        process.stdin.write("\n")
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (0, "goes on\n", "")
    after = served.phone.input_log[before:]
    assert [one["action"] for one in after if one["action"] in ("down", "move", "up", "swipe")] == []
    assert [one["action"] for one in after] == ["key"]
    assert _ends(tmp_path)["scroll_to"] == "CANCELLED"


def _wait_for_swipe(served: Served) -> None:
    """Until a finger has come down: the search is under way."""
    for _ in range(5_000):
        if fingers(served):
            return
        threading.Event().wait(0.01)
    raise AssertionError("no finger came down")


def _ends(home: Path) -> dict[str, str | None]:
    """How each action ended, as the journal has it."""
    with runtime(config_of(home)) as opened_home:
        lines = [json.loads(line) for line in opened_home._runtime.journal.export()]
    ends = [line["envelope"] for line in lines if line.get("terminal") and "envelope" in line]
    return {one["action_type"]: one.get("failure_code") for one in ends}


def test_ctrl_c_that_nobody_catches_ends_the_program_and_frees_the_phone(
    served: Served, tmp_path: Path
) -> None:
    program = """
with phone(serial) as p:
    p.start_app("com.android.settings")
    print("begins", flush=True)
    p.wait_for("Nowhere", timeout_ms=600_000)
"""
    with started(program, served, tmp_path) as process:
        assert process.stdout
        assert process.stdout.readline() == "begins\n"
        _wait_until_it_waits(tmp_path)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "Task was destroyed" not in err
    with phone(served.address, config=config_of(tmp_path)) as other:
        assert other.press_key("home").success  # nobody else holds it


def _wait_until_it_waits(home: Path) -> None:
    for _ in range(1_000):
        if b'"wait_for"' in b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()):
            return
        threading.Event().wait(0.02)
    raise AssertionError("the journal has no wait_for")


@pytest.mark.parametrize(
    ("end", "code"), [("", 0), ("sys.exit(3)", 3), ("raise ValueError('mine')", 1), ("del p", 0)]
)
def test_a_program_that_closes_nothing_ends_by_itself(
    served: Served, tmp_path: Path, end: str, code: int
) -> None:
    program = f"p = phone(serial)\np.start_app('{SETTINGS}')\nprint('done')\n{end}\n"
    returned, out, err = finished(program, served, tmp_path)
    assert (returned, out) == (code, "done\n")
    assert ("ValueError: mine" in err) == (code == 1)
    assert "Task was destroyed" not in err
    assert "never awaited" not in err
    with phone(served.address, config=config_of(tmp_path)) as other:
        assert other.press_key("home").success


def test_it_works_where_a_loop_runs_already_as_in_a_notebook(served: Served, tmp_path: Path) -> None:
    program = """
import asyncio
async def cell():
    with phone(serial) as p:
        print(p.start_app("com.android.settings").success, p.tap("Display").success)
asyncio.run(cell())
"""
    assert finished(program, served, tmp_path) == (0, "True True\n", "")
    assert len([one for one in served.phone.input_log if one["action"] == "down"]) == 1


def test_a_child_of_a_fork_is_told_and_the_parent_goes_on(served: Served, tmp_path: Path) -> None:
    program = """
import os
p = phone(serial)
child = os.fork()
if child == 0:
    try:
        p.press_key("home")
    except Exception as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(p.press_key("home").success)
"""
    code, out, err = finished(program, served, tmp_path)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("This was opened in another process, before the fork")
    assert out.splitlines()[1] == "True"
    assert len([one for one in served.phone.input_log if one["action"] == "key"]) == 1


def test_threads_share_a_phone_and_its_thread_ends_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as made, ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(made.get_ui_tree) for _ in range(8)]
        assert all(one.result().success for one in looks)
        assert _threads() == 1
    assert _threads() == 0


def _threads() -> int:
    return sum(one.name == "handrail.sync" for one in threading.enumerate())


def test_a_phone_that_is_closed_under_a_call_ends_the_call(tmp_path: Path) -> None:
    made = opened(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(made.wait_for, "Nowhere", timeout_ms=600_000)
        _wait_until_it_waits(tmp_path)
        made.close()
        with pytest.raises(Cancelled):
            waiting.result(PATIENCE_S)


def test_stop_from_another_thread_ends_a_call(tmp_path: Path) -> None:
    with opened(tmp_path) as made, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(made.wait_for, "Nowhere", timeout_ms=600_000)
        _wait_until_it_waits(tmp_path)
        assert made.stop() == 1
        with pytest.raises(Cancelled):
            waiting.result(PATIENCE_S)


def test_what_handrail_itself_runs_may_not_wait_for_it(tmp_path: Path) -> None:
    with opened(tmp_path) as made:

        async def inside() -> None:
            await asyncio.sleep(0)
            made.get_ui_tree()

        with pytest.raises(Misused, match="would wait for itself"):
            made._block.loop.call(inside())


def test_what_can_not_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"127\.0\.0\.1:1"):
        phone("127.0.0.1:1", config=config_of(tmp_path))
    assert _threads() == 0
