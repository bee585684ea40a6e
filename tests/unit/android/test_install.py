"""Installing and removing packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.android.apps import check_answer, install, uninstall
from handrail.android.packages import is_installed
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction
from tests.cases import each
from tests.unit.android.sim_phone import CONTACTS, Bench, play, put_apk


def test_what_is_no_apk_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "notes.apk"
    path.write_bytes(b"%PDF-1.7 not an app")

    async def story(bench: Bench) -> None:
        with pytest.raises(InvalidAction, match="not an APK"):
            await install(bench.device, path)
        with pytest.raises(InvalidAction, match="can't be read"):
            await install(bench.device, tmp_path / "missing.apk")
        assert bench.link.opened == []

    play(story)


def test_uninstalling_takes_the_package_away(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await install(bench.device, put_apk(tmp_path, "com.example.brief"))
        await uninstall(shell, "com.example.brief")
        assert not await is_installed(shell, "com.example.brief")
        with pytest.raises(AppNotInstalled):
            await uninstall(shell, "com.example.brief")
        with pytest.raises(AdbCommandError, match="DELETE_FAILED_INTERNAL_ERROR"):
            await uninstall(shell, CONTACTS)

    play(story)


@each(
    ("said", "code"),
    [
        ("Failure [INSTALL_FAILED_TEST_ONLY: installPackageLI]\n", "INSTALL_FAILED_TEST_ONLY"),
        ("Failure [INSTALL_FAILED_USER_RESTRICTED]", "INSTALL_FAILED_USER_RESTRICTED"),
        (
            "Performing Streamed Install\nFailure [INSTALL_FAILED_OLDER_SDK: a\nb]\n",
            "INSTALL_FAILED_OLDER_SDK",
        ),
    ],
)
def test_failures_of_every_shape_have_their_code_and_a_hint(said: str, code: str) -> None:
    with pytest.raises(AdbCommandError) as caught:
        check_answer(said, "x.apk")
    assert caught.value.details["install_code"] == code
    assert caught.value.hint != AdbCommandError.hint


def test_an_answer_without_a_code_is_a_failure_too() -> None:
    with pytest.raises(AdbCommandError, match="no success: cmd: Can't find service: package"):
        check_answer("cmd: Can't find service: package", "x.apk")
