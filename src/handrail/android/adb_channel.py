"""Plain adb as a channel: what every Android can do without anything installed on it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from secrets import token_hex

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Output, Script
from handrail.android import input as touch
from handrail.android.channel import Channel, LastScreen
from handrail.android.constants import DUMP_FOLDER, SECOND_DUMP_FOLDER, TIDY_TIMEOUT_MS
from handrail.android.dumpsys import natural_size, note_fallback, read_display, read_foreground
from handrail.android.input import key_code, retry_read
from handrail.android.screenshot import BOOTING_HINT, explain_if_dark, take_screenshot
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, Timeout, TreeParseError
from handrail.screen.node import Screen
from handrail.surface.gesture import TOUCHES, TWO_FINGERS, Gesture
from handrail.surface.values import Display, Facts, Foreground

FIRST_LOOK_MS = 3_000
"""So long the dump of a helper's check stands for the first look: on a slow phone another takes 5 to 15 s."""


class AdbChannel(Channel):
    """The last channel of every phone. Only adb reports the phone's facts, display and foreground app."""

    name = "adb"
    gestures = TOUCHES - TWO_FINGERS

    def __init__(self, device: AdbDevice, clock: Clock) -> None:
        self.device = device
        self.shell: DeviceShell = device.shell
        self.serial = device.link.serial
        self._clock = clock
        self._dumper = Dumper(self.shell)
        self._dumping = asyncio.Lock()
        self.first_look: tuple[float, Screen] | None = None
        """When a helper's check ended and what it dumped, where no helper came of it."""

    async def facts(self) -> Facts:
        return await ask_facts(self.device, self._clock)

    async def display(self) -> Display:
        return await retry_read(lambda left: read_display(self.shell, left), self._clock)

    async def foreground(self) -> Foreground:
        return await retry_read(lambda left: read_foreground(self.shell, left), self._clock)

    async def look(self) -> Screen:
        first, self.first_look = self.first_look, None
        if first is not None and self._clock.monotonic_ms() - first[0] <= FIRST_LOOK_MS:
            return first[1]
        async with self._dumping:
            return await explain_if_dark(self.shell, lambda: retry_read(self._dumper.read, self._clock))

    async def look_once(self, timeout_ms: float) -> Screen:
        """A look without a second attempt."""
        async with self._dumping:
            return await self._dumper.read(timeout_ms)

    async def screenshot(self) -> bytes:
        return await explain_if_dark(
            self.shell, lambda: retry_read(lambda left: take_screenshot(self.shell, left), self._clock)
        )

    async def perform(self, gesture: Gesture) -> None:
        await touch.send_input(self.shell, touch.command_of(gesture), touch.input_duration_ms(gesture))

    async def key(self, code: int) -> None:
        await touch.send_input(self.shell, touch.key_command(code))

    async def chord(self, keys: Sequence[str]) -> None:
        """`keycombination` exists since Android 12."""
        codes = [str(key_code(key)) for key in keys]
        await touch.send_input(self.shell, ("input", "keycombination", *codes))

    async def close(self) -> None:
        await self._dumper.tidy()
        await self.device.close()


FACTS_COMMAND = Script(
    "getprop ro.product.model; getprop ro.product.manufacturer; getprop ro.build.version.release; "
    "getprop ro.build.version.sdk; "
    "cat /proc/sys/kernel/random/boot_id 2>/dev/null || settings get global boot_count"
)
"""Where SELinux hides the kernel's boot id, Android's own boot count is used."""


async def ask_facts(device: AdbDevice, clock: Clock) -> Facts:
    try:
        return await retry_read(lambda left: read_facts(device.shell, device.serial, left), clock)
    except AdbCommandError as error:
        if "getprop" not in str(error.details.get("command")) or error.message.startswith("`getprop`"):
            raise
        raise AdbCommandError(
            f"{device.serial} is connected and runs no command yet: {error.message}",
            hint=f"It is probably still booting. {BOOTING_HINT}",
            command="getprop",
        ) from None


async def read_facts(shell: DeviceShell, serial: str, timeout_ms: float) -> Facts:
    output = await shell.run(FACTS_COMMAND, timeout_ms=timeout_ms, check=False)
    lines = [line.strip() for line in output.text.splitlines()]
    if len(lines) < 5 or not lines[3].isdigit():
        raise AdbCommandError(
            f"`getprop` did not report the phone's properties: {output.text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="getprop",
        )
    model, manufacturer, version, sdk, boot_id = lines[:5]
    return Facts(serial, model, manufacturer, version, int(sdk), boot_id)


