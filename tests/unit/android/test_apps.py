"""Starting, stopping and removing apps, on a simulated phone and with the words of other Androids."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android import apps, packages
from handrail.android.apps import NotStarted, read_started
from handrail.android.dumpsys import take_fallback_notes
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import CONTACTS, Bench, play

NOTES = "com.handrail.notes"


def front(bench: Bench) -> str:
    top = bench.phone.tasks.top
    return top.component if top else ""


def test_a_wrong_activity_of_an_installed_app_is_named() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(AdbCommandError) as caught:
            await apps.start(bench.device.shell, CONTACTS, "Nowhere")
        assert "does not exist" in caught.value.message
        assert "leave it out" in caught.value.hint

    play(story)


@pytest.mark.parametrize("activity", [None, "Main"])
def test_an_app_that_is_not_there_names_its_neighbours(activity: str | None) -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(AppNotInstalled) as caught:
            await apps.start(bench.device.shell, "com.android.contact", activity)
        assert caught.value.details["nearest"][0] == CONTACTS
        assert CONTACTS in caught.value.hint

    play(story)


def test_a_package_without_an_icon_says_so() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(AdbCommandError) as caught:
            await apps.start(bench.device.shell, "com.android.systemui")
        assert "no launcher activity" in caught.value.message

    play(story)


def test_a_private_activity_is_explained() -> None:
    denied = "java.lang.SecurityException: Permission Denial: not exported from uid 10100"
    said = ScriptedShell("0", Output(b"Starting: Intent", denied.encode(), 255), "package:a.b uid:10100")
    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(apps.start(said, "a.b", "Main"))
    assert "not open to other apps" in caught.value.hint


def test_several_icons_are_left_to_the_system() -> None:
    said = ScriptedShell(
        "0",
        "priority=0\nandroid/com.android.internal.app.ResolverActivity\n",
        "package:a.b uid:10100",
        "Events injected: 1",
    )
    asyncio.run(apps.start(said, "a.b"))
    assert said.asked[-1] == "monkey -p a.b -c android.intent.category.LAUNCHER 1"


def test_stopping_ends_the_process() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await apps.start(shell, NOTES)
        assert await packages.pid_of(shell, NOTES) is not None
        await apps.stop(shell, NOTES)
        assert await packages.pid_of(shell, NOTES) is None
        with pytest.raises(AppNotInstalled):
            await apps.stop(shell, "com.nobody.here")

    play(story)


def test_restarting_gives_a_new_process() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await apps.start(shell, NOTES)
        before = await packages.pid_of(shell, NOTES)
        await apps.restart(shell, NOTES)
        after = await packages.pid_of(shell, NOTES)
        assert before
        assert after
        assert before != after

    play(story)


def test_a_reset_that_the_device_refuses_is_a_failure() -> None:
    said = ScriptedShell("0", "package:a.b uid:10100", Output(b"Failed\n", b"", 0))
    with pytest.raises(AdbCommandError, match="Failed"):
        asyncio.run(apps.reset(said, "a.b"))


@each("name", ["", "-3", "--user", "a b", "a;b", "a/b", "../a", "a..b", "$(id)", "é.b"])
def test_what_is_no_package_name_never_reaches_the_device(name: str) -> None:
    said = ScriptedShell()
    with pytest.raises(InvalidAction):
        asyncio.run(apps.start(said, name))
    with pytest.raises(InvalidAction):
        asyncio.run(apps.stop(said, name))
    assert said.asked == []


@each("activity", ["-n", "a b", "a/b", "$(id)", "`id`"])
def test_what_is_no_activity_never_reaches_the_device(activity: str) -> None:
    said = ScriptedShell()
    with pytest.raises(InvalidAction):
        asyncio.run(apps.start(said, "a.b", activity))
    assert said.asked == []


# lists of packages and processes


def test_package_lines_of_every_android_are_read() -> None:
    lines = "package:a.b uid:10100\npackage:c.d\r\npackage:e.f  uid:10101,1010101\nWARNING: linker\n"
    assert [(one.name, one.uid) for one in packages.read_packages(lines)] == [
        ("a.b", 10100),
        ("c.d", None),
        ("e.f", 10101),
    ]
    assert packages.read_packages(lines, user=10)[-1].uid == 1010101


REFUSED = b"java.lang.SecurityException: Shell does not have permission to access user 150\n"


@each(
    "answers",
    [
        [Output(b"", REFUSED, 255)],
        [Output(b"", REFUSED, 0)],
        [Output(b"Exception occurred while executing 'list':\n" + REFUSED, b"", 0)],
        ["", ""],
        ["", Output(b"", REFUSED, 255)],
    ],
)
def test_a_refused_list_never_means_that_an_app_is_not_installed(answers: list[str | Output]) -> None:
    with pytest.raises(AdbCommandError, match="did not list the packages of user 0") as caught:
        asyncio.run(packages.is_installed(ScriptedShell("0", *answers), "a.b"))
    assert "unknown" in caught.value.hint


def test_a_phone_that_tells_no_user_is_asked_about_user_0_and_says_so() -> None:
    said = ScriptedShell("Error: unknown command 'get-current-user'", "package:a.b uid:10100")
    assert asyncio.run(packages.is_installed(said, "a.b"))
    assert said.asked[-1].endswith("--user 0 a.b")
    (line,) = take_fallback_notes(said)
    assert "user 0 is used" in line
    assert take_fallback_notes(said) == []


def test_the_same_app_of_another_user_is_not_taken_for_this_ones() -> None:
    text = "  PID USER NAME\n  101 u0_a187 a.b\n  102 u10_a187 a.b\n  103 system a.b:x\n"
    assert packages.read_processes(text, "a.b", 0) == {101: "a.b", 103: "a.b:x"}
    assert packages.read_processes(text, "a.b", 10) == {102: "a.b", 103: "a.b:x"}


def test_processes_with_a_part_name_belong_to_their_package() -> None:
    text = "  PID NAME\n  101 a.b\n  102 a.b:sync\n  103 a.bc\n  104 xa.b\n"
    assert packages.read_processes(text, "a.b") == {101: "a.b", 102: "a.b:sync"}


# am start


def test_a_report_of_android_8_is_read() -> None:
    text = "Starting: Intent { }\nStatus: ok\nActivity: a.b/.Main\nThisTime: 210\nTotalTime: 310\nComplete\n"
    started = read_started(text)
    assert started == "a.b/.Main"


def test_an_error_counts_whatever_the_exit_code() -> None:
    with pytest.raises(NotStarted, match="does not exist") as caught:
        read_started("Starting: Intent { }\nError type 3\nError: Activity class {a/b} does not exist.\n")
    assert caught.value.missing


# addresses


@each("url", ["", "example.org", "https://a b", "-a:", "a\nb:c"])
def test_what_is_no_address_never_reaches_the_device(url: str) -> None:
    said = ScriptedShell()
    with pytest.raises(InvalidAction):
        asyncio.run(apps.open_url(said, url))
    assert said.asked == []
