"""A person at `adb shell`: history, the cursor, Tab, and a terminal that shows nothing while asked not to."""

from __future__ import annotations

import asyncio

from handrail_sim.shell import ShellIO, run
from handrail_sim.shell.io import Bytes
from tests.shell_person import new_phone

PROMPT = "emu64a:/ $ "
UP, DOWN, LEFT, HOME = "\x1b[A", "\x1b[B", "\x1b[D", "\x01"


def typed(keys: str) -> str:
    """What the terminal shows for these keys, without carriage returns."""
    shown: list[bytes] = []

    async def show(data: bytes) -> None:
        shown.append(data)

    phone = new_phone()
    asyncio.run(run(phone, "", ShellIO(Bytes(keys.encode()), show, show, tty=True)))
    return b"".join(shown).decode().replace("\r", "")


def lines_after(keys: str) -> list[str]:
    """What the commands printed: lines that are no prompt."""
    return [line for line in typed(keys).splitlines() if line and "$ " not in line]


def test_up_and_down_bring_lines_back() -> None:
    assert lines_after(f"echo one\recho two\r{UP}{UP}\r") == ["one", "two", "one"]
    assert lines_after(f"echo one\recho two\r{UP}{UP}{DOWN}\r") == ["one", "two", "two"]


def test_the_cursor_moves_inside_a_line() -> None:
    assert lines_after(f"echo ac{LEFT}b\r") == ["abc"]
    assert lines_after(f"cho x{HOME}e\r") == ["x"]
    assert lines_after("echo abc\x17def\r") == ["def"]
    assert lines_after("nonsense\x15echo clean\r") == ["clean"]


def test_tab_completes_commands_and_files() -> None:
    assert lines_after("bugreportz -\x15getenf\t\r") == ["Enforcing"]
    assert lines_after("echo /sdcard/Downl\t\r") == ["/sdcard/Download/"]
    assert "Download/" in typed("ls /sdcard/\t\x15exit\r")


def test_a_terminal_is_silent_while_it_shall_not_echo() -> None:
    assert "tty" in typed("tty\r")
    shown = typed("stty -echo\recho se''cret\rstty echo\r")
    assert "se''cret" not in shown
    assert "secret" in shown


def test_the_last_trap_runs_when_the_person_leaves() -> None:
    assert lines_after("trap 'echo bye' EXIT\rexit\r") == ["bye"]