_START = re.compile(rb"<\?xml|<displays|<hierarchy")
_STUMBLED = re.compile(r"Exception(?!.*already registered)|[Uu]nknown option|[Ii]nvalid option")
_HEAD_BYTES = 200
"""The XML declares its form within the first bytes."""
_HINTS = (
    (
        "could not get idle state",
        "The screen never stops moving, and plain adb can't read it then: use the u2 helper "
        "(pip install uiautomator2), or wait for the animation to end.",
    ),
    ("null root", "No window has the focus just now; look again in a moment, or wake the phone."),
    ("already registered", "Another program uses UiAutomation, such as a Handrail with this phone: stop it."),
    ("Killed", "The phone killed the dump, often for lack of memory; look again."),
)


class Dumper:
    """Reads one tree at a time, because Android allows only one UiAutomation."""

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell
        self._name = f"handrail-{token_hex(4)}.xml"
        self._folder = DUMP_FOLDER
        self._all_windows = True
        self._last = LastScreen()
        self._unfinished = False

    def command(self) -> Script:
        """Dumps, prints, removes the file and reads the size in one round trip.

        The tree goes to standard output. On most phones the exit code is 0 even after a failure.
        """
        file, windows = f"{self._folder}/{self._name}", "--windows " if self._all_windows else ""
        dump = f"rm -f {file}; uiautomator dump {windows}{file} >&2; code=$?"
        return Script(f"{dump}; cat {file} 2>/dev/null; rm -f {file}; wm size >&2; exit $code")

    async def read(self, timeout_ms: float) -> Screen:
        """Makes one attempt; raises for anything that is not one complete tree."""
        self._unfinished = True
        output = await self._shell.run(self.command(), timeout_ms=timeout_ms, check=False)
        self._unfinished = False
        xml, words, is_complete = split_dump(output)
        if not xml:
            # `--windows` came with Android 11; older ones ignore it. A phone that stumbles goes without.
            self._all_windows &= not _STUMBLED.search(words)
            # It reports success, but the file is missing: the folder is not writable.
            if "dumped to" in words and self._folder != SECOND_DUMP_FOLDER:
                self._folder = SECOND_DUMP_FOLDER
                note_fallback(self._shell, f"dump: {DUMP_FOLDER} can't be written; {self._folder} is used")
            answer = re.sub(r"(?m)^(?:Physical|Override) size: .*$", "", words).strip() or "nothing"
            hint = next((hint for part, hint in _HINTS if part in answer), None)
            raise AdbCommandError(
                f"`uiautomator dump` gave no tree (exit code {output.exit_code}); "
                f"the phone answered: {answer[:300]}",
                hint=hint or "Look again; if it fails again, wake and unlock the phone.",
                command="uiautomator dump",
            )
        if not is_complete:
            end = xml[-60:].decode("utf-8", "replace")
            raise TreeParseError(f"The dump is cut short after {len(xml)} bytes: …{end!r}", offset=len(xml))
        return await self._last.read(xml, natural_size(words))

    async def tidy(self) -> None:
        """Removes the file that a broken connection may have left behind."""
        if self._unfinished:
            with suppress(DeviceError, Timeout):
                await self._shell.run(
                    ["rm", "-f", f"{self._folder}/{self._name}"], timeout_ms=TIDY_TIMEOUT_MS
                )


def split_dump(output: Output) -> tuple[bytes, str, bool]:
    """The XML, all other output, and whether the XML is complete. Old shells mix both on one stream."""
    raw = output.stdout
    match = _START.search(raw)
    if match is None:
        return b"", (raw + output.stderr).decode("utf-8", "replace").strip(), False
    start = match.start()
    # A dump of several windows ends each of them with </hierarchy>.
    mark = b"</displays>" if b"<displays" in raw[start : start + _HEAD_BYTES] else b"</hierarchy>"
    at = raw.rfind(mark)
    end = at + len(mark) if at >= 0 else len(raw)
    words = raw[:start] + raw[end:] + output.stderr
    return raw[start:end], words.decode("utf-8", "replace").strip(), at >= 0
