"""Runtime permissions."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android.packages import full_permission_name, grant
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import Bench, play

GALLERY = "com.handrail.gallery"


def test_refusals_say_why_and_what_to_do() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        with pytest.raises(AdbCommandError, match="has not requested permission") as caught:
            await grant(shell, GALLERY, "SEND_SMS")
        assert "does not ask" in caught.value.hint
        with pytest.raises(AppNotInstalled):
            await grant(shell, "com.handrail.galery", "CAMERA")

    play(story)


@each(
    ("words", "hint"),
    [
        (
            "java.lang.SecurityException: Permission a.b requested by c is not a changeable permission type",
            "install",
        ),
        ("Bad argument: java.lang.IllegalArgumentException: Unknown permission: a.b", "Check the permission"),
        (
            "Operation not allowed: java.lang.SecurityException: neither user has GRANT_RUNTIME_PERMISSIONS",
            "USB",
        ),
    ],
)
def test_refusals_of_other_androids_are_understood(words: str, hint: str) -> None:
    said = ScriptedShell(
        "0",
        Output(
            b"", f"\nException occurred while executing 'grant':\n{words}\n\tat x.y(Z.java:1)".encode(), 255
        ),
    )
    said.answers.append("package:c uid:10100")
    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(grant(said, "c", "a.b"))
    assert hint in caught.value.hint
    assert "java.lang" not in caught.value.message
    assert "Z.java" not in caught.value.message


def test_a_refusal_with_exit_code_0_is_still_one() -> None:
    said = ScriptedShell(
        "0", Output(b"", b"Operation not allowed: java.lang.SecurityException: no", 0), "package:c uid:10100"
    )
    with pytest.raises(AdbCommandError, match="failed: no"):
        asyncio.run(grant(said, "c", "CAMERA"))


def test_short_names_are_completed() -> None:
    assert full_permission_name("camera") == "android.permission.CAMERA"
    assert full_permission_name("com.example.permission.X") == "com.example.permission.X"
    for bad in ("", "-g", "a b", "a;b"):
        with pytest.raises(InvalidAction):
            full_permission_name(bad)
