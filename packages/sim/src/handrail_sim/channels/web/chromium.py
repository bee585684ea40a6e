"""Chromium on this machine: found, started by pipe with a throwaway profile, and called. Knows no phone."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from handrail_sim.errors import BadSetting
from handrail_sim.waiting import Background

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
VARIABLE = "CHROME_BIN"
MOST_BYTES = 1 << 26
CALL_S = 10.0
END_S = 5.0
# A WebView has one renderer for all sites, so frames of other sites are in the same tree.
FLAGS = (
    "--remote-debugging-pipe", "--headless=new", "--hide-scrollbars", "--no-first-run", "--mute-audio",
    "--disable-sync", "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--disable-site-isolation-trials", "--password-store=basic", "--use-mock-keychain",
    "--disable-features=Translate,IsolateSandboxedIframes,IsolateOrigins,site-per-process",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--force-color-profile=srgb", "--force-renderer-accessibility=basic",
)  # fmt: skip
Json = dict[str, Any]
Hear = Callable[[str, str, Json], None]
"""Session, method, parameters."""


class Refused(Exception):
    """Chromium would not, could not in time, or is gone."""


def find(env: Mapping[str, str]) -> str:
    """The program. Raises `BadSetting`."""
    named = env.get(VARIABLE, "")
    match = next(
        filter(None, (shutil.which(name, path=env.get("PATH")) for name in ([named] if named else NAMES))),
        None,
    )
    if match is None:
        raise BadSetting(
            f"no Chromium was found: {named or ', '.join(NAMES)}",
            hint=f"Install Chromium, or name one by {VARIABLE}; without it the phone has pages of its own.",
        )
    return match


class Chromium:
    """One process, and the calls to it. `listeners` hear every event."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Json]] = {}
        self._tasks = Background()
        self.listeners: list[Hear] = []
        self.is_gone = False
        self._tasks.start(self._read(), "messages of Chromium")

    @classmethod
    @asynccontextmanager
    async def started(cls, env: Mapping[str, str]) -> AsyncIterator[Chromium]:
        """While the block runs. Its profile is deleted afterwards."""
        program = find(env)
        with tempfile.TemporaryDirectory(prefix="handrail-sim-web-", ignore_cleanup_errors=True) as profile:
            process, chromium = await cls._start(program, profile, env)
            try:
                yield chromium
            finally:
                await chromium._close()
                await _end(process)

    @classmethod
    async def _start(
        cls, program: str, profile: str, env: Mapping[str, str]
    ) -> tuple[asyncio.subprocess.Process, Chromium]:
        extra = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [program, *FLAGS, *extra, f"--user-data-dir={profile}", "about:blank"]
        its_in, our_out = os.pipe()
        our_in, its_out = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-I", "-S", "-c", _MOVE, str(its_in), str(its_out), *command],
                pass_fds=(its_in, its_out),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                env=dict(env),
            )
        finally:
            os.close(its_in)
            os.close(its_out)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(our_in, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(our_out, "wb", 0)
        )
        return process, cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        session: str = "",
        *,
        within_s: float = CALL_S,
    ) -> Json:
        """The result. Raises `Refused`."""
        answer = await self.forward({"method": method, "params": dict(params or {})}, session, within_s)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error'].get('message')}")
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    async def forward(self, message: Json, session: str, within_s: float | None = None) -> Json:
        """The whole answer to a message that somebody else has written; its number is ours."""
        number = next(self._numbers)
        if self.is_gone:
            raise Refused("Chromium has ended")
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        sent = {**message, "id": number, **({"sessionId": session} if session else {})}
        try:
            self._writer.write(json.dumps(sent).encode() + b"\0")
            await self._writer.drain()
            async with asyncio.timeout(within_s):
                return await answer
        except TimeoutError:
            raise Refused(f"{message.get('method')} was not answered within {within_s} s") from None
        except OSError as error:
            raise Refused(f"Chromium hung up: {error}") from None
        finally:
            del self._pending[number]

    async def _read(self) -> None:
        try:
            while True:
                self._take(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            self.is_gone = True
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(Refused("Chromium has ended"))
                    answer.exception()

    def _take(self, message: Json) -> None:
        if "id" in message:
            answer = self._pending.get(message["id"])
            if answer is not None and not answer.done():
                answer.set_result(message)
            return
        for hear in list(self.listeners):
            hear(str(message.get("sessionId", "")), str(message.get("method")), message.get("params") or {})

    async def _close(self) -> None:
        self.is_gone = True
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
        await self._tasks.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """It ends by itself when its pipe does; one that does not is killed with all that it started."""
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


_MOVE = """import fcntl, os, sys
moved = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
for one in sys.argv[1:3]:
    os.close(int(one))
for number, one in zip((3, 4), moved):
    os.dup2(one, number)
    os.close(one)
os.execv(sys.argv[3], sys.argv[3:])
"""
