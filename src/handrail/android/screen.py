"""The screen's tree by plain adb: `uiautomator dump`.

A dump goes to a file of this driver's own that is removed before and after, so an old one is never read.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from secrets import token_hex
from typing import NamedTuple

from handrail.adb.shell import DeviceShell, Output, Script
from handrail.android.constants import DUMP_FOLDER, LARGE_DUMP_BYTES, SECOND_DUMP_FOLDER, TIDY_TIMEOUT_MS
from handrail.android.display import natural_size, turned_size
from handrail.android.fallbacks import took_fallback
from handrail.errors import AdbCommandError, DeviceError, Timeout, TreeParseError
from handrail.tree.node import Bounds, Screen
from handrail.tree.parse.reader import parse

_START = re.compile(rb"<\?xml|<displays|<hierarchy")
_STUMBLED = re.compile(r"Exception(?!.*already registered)|[Uu]nknown option|[Ii]nvalid option")
_HEAD_BYTES = 200
"""Within them the XML says which form it has."""
_HINTS = (
    (
        "could not get idle state",
        "The screen never stops moving, and plain adb can't read it then: use the u2 helper "
        "(pip install uiautomator2), or wait for the animation to end.",
    ),
    ("null root", "No window has the focus just now; look again in a moment, or wake the phone."),
    ("already registered", "Another program on the phone uses UiAutomation; stop it, or use the helper."),
    ("Killed", "The phone killed the dump, often for lack of memory; look again."),
)


class Dumper:
    """Reads trees, one at a time: Android lets only one UiAutomation in."""

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell
        self._name = f"handrail-{token_hex(4)}.xml"
        self._folder = DUMP_FOLDER
        self._all_windows = True
        self._last = LastScreen()
        self._unfinished = False

    def command(self) -> Script:
        """Dump, print, remove, and tell the size: one round trip.

        The tree alone goes to standard output. On most phones the exit code is 0 whatever happened.
        """
        file, windows = f"{self._folder}/{self._name}", "--windows " if self._all_windows else ""
        dump = f"rm -f {file}; uiautomator dump {windows}{file} >&2; code=$?"
        return Script(f"{dump}; cat {file} 2>/dev/null; rm -f {file}; wm size >&2; exit $code")

    async def read(self, timeout_ms: float) -> Screen:
        """One attempt; raises for everything that is not one whole tree."""
        self._unfinished = True
        output = await self._shell.run(self.command(), timeout_ms=timeout_ms, check=False)
        self._unfinished = False
        dump = split_dump(output)
        if not dump.xml:
            # `--windows` came with Android 11; older ones ignore it. A phone that stumbles goes without.
            self._all_windows &= not _STUMBLED.search(dump.words)
            self._try_elsewhere(dump.words)
            raise _no_dump(dump.words, output.exit_code)
        if not dump.whole:
            end = dump.xml[-60:].decode("utf-8", "replace")
            raise TreeParseError(
                f"The dump is cut short after {len(dump.xml)} bytes: …{end!r}", offset=len(dump.xml)
            )
        return await self._last.read(dump.xml, natural_size(dump.words))

    def _try_elsewhere(self, words: str) -> None:
        """It says that it was written, and nothing is there: that folder is closed to it."""
        if "dumped to" in words and self._folder != SECOND_DUMP_FOLDER:
            self._folder = SECOND_DUMP_FOLDER
            took_fallback(self._shell, f"dump: {DUMP_FOLDER} can't be written; {self._folder} is used")

    async def tidy(self) -> None:
        """Where the line broke under a dump its file may have stayed."""
        if self._unfinished:
            with suppress(DeviceError, Timeout):
                await self._shell.run(
                    ["rm", "-f", f"{self._folder}/{self._name}"], timeout_ms=TIDY_TIMEOUT_MS
                )


class Dump(NamedTuple):
    """What came back: the XML, all other words, and whether the XML has its end."""

    xml: bytes
    words: str
    whole: bool


def split_dump(output: Output) -> Dump:
    """Old shells mix XML and words on one stream."""
    raw = output.stdout
    found = _START.search(raw)
    if found is None:
        return Dump(b"", (raw + output.stderr).decode("utf-8", "replace").strip(), whole=False)
    start = found.start()
    # The form of several windows ends every one of them with </hierarchy>.
    mark = b"</displays>" if b"<displays" in raw[start : start + _HEAD_BYTES] else b"</hierarchy>"
    at = raw.rfind(mark)
    end = at + len(mark) if at >= 0 else len(raw)
    words = raw[:start] + raw[end:] + output.stderr
    return Dump(raw[start:end], words.decode("utf-8", "replace").strip(), whole=at >= 0)


def _no_dump(words: str, exit_code: int | None) -> AdbCommandError:
    said = re.sub(r"(?m)^(?:Physical|Override) size: .*$", "", words).strip() or "nothing"
    hint = next((hint for part, hint in _HINTS if part in said), None)
    return AdbCommandError(
        f"`uiautomator dump` gave no tree (exit code {exit_code}); the phone said: {said[:300]}",
        hint=hint or "Look again; if it stays so, wake and unlock the phone.",
        command="uiautomator dump",
    )


SIZE_GUESSED = "the display size is a guess"
"""How `tree.parse` says that it had to; the phone's own word ends the guessing."""


class LastScreen:
    """Remembers one dump: one for each channel that reads trees."""

    def __init__(self) -> None:
        self._raw = b""
        self._natural: tuple[int, int] | None = None
        self._screen: Screen | None = None

    async def read(self, raw: bytes, natural: tuple[int, int] | None = None) -> Screen:
        """`natural` is the unturned display's size where the phone told it. Raises `TreeParseError`."""
        if self._screen is not None and natural == self._natural and raw == self._raw:
            return self._screen
        screen = await asyncio.to_thread(parse, raw) if len(raw) > LARGE_DUMP_BYTES else parse(raw)
        if natural is not None:
            fit(screen, turned_size(natural, screen.rotation))
        self._raw, self._natural, self._screen = raw, natural, screen
        return screen


def fit(screen: Screen, size: tuple[int, int]) -> None:
    """A dump knows windows, not the display: a dialog is smaller. The virtual root spans the display."""
    screen.width, screen.height = size
    screen.warnings = [warning for warning in screen.warnings if not warning.startswith(SIZE_GUESSED)]
    root = screen.root
    if not root.class_name and not root.flags:
        root.bounds = Bounds(0, 0, *size)
