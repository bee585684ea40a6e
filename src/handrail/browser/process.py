"""Finds and starts a browser with its own profile; a keeper process holds it between commands."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from handrail.cdp.connection import MOST_BYTES, PipeWire, WireClosed
from handrail.clock import Clock, SystemClock
from handrail.errors import BrowserConnectionError, HandrailError
from handrail.waiting import beside, wait_for_end, wait_for_event

NAMES = (
    "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge",
    "brave-browser",
)  # fmt: skip
VARIABLE = "CHROME_BIN"
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
WIDTH, HEIGHT = 1280, 800
END_S = 5.0
"""Time for a browser to end after its pipe was closed."""
_FLAGS = (
    "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--password-store=basic", "--use-mock-keychain", "--force-color-profile=srgb", "--mute-audio",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
)  # fmt: skip

_PREFERENCES: dict[str, bool | dict[str, bool]] = {
    "autofill": {"enabled": False, "profile_enabled": False, "credit_card_enabled": False},
    "credentials_enable_service": False,
    "history": {"saving_disabled": True},
    "profile": {"password_manager_enabled": False},
}
"""Chromium keeps nothing in its profile of what is typed into forms. Cookies and sites' own data stay."""


def find_browser(env: Mapping[str, str]) -> str:
    """`CHROME_BIN`, else the first known name. Raises `BrowserConnectionError`."""
    named = env.get(VARIABLE, "")
    if named:
        if path := shutil.which(named, path=env.get("PATH")):
            return path
        raise BrowserConnectionError(f"{VARIABLE} is {named!r}, which does not exist")
    path = next(filter(None, (shutil.which(name, path=env.get("PATH")) for name in NAMES)), None)
    path = path or next((place for place in PLACES if Path(place).exists()), None)
    if path is None:
        raise BrowserConnectionError(
            f"No browser was found: none of {', '.join(NAMES[:4])} is installed",
            hint=f"Install Chromium, or name a Chromium-based browser by {VARIABLE}.",
        )
    return path


def arguments(program: str, profile: Path, *, headless: bool) -> list[str]:
    """The complete command line. Chromium refuses to run its sandbox as root."""
    extra = ["--headless=new", "--hide-scrollbars"] if headless else []
    if os.geteuid() == 0:
        extra.append("--no-sandbox")
    return [
        program,
        *_FLAGS,
        f"--window-size={WIDTH},{HEIGHT}",
        f"--user-data-dir={profile}",
        *extra,
        "about:blank",
    ]


def _keep_nothing_typed(folder: Path) -> None:
    """No flag turns session restore off, which writes the fields of every tab. A file in the place of its
    folder does."""
    folder.mkdir(mode=0o700, exist_ok=True)
    sessions, preferences = folder / "Sessions", folder / "Preferences"
    if sessions.is_dir():
        shutil.rmtree(sessions)
    sessions.touch()
    try:
        chosen = json.loads(preferences.read_text())
    except (OSError, ValueError):
        chosen = {}
    for name, setting in _PREFERENCES.items():
        chosen[name] = {**chosen.get(name, {}), **setting} if isinstance(setting, dict) else setting
    preferences.write_text(json.dumps(chosen))


class LaunchedBrowser:
    """The process and the wire to it."""

    def __init__(self, process: asyncio.subprocess.Process, wire: PipeWire) -> None:
        self.process = process
        self.wire = wire

    async def close(self) -> None:
        """Closes the pipe first, so that the browser writes its profile and ends."""
        await self.wire.close()
        try:
            async with asyncio.timeout(END_S):
                await self.process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


async def launch(env: Mapping[str, str], profile: Path, *, headless: bool = True) -> LaunchedBrowser:
    """Raises `BrowserConnectionError`."""
    program = find_browser(env)
    profile.mkdir(mode=0o700, parents=True, exist_ok=True)
    profile.chmod(0o700)
    await asyncio.to_thread(_keep_nothing_typed, profile / "Default")
    to_browser, ours_out = os.pipe()
    ours_in, from_browser = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *[
                sys.executable,
                "-I",
                "-S",
                "-c",
                _SHIM,
                str(to_browser),
                str(from_browser),
                *arguments(program, profile, headless=headless),
            ],
            pass_fds=(to_browser, from_browser),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env=dict(env),
        )
    except OSError as error:
        os.close(ours_out)
        os.close(ours_in)
        raise BrowserConnectionError(f"{program} can't be started: {error.strerror or error}") from None
    finally:
        os.close(to_browser)
        os.close(from_browser)
    return LaunchedBrowser(process, await _wire(ours_in, ours_out))


