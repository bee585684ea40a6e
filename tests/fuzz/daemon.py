"""Commands whose daemon is killed again and again: `python tests/fuzz/daemon.py [count] [seed]`.

Every command taps a point of its own, so the phone's own input log says how often it was done: once where the
command says so, at most once where it ends with a code, and never twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

from handrail.clock import SystemClock

sys.path.insert(0, str(Path(__file__).parents[2]))

from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import Lodging, lodging, processes_of

LATEST_S = 0.3
"""After a command's start: it takes less where the daemon runs, and more where it starts one."""
PATIENCE_S = 60


async def storm(home: Path, commands: int, seed: int) -> Counter[str]:
    """How the commands ended, by code."""
    random, ends = Random(seed), Counter[str]()
    phone = Phone(clock=SystemClock(), seed=seed)
    async with serve([phone], port=0) as [served], lodging(home, HANDRAIL_DEVICE=served.address) as place:
        for number in range(commands):
            ends[await one(place, phone, number, random)] += 1
    return ends


async def one(place: Lodging, phone: Phone, number: int, random: Random) -> str:
    """A tap at a point that no other command taps; checked on the phone, which keeps a log of inputs."""
    x, y = 20 + number % 1_000, 1_900 + number // 1_000
    words = ["tap", f"{x},{y}", "--reason", "I count", "--json"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*HANDRAIL, *words, env=place.env, stdout=pipe, stderr=pipe)
    if random.random() < 0.5:  # the others find it warm
        await asyncio.sleep(random.uniform(0, LATEST_S))
        kill(place, random)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    done = sum(
        (event.get("x"), event.get("y"), event.get("action")) == (x, y, "down") for event in phone.input_log
    )
    assert b"Traceback" not in err, err.decode()
    if not out:  # its answer was on its way when it was killed: said on the other stream, with a code
        assert err.startswith(b"ADB_CONNECTION_ERROR"), err
        answer = {"success": False, "failure_code": "ADB_CONNECTION_ERROR"}
    else:
        answer = json.loads(out)
    code = answer["failure_code"] if not answer["success"] else "done"
    assert code, answer
    expected = (1,) if code == "done" else (0, 1)
    assert done in expected, (number, done, answer, err.decode())
    return str(code)


def kill(place: Lodging, random: Random) -> None:
    """The daemon, or where one is about to replace another, both."""
    found = processes_of(place.home)
    random.shuffle(found)
    for process in found[: random.choice((1, 1, len(found)))]:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    (place.home / "daemon.failed").unlink(missing_ok=True)  # for a minute nobody would start one again


def main() -> None:
    commands = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory(prefix="handrail-daemon-") as home:
        ends = asyncio.run(storm(Path(home), commands, seed))
    told = ", ".join(f"{count} × {code}" for code, count in ends.most_common())
    print(f"{commands} commands, seed {seed}: {told}; none was done twice")  # noqa: T201


if __name__ == "__main__":
    main()
