"""Runtime permissions."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android.packages import grant, list_granted, read_granted, revoke, whole_name
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction
from tests.unit.android.said import Said
from tests.unit.android.sim_phone import Bench, play

GALLERY = "com.handrail.gallery"
PHOTOS = "android.permission.READ_MEDIA_IMAGES"


def test_a_permission_is_given_listed_and_taken() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        assert await grant(shell, GALLERY, "READ_MEDIA_IMAGES") == PHOTOS
        assert PHOTOS in await list_granted(shell, GALLERY)
        await revoke(shell, GALLERY, PHOTOS)
        assert PHOTOS not in await list_granted(shell, GALLERY)

    play(story)


def test_refusals_say_why_and_what_to_do() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        with pytest.raises(AdbCommandError, match="has not requested permission") as caught:
            await grant(shell, GALLERY, "SEND_SMS")
        assert "does not ask" in caught.value.hint
        with pytest.raises(AppNotInstalled):
            await grant(shell, "com.handrail.galery", "CAMERA")

    play(story)


@pytest.mark.parametrize(
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
    said = Said(
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
    said = Said(
        "0", Output(b"", b"Operation not allowed: java.lang.SecurityException: no", 0), "package:c uid:10100"
    )
    with pytest.raises(AdbCommandError, match="failed: no"):
        asyncio.run(grant(said, "c", "CAMERA"))


def test_short_names_are_completed() -> None:
    assert whole_name("camera") == "android.permission.CAMERA"
    assert whole_name("com.example.permission.X") == "com.example.permission.X"
    for bad in ("", "-g", "a b", "a;b"):
        with pytest.raises(InvalidAction):
            whole_name(bad)


def test_only_the_packages_own_block_counts() -> None:
    dump = """Permissions:
  Permission [a.b] (1): granted=true
Packages:
  Package [x] (1):
    install permissions:
      android.permission.INTERNET: granted=true
    User 0: installed=true
      runtime permissions:
        android.permission.CAMERA: granted=true, flags=[ USER_SET ]
        android.permission.CALL_PHONE: granted=false
"""
    assert read_granted(dump, "x") == ["android.permission.CAMERA", "android.permission.INTERNET"]


TWO_USERS = """Packages:
  Package [a.b] (1):
    sharedUser=SharedUserSetting{9 a.shared/10100}
    install permissions:
      p.INSTALL: granted=true
    User 0: ceDataInode=1 installed=true hidden=false
      runtime permissions:
        p.CAMERA: granted=true, flags=[ USER_SET]
        p.MICROPHONE: granted=false
    User 10: ceDataInode=2 installed=true hidden=false
      runtime permissions:
        p.CONTACTS: granted=true
    User 150: ceDataInode=0 installed=false hidden=false
  Package [a.c] (2):
    install permissions:
      p.OTHER: granted=true
Shared users:
  SharedUser [a.shared] (3):
    User 0:
      runtime permissions:
        p.SHARED: granted=true
  SharedUser [z.else] (4):
    install permissions:
      p.FOREIGN: granted=true
Hidden system packages:
  Package [a.b] (5):
    install permissions:
      p.FORMER: granted=true
"""


@pytest.mark.parametrize(
    ("user", "granted"),
    [(0, ["p.CAMERA", "p.INSTALL", "p.SHARED"]), (10, ["p.CONTACTS", "p.INSTALL"]), (150, [])],
)
def test_grants_are_those_of_one_user(user: int, granted: list[str]) -> None:
    assert read_granted(TWO_USERS, "a.b", user) == granted
