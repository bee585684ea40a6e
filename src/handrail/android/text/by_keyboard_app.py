"""Typing by an input method that takes text from broadcasts, where one is installed. Any Unicode.

The person's keyboard is put back afterwards, also when the typing was cancelled. Text travels as base64 and
only to the keyboard's own package: no other app may listen.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from handrail.adb.shell import Shell
from handrail.android.text.field import Field
from handrail.android.text.way import needs_lines, preparing
from handrail.clock import Clock
from handrail.errors import AdbCommandError, Unsupported

PIECE = 2_000
"""Characters in one broadcast: at most 11 kB of base64, below every limit on the way."""
BIND_MS = 3_000
"""How long Android may take to connect a keyboard to the field."""
BIND_POLL_MS = 50
_BOUND = re.compile(r"mCurId=(\S+).*?m(?:HaveConnection|HasMainConnection)=true", re.DOTALL)
_RESULT = re.compile(r"result=(-?\d+)")


@dataclass(frozen=True, slots=True)
class Keyboard:
    """An app that is known to take text from a broadcast."""

    method: str
    action: str
    extra: str
    answers: bool
    """Its broadcast comes back with result -1 once the text is in; others leave 0."""

    @property
    def package(self) -> str:
        return self.method.partition("/")[0]


KEYBOARDS = (
    Keyboard("com.github.uiautomator/.AdbKeyboard", "ADB_KEYBOARD_INPUT_TEXT", "text", True),
    Keyboard("com.android.adbkeyboard/.AdbIME", "ADB_INPUT_B64", "msg", False),
)


class KeyboardApp:
    """Choose the keyboard, send, choose the former one again."""

    name = "keyboard app"

    def __init__(self, shell: Shell, clock: Clock) -> None:
        self._shell = shell
        self._clock = clock
        self._undo: list[tuple[str, ...]] = []

    async def can(self, text: str, field: Field | None) -> str | None:
        return needs_lines(text, field) or (
            None if await self._installed() else "no ADB keyboard is installed"
        )

    async def send(self, text: str) -> None:
        with preparing():
            keyboard = await self._installed()
            if keyboard is None:
                raise Unsupported("the ADB keyboard is gone")
            await self._choose(keyboard)
        for number, piece in enumerate(pieces(text)):
            if not await self._took(keyboard, piece):
                delivery = "unknown" if number else "not_delivered"
                reason = f"{keyboard.method} did not take the text"
                raise AdbCommandError(reason, command="am broadcast", delivery=delivery)

    async def restore(self) -> None:
        commands, self._undo = self._undo, []
        done = [await self._shell.run(command, check=False) for command in commands]
        if not all(output.ok for output in done):
            raise AdbCommandError("the former keyboard could not be chosen again", command="ime")

    async def _installed(self) -> Keyboard | None:
        methods = (await self._shell.run(("ime", "list", "-s", "-a"), check=False)).text.split()
        return next((one for one in KEYBOARDS if one.method in methods), None)

    async def _choose(self, keyboard: Keyboard) -> None:
        former = (await self._shell.run(("settings", "get", "secure", "default_input_method"))).text.strip()
        enabled = (await self._shell.run(("ime", "list", "-s"))).text.split()
        if former == keyboard.method:
            return
        if "/" in former:
            self._undo.append(("ime", "set", former))
        if keyboard.method not in enabled:
            self._undo.append(("ime", "disable", keyboard.method))
            await self._shell.run(("ime", "enable", keyboard.method))
        await self._shell.run(("ime", "set", keyboard.method))
        await self._wait_until_bound(keyboard)

    async def _wait_until_bound(self, keyboard: Keyboard) -> None:
        """A broadcast before that is lost without a word."""
        deadline = self._clock.monotonic_ms() + BIND_MS
        while not await self._is_bound(keyboard):
            if self._clock.monotonic_ms() >= deadline:
                raise Unsupported(f"{keyboard.method} did not come up")
            await self._clock.sleep_ms(BIND_POLL_MS)

    async def _is_bound(self, keyboard: Keyboard) -> bool:
        found = _BOUND.search((await self._shell.run(("dumpsys", "input_method"))).text)
        return found is not None and found[1] == keyboard.method

    async def _took(self, keyboard: Keyboard, text: str) -> bool:
        coded = b64encode(text.encode()).decode()
        words = ("-a", keyboard.action, "-p", keyboard.package, "--es", keyboard.extra, coded)
        answer = _RESULT.search((await self._shell.run(("am", "broadcast", *words))).text)
        return not keyboard.answers or (answer is not None and answer[1] == "-1")


def pieces(text: str) -> Iterator[str]:
    """What single broadcasts carry."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
