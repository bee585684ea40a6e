"""No command of the phone answers "done" with nothing said and nothing done, unless Android does."""

from __future__ import annotations

import pytest

from tests.empty_success import command_lines, is_empty_success, service_lines
from tests.shell_person import new_phone, shell
from tests.silent_on_android import SILENT, is_silent_on_android


def _empty(lines: list[str]) -> list[str]:
    asked = [line for line in dict.fromkeys(lines) if not is_silent_on_android(line)]
    return [line for line in asked if is_empty_success(line, new_phone())]


@pytest.mark.slow
def test_no_command_succeeds_in_silence_and_without_effect() -> None:
    lines = command_lines(new_phone())
    assert len(lines) > 600
    assert _empty(lines) == []


@pytest.mark.slow
def test_no_service_succeeds_in_silence_and_without_effect() -> None:
    lines = service_lines(new_phone())
    assert len(lines) > 600
    assert _empty(lines) == []


def test_what_is_called_silent_on_android_is_silent_here_too() -> None:
    """So that the table holds no line that was mended since, and none that fails."""
    assert [line for line in SILENT if not is_empty_success(line, new_phone())] == []


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("cmd nosuch list", 20, "cmd: Can't find service: nosuch\n"),
        ("dumpsys nosuch", 0, "Can't find service: nosuch\n"),
        ("service call nosuch 1", 10, "service: Service nosuch does not exist\n"),
        ("service call window 999", 0, "Not a data message"),
        ("cmd accessibility whatever", 0, "No shell command implementation.\n"),
        ("cmd wifi nosuch", 255, "Unknown command: nosuch\n"),
        ("am nosuch", 255, "Unknown command: nosuch\n"),
        ("am force-stop", 255, 'IllegalArgumentException: Argument expected after "force-stop"'),
        ("pm list packages --nosuch", 255, "Error: Unknown option: --nosuch\n"),
        ("settings get --nosuch global x", 255, "Invalid namespace '--nosuch'\n"),
        ("settings put system font_scale abc", 255, "Invalid value: abc for setting: font_scale"),
        ("content query --uri content://settings/system --nosuch x", 1, "Unsupported argument: --nosuch\n"),
        ("ip -x addr", 255, 'Option "-x" is unknown, try "ip -help".\n'),
        ("ping -Q x", 2, "ping: unknown option -- Q\n"),
        ("sh -Q", 1, "sh: -Q: unknown option\n"),
        ("logcat --nosuch", 1, "logcat: unrecognized option -- nosuch\n"),
        ("screencap --nosuch", 1, "screencap: unrecognized option -- nosuch\n"),
        ("am start --nosuch -n a/b", 255, "IllegalArgumentException: Unknown option: --nosuch"),
        ("nosuch", 127, "/system/bin/sh: nosuch: inaccessible or not found\n"),
        ("cmd battery set nosuch 1", 255, "Unknown set option: nosuch\n"),
    ],
)
def test_what_is_not_there_says_so_in_androids_words(line: str, status: int, words: str) -> None:
    answer = shell(line)
    assert answer.status == status
    assert words in answer.text + answer.errors