_SHIM = (
    "import fcntl, os, sys\n"
    "ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]\n"
    "for end in sys.argv[1:3]: os.close(int(end))\n"
    "for number, end in zip((3, 4), ends): os.dup2(end, number); os.close(end)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


async def _wire(reads: int, writes: int) -> PipeWire:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reads, "rb", 0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(writes, "wb", 0)
    )
    return PipeWire(reader, asyncio.StreamWriter(transport, protocol, None, loop))


SOCKET = "socket"
PROFILE = "profile"
IDLE_MS = 15 * 60_000.0
"""An unused browser is closed after this time."""
START_MS = 20_000.0
POLL_MS = 20.0
_ATTACHED = re.compile(rb'"method":"Target\.attachedToTarget","params":\{"sessionId":"(\w+)"')
_LEFT_ON = (
    b'"method":"Fetch.disable"',
    b'"method":"Target.setAutoAttach","params":{"autoAttach":false,"waitForDebuggerOnStart":false}',
)
"""Undoes what would make documents and new tabs wait for a client that is gone."""
_LATE = 1 << 40
"""Ids of the keeper's own calls, beyond those of any client."""


class BrowserKeeper:
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
        """Forwards the browser's messages to the client; without one they are dropped."""
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
        """Serves one client until it leaves; the next one waits."""
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
        """Detaches the client's sessions."""
        sessions, self._sessions = self._sessions, set()
        for method in _LEFT_ON:
            self._calls += 1
            with suppress(WireClosed):
                await self._browser.wire.send(b'{"id":%d,%s}' % (self._calls, method))
        for session in sessions:
            self._calls += 1
            detach = b'{"id":%d,"method":"Target.detachFromTarget","params":{"sessionId":"%s"}}'
            with suppress(WireClosed):
                await self._browser.wire.send(detach % (self._calls, session))

    async def wait(self, clock: Clock) -> None:
        """Until the browser has ended or was unused for a while."""
        while not await wait_for_event(clock, self._ended, IDLE_MS):
            if not self._busy.locked() and clock.monotonic_ms() - self._left_ms >= IDLE_MS:
                return


async def keep(folder: Path, *, headless: bool) -> None:
    """Starts the browser of a folder and keeps it while it is needed."""
    browser = await launch(os.environ, folder / PROFILE, headless=headless)
    clock = SystemClock()
    keeper = BrowserKeeper(browser, clock)
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


async def open_lasting_browser(folder: Path, clock: Clock, *, headless: bool = True) -> PipeWire:
    """A wire to the browser of this folder; its keeper is started if none runs.

    Raises `BrowserConnectionError`.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    if (wire := await _connected(folder)) is not None:
        return wire
    await _start(folder, clock, headless=headless)
    wire = await _connected(folder)
    if wire is None:
        words = ""
        with suppress(OSError):
            words = (folder / "log").read_text("utf-8", "replace").strip()[-300:]
        raise BrowserConnectionError(f"The browser did not start: {words or 'it ended at once'}")
    return wire


async def _connected(folder: Path) -> PipeWire | None:
    try:
        reader, writer = await asyncio.open_unix_connection(str(folder / SOCKET), limit=MOST_BYTES)
    except OSError:
        return None
    return PipeWire(reader, writer)


async def _start(folder: Path, clock: Clock, *, headless: bool) -> None:
    """Until the keeper listens or has failed."""
    words = [sys.executable, "-m", "handrail.browser.process", str(folder), *([] if headless else ["shown"])]
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


def _waited(folder: Path, child: int) -> int:
    """Until somebody listens or the child has failed."""
    while not (folder / SOCKET).exists():
        if child and os.waitpid(child, os.WNOHANG)[0]:
            return 1
        time.sleep(POLL_MS / 1000)
    return 0


def main() -> int:
    """The keeper's process, which detaches itself once it listens."""
    folder, headless = Path(sys.argv[1]), "shown" not in sys.argv[2:]
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the child holds it too while it runs
    except BlockingIOError:
        return _waited(folder, 0)  # another process was faster
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
