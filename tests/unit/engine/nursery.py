"""Processes that write a journal until they are killed: cheap forks of a parent that has imported everything.

The parent reads one line per child from its standard input: the home, and a number. The child acts in three
sessions and writes the id of every action that was answered to the parent's standard output.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[3]


class Nursery:
    """Starts children and kills them at random moments."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.engine.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def live_and_die(self, home: Path, number: int) -> list[str]:
        """One child's life. Returns the ids of the actions that it was answered."""
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(f"{home}\t{number}\n".encode())
        self._parent.stdin.flush()
        pid = int(self._parent.stdout.readline())
        answered = [self._parent.stdout.readline() for _ in range(self._random.randrange(30))]
        for _ in range(self._random.randrange(2_000)):  # not always just after an answer
            os.getpid()
        os.kill(pid, signal.SIGKILL)
        while (line := self._parent.stdout.readline()) != b"dead\n":
            assert line, "the nursery itself died"
            answered.append(line)
        return [line.decode().strip() for line in answered if line.endswith(b".\n")]


async def _live(home: Path, number: int) -> None:
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.journal import Journal  # noqa: PLC0415

    journal = Journal.open(home, SystemClock())

    async def session(name: int) -> None:
        for count in range(100_000):
            action_id = f"tap_{number}_{name}{count:06d}."
            same = {"action_id": action_id, "session": str(name), "device": "d"}
            journal.note({**same, "kind": "accepted", "action": {"type": "tap"}})
            journal.note({**same, "kind": "dispatched"})
            if count % 5 == 0:
                await journal.put_blob(f"<tree {count}/>".encode(), "tree")
            await journal.seal(
                {**same, "kind": "verified", "terminal": True, "envelope": {"padding": "x" * 500}}
            )
            os.write(1, f"{action_id}\n".encode())

    await asyncio.gather(*(session(name) for name in range(1, 4)))


def main() -> None:
    import handrail.journal  # noqa: F401, PLC0415  (before the forks, so that they are cheap)

    for line in sys.stdin:
        home, number = line.rstrip("\n").split("\t")
        pid = os.fork()
        if pid == 0:
            os.write(1, f"{os.getpid()}\n".encode())
            asyncio.run(_live(Path(home), int(number)))
            os._exit(0)
        os.waitpid(pid, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main()
