"""Emptying the focused field, whatever its length. A placeholder is not content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.input import send
from handrail.android.keys import key_code
from handrail.android.text.field import (
    FieldReading,
    Look,
    TextField,
    first_look,
    is_cleared,
    look_until,
    units,
)
from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout, Unsupported
from handrail.surface.values import Typed

KEYS_AT_ONCE = 250
"""Key events of one command: a slow phone needs 10 ms for each, and a command has 30 s."""
ENOUGH = 2
"""Erasers without any effect after which a text is left to be a placeholder."""

_CTRL, _A = key_code("KEYCODE_CTRL_LEFT"), key_code("KEYCODE_A")
_DELETE, _FORWARD_DELETE = key_code("KEYCODE_DEL"), key_code("KEYCODE_FORWARD_DEL")


class Eraser(Protocol):
    """One way to empty the focused field."""

    @property
    def name(self) -> str: ...

    async def erase(self, field: TextField | None) -> None: ...


class ChannelClear:
    """A helper sets the field to nothing."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} clear"

    async def erase(self, field: TextField | None) -> None:  # noqa: ARG002
        await self._channel.clear_field()


class SelectAll:
    """Ctrl+A, delete: two commands for any length. `keycombination` came with Android 12."""

    name = "select all"

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell

    async def erase(self, field: TextField | None) -> None:  # noqa: ARG002
        await send(self._shell, ("input", "keycombination", str(_CTRL), str(_A)))
        await send(self._shell, ("input", "keyevent", str(_DELETE)))


class Deletes:
    """As many deletes as the field has characters, to the left of the cursor; `forward`: to its right."""

    def __init__(self, shell: DeviceShell, *, forward: bool = False) -> None:
        self._shell = shell
        self._code = _FORWARD_DELETE if forward else _DELETE
        self.name = "forward delete keys" if forward else "delete keys"

    async def erase(self, field: TextField | None) -> None:
        if field is None:
            raise Unsupported("the length of the field is not known", delivery="not_delivered")
        await self.press(units(field.text))

    async def press(self, times: int) -> None:
        """So many characters."""
        for count in batches(times):
            await send(self._shell, ("input", "keyevent", *[str(self._code)] * count))


def batches(count: int) -> list[int]:
    """How many keys each command presses."""
    return [min(KEYS_AT_ONCE, count - start) for start in range(0, count, KEYS_AT_ONCE)]


async def clear_text(look: Look, erasers: Sequence[Eraser], clock: Clock) -> Typed:
    """Empty the focused field by the first eraser after which it reads empty.

    `arrived` is None where an empty field can't be told from one that kept its text: dumps without hints
    show a placeholder as text.
    """
    before = await first_look(look)
    if before.field is not None and before.field.vacant:
        return Typed("none", before.text, before.text, True, before.screen)
    done, failure, idle = None, None, 0
    now = before.field
    for eraser in erasers:
        try:
            await eraser.erase(now)
        except (DeviceError, Timeout, Unsupported) as error:
            failure = error
            continue
        after, cleared = await _read_back(look, clock, before)
        done = Typed(eraser.name, before.text, after.text, cleared, after.screen)
        now, idle = after.field or now, idle + (cleared is None and after.text == before.text)
        if cleared or before.field is None or idle == ENOUGH:
            break
    if done is None:
        raise failure or Unsupported("there is no way to clear a field", delivery="not_delivered")
    return done


async def _read_back(look: Look, clock: Clock, before: FieldReading) -> tuple[FieldReading, bool | None]:
    def verdict(after: TextField | None) -> bool | None:
        return None if before.field is None or after is None else is_cleared(before.field, after)

    return await look_until(look, clock, before, verdict)
