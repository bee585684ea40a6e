"""A browser of our own: found, started with a profile of its own, and spoken to by pipe.

No port is opened: whoever can connect to one has the browser with all its logins. The browser ends by itself
when the pipe does.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from handrail.cdp.wire import MOST_BYTES, PipeWire
from handrail.errors import BrowserConnectionError

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
"""For a browser to end after its pipe was closed."""
_FLAGS = (
    "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--password-store=basic", "--use-mock-keychain", "--force-color-profile=srgb", "--mute-audio",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
)  # fmt: skip


def find_browser(env: Mapping[str, str]) -> str:
    """The program: `CHROME_BIN`, else the first known name. Raises `BrowserConnectionError`."""
    named = env.get(VARIABLE, "")
    if named:
        if found := shutil.which(named, path=env.get("PATH")):
            return found
        raise BrowserConnectionError(f"{VARIABLE} is {named!r}, and there is no such program")
    found = next(filter(None, (shutil.which(name, path=env.get("PATH")) for name in NAMES)), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    if found is None:
        raise BrowserConnectionError(
            f"No browser was found: none of {', '.join(NAMES[:4])} is installed",
            hint=f"Install Chromium, or name a Chromium-based browser by {VARIABLE}.",
        )
    return found


def arguments(program: str, profile: Path, *, headless: bool) -> list[str]:
    """The whole command line. A root user gets no sandbox from Chromium, and must say so."""
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


class LaunchedBrowser:
    """The process, and the wire to it."""

    def __init__(self, process: asyncio.subprocess.Process, wire: PipeWire) -> None:
        self.process = process
        self.wire = wire

    async def close(self) -> None:
        """The pipe first: a browser that sees its end writes its profile and goes."""
        await self.wire.close()
        try:
            async with asyncio.timeout(END_S):
                await self.process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


async def launch(env: Mapping[str, str], profile: Path, *, headless: bool = True) -> LaunchedBrowser:
    """Start it. Raises `BrowserConnectionError`."""
    program = find_browser(env)
    profile.mkdir(mode=0o700, parents=True, exist_ok=True)
    profile.chmod(0o700)
    to_browser, ours_out = os.pipe()
    ours_in, from_browser = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *_with_pipes(arguments(program, profile, headless=headless), to_browser, from_browser),
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


def _with_pipes(command: list[str], reads: int, writes: int) -> list[str]:
    """The browser finds its pipe at the numbers 3 and 4. A small program puts the ends there and becomes it:
    code between fork and exec is not safe in a process with threads."""
    return [sys.executable, "-I", "-S", "-c", _SHIM, str(reads), str(writes), *command]


async def _wire(reads: int, writes: int) -> PipeWire:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reads, "rb", 0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(writes, "wb", 0)
    )
    return PipeWire(reader, asyncio.StreamWriter(transport, protocol, None, loop))
