"""Keeps a browser for as long as somebody uses it: `python -m handrail.browser.keeper FOLDER`.

A browser that is spoken to by pipe ends with whoever has the pipe. Commands come and go, so a small process
has it, and hands it to one of them at a time by a socket in a folder that only its owner can enter. It ends
when the browser was closed, or when nobody has come for a while.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from handrail.browser.launch import LaunchedBrowser, launch
from handrail.cdp.wire import MOST_BYTES, PipeWire, WireClosed
from handrail.clock import Clock, SystemClock
from handrail.errors import BrowserConnectionError, HandrailError
from handrail.waiting import beside, wait_for_end, wait_for_event

SOCKET = "socket"
PROFILE = "profile"
IDLE_MS = 15 * 60_000.0
"""A browser that nobody has used for so long is closed."""
START_MS = 20_000.0
POLL_MS = 20.0
_ATTACHED = re.compile(rb'"method":"Target\.attachedToTarget","params":\{"sessionId":"(\w+)"')
_LEFT_ON = (
    b'"method":"Fetch.disable"',
    b'"method":"Target.setAutoAttach","params":{"autoAttach":false,"waitForDebuggerOnStart":false}',
)
"""Documents and new tabs would wait for an answer of a client that has gone."""
_LATE = 1 << 40
"""Numbers of the keeper's own calls, beyond those of any client."""


class Keeper:
    """One browser, one client at a time."""

    def __init__(self, browser: LaunchedBrowser, clock: Clock) -> None:
        self._browser = browser
        self._client: PipeWire | None = None
        self._sessions: set[bytes] = set()
        self._busy = asyncio.Lock()
        self._clock = clock
        self._left_ms = clock.monotonic_ms()
        self._calls = _LATE
        self._ended = asyncio.Event()

    async def relay(self) -> None:
        """What the browser says goes to the client; without one to nobody."""
        try:
            while True:
                message = await self._browser.wire.receive()
                self._sessions.update(_ATTACHED.findall(message[:400]))
                if self._client is not None:
                    with suppress(WireClosed):
                        await self._client.send(message)
        except WireClosed:
            self._ended.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, until it goes; the next one waits."""
        client = PipeWire(reader, writer)
        async with self._busy:
            self._client = client
            try:
                while True:
                    await self._browser.wire.send(await client.receive())
            except WireClosed:
                pass
            finally:
                self._client = None
                await self._forget()
                self._left_ms = self._clock.monotonic_ms()
        await client.close()

    async def _forget(self) -> None:
        """Its sessions end with a client: nobody hears what they would go on telling."""
        sessions, self._sessions = self._sessions, set()
        for method in _LEFT_ON:
            self._calls += 1
            with suppress(WireClosed):
                await self._browser.wire.send(b'{"id":%d,%s}' % (self._calls, method))
        for session in sessions:
            self._calls += 1
            told = b'{"id":%d,"method":"Target.detachFromTarget","params":{"sessionId":"%s"}}'
            with suppress(WireClosed):
                await self._browser.wire.send(told % (self._calls, session))

    async def wait(self, clock: Clock) -> None:
        """Until the browser has ended, or nobody has wanted it for a while."""
        while not await wait_for_event(clock, self._ended, IDLE_MS):
            if not self._busy.locked() and clock.monotonic_ms() - self._left_ms >= IDLE_MS:
                return


async def keep(folder: Path, *, headless: bool) -> None:
    """Start the browser of a folder and have it until nobody needs it."""
    browser = await launch(os.environ, folder / PROFILE, headless=headless)
    clock = SystemClock()
    keeper = Keeper(browser, clock)
    place = folder / SOCKET
    place.unlink(missing_ok=True)
    old = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(keeper.serve, str(place), limit=MOST_BYTES)
    finally:
        os.umask(old)
    try:
        async with beside(keeper.relay(), "browser to client"):
            await keeper.wait(clock)
    finally:
        place.unlink(missing_ok=True)
        server.close()
        await browser.close()


async def kept(folder: Path, clock: Clock, *, headless: bool = True) -> PipeWire:
    """A wire to the browser of this folder; its keeper is started where none runs.

    Raises `BrowserConnectionError`.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    if (wire := await _connected(folder)) is not None:
        return wire
    await _start(folder, clock, headless=headless)
    wire = await _connected(folder)
    if wire is None:
        raise BrowserConnectionError(f"The browser did not start: {_last_words(folder)}")
    return wire


async def _connected(folder: Path) -> PipeWire | None:
    try:
        reader, writer = await asyncio.open_unix_connection(str(folder / SOCKET), limit=MOST_BYTES)
    except OSError:
        return None
    return PipeWire(reader, writer)


async def _start(folder: Path, clock: Clock, *, headless: bool) -> None:
    """Until the keeper listens, or has failed."""
    words = [sys.executable, "-m", "handrail.browser.keeper", str(folder), *([] if headless else ["shown"])]
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    if not await wait_for_end(clock, asyncio.ensure_future(process.wait()), START_MS):
        process.kill()
        await process.wait()
        raise BrowserConnectionError(f"The browser did not start within {START_MS:g} ms")


def _last_words(folder: Path) -> str:
    try:
        return (folder / "log").read_text("utf-8", "replace").strip()[-300:] or "it ended at once"
    except OSError:
        return "it ended at once"


def _waited(folder: Path, child: int) -> int:
    """Until somebody listens, or the child has failed."""
    while not (folder / SOCKET).exists():
        if child and os.waitpid(child, os.WNOHANG)[0]:
            return 1
        time.sleep(POLL_MS / 1000)
    return 0


def main() -> int:
    """The program: it goes on by itself, in a process that belongs to nobody, once it listens."""
    folder, headless = Path(sys.argv[1]), "shown" not in sys.argv[2:]
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the child has it too, for as long as it lives
    except BlockingIOError:
        return _waited(folder, 0)  # another one was quicker
    (folder / SOCKET).unlink(missing_ok=True)
    child = os.fork()
    if child:
        return _waited(folder, child)
    try:
        asyncio.run(keep(folder, headless=headless))
    except HandrailError as error:
        sys.stderr.write(f"{error.message}. {error.hint}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
