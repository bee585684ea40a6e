"""No string that a caller gives ever runs a second command: the phone's own record of commands is compared.

Strings that a name's rules refuse must not reach the phone at all; all others must arrive as one argument.
"""

from __future__ import annotations

import asyncio
import io
import re
import sqlite3
import string
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.shell import DeviceShell
from handrail.android import app_data, apps, logs, packages
from handrail.android import apps as install
from handrail.android import settings as device_settings
from handrail.android.adb_channel import AdbChannel
from handrail.android.driver import Driver
from handrail.clock import SystemClock
from handrail.errors import HandrailError
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.shell.processes import processes_of
from tests import fingers

NOTES = "com.handrail.notes"
CANARY = "/data/local/tmp/pwned"
PIECES = [
    *";&|<>()$`'\"\\*?~#!%{}[]=-@: \t\n\r", f"touch {CANARY}", f"$(touch {CANARY})", f"`touch {CANARY}`",
    f"'; touch {CANARY}; '", f'"; touch {CANARY}; "', f"\n touch {CANARY}\n", f"| touch {CANARY} #", "&& id",
    "$IFS", "${PATH}", "<(id)", "--user", "-n", "../..", "com.handrail.notes", "select 1", "a:b", "é",
    "🙂", "\x1b[A",
]  # fmt: skip
hostile = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=40),
)
Argv = tuple[str, ...]


@dataclass
class World:
    """One phone and one device for many examples, in a loop of their own."""

    runner: asyncio.Runner
    phone: Phone
    device: AdbDevice

    @property
    def shell(self) -> DeviceShell:
        return self.device.shell

    def commands(self, work: Callable[[], Awaitable[object]]) -> list[Argv]:
        """What the phone ran for it; after `exec` comes the program that took the shell's place."""
        log = processes_of(self.phone).log
        log.clear()

        async def run() -> None:
            with suppress(HandrailError):
                await work()

        self.runner.run(run())
        assert not self.phone.files.exists(CANARY)
        ran = list(log)
        for at, argv in enumerate(ran):
            assert argv[0] != "exec" or ran[at + 1] == argv[1:]
        return [argv for argv in ran if argv[0] != "exec"]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def open_world() -> World:
            phone = Phone(clock=SystemClock())
            (served,) = await stack.enter_async_context(serve([phone], port=0))
            device = AdbDevice(Direct(served.host, served.port))
            stack.push_async_callback(device.close)
            phone.files.write(f"/data/data/{NOTES}/databases/made.db", made_database(), mode=0o666)
            phone.snapshot()
            return World(runner, phone, device)

        yield runner.run(open_world())
        runner.run(stack.aclose())


@pytest.fixture(autouse=True)
def as_it_was(world: World) -> None:
    """Among the hostile names is a real one, and it is cleared and uninstalled like any other."""
    world.phone.restore()


def made_database() -> bytes:
    db = sqlite3.connect(":memory:")
    db.executescript("create table t (a); insert into t values (1)")
    return db.serialize()


# names: whatever the rules of a name refuse does not reach the phone

NAMES: dict[str, Callable[[DeviceShell, str], Awaitable[object]]] = {
    "start": apps.start,
    "start activity": lambda shell, text: apps.start(shell, NOTES, text),
    "stop": apps.stop,
    "restart": apps.restart,
    "reset": apps.reset,
    "uninstall": install.uninstall,
    "find package": packages.is_installed,
    "grant to": lambda shell, text: packages.grant(shell, text, "CAMERA"),
    "grant": lambda shell, text: packages.grant(shell, NOTES, text),
    "revoke": lambda shell, text: packages.revoke(shell, NOTES, text),
    "logs of": logs.read,
    "log level": lambda shell, text: logs.read(shell, level=text),  # type: ignore[arg-type]
    "crash of": logs.crash_lines,
    "prefs of": lambda shell, text: app_data.read_prefs(shell, text, "x"),
    "database of": lambda shell, text: app_data.query(shell, text, "x", "select 1"),
    "setting": lambda shell, text: device_settings.get_setting(shell, "system", text),
}
HARMLESS = frozenset(string.ascii_letters + string.digits + "_.$:-")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(text=hostile)
@example(text="-n")
@example(text="--user")
@example(text=f"a.b; touch {CANARY}")
@example(text=f"a.b\n touch {CANARY}")
def test_a_name_with_anything_but_a_names_letters_stays_here(world: World, name: str, text: str) -> None:
    ran = world.commands(lambda: NAMES[name](world.shell, text))
    if text.startswith("-") or not set(text) <= HARMLESS:
        assert ran == []


# free texts: each arrives as one argument of the one command that was meant

AS_NOTES = ("run-as", NOTES)
LIST = ("ls", "-1", "databases")
COPY = ("cat", "databases/made.db")


def by_run_as(*argvs: Argv) -> list[Argv]:
    return [one for argv in argvs for one in (AS_NOTES + argv, argv)]


@dataclass(frozen=True)
class Free:
    """How a text is given, and which commands may run for it, in this order."""

    give: Callable[[World, str], Awaitable[object]]
    meant: Callable[[str], list[Argv]]


FREE = {
    "argument": Free(
        lambda world, text: world.shell.run(["log", "-t", text, text]),
        lambda text: [("log", "-t", text, text)],
    ),
    "url": Free(
        lambda world, text: apps.open_url(world.shell, f"nobody:{text}"),
        lambda text: [
            ("am", "get-current-user"),
            (*"am start -W --user 0 -a android.intent.action.VIEW -d".split(), f"nobody:{text}"),
        ],
    ),
    "setting's value": Free(
        lambda world, text: device_settings.put_setting(world.shell, "system", "x", text),
        lambda text: [("settings", "put", "system", "x", text), ("settings", "get", "system", "x")],
    ),
    "preferences file": Free(
        lambda world, text: app_data.read_prefs(world.shell, NOTES, text),
        lambda text: by_run_as(
            ("cat", f"shared_prefs/{text.removesuffix('.xml')}.xml"), ("ls", "-1", "shared_prefs")
        ),
    ),
    "database": Free(
        lambda world, text: app_data.query(world.shell, NOTES, text, "select 1"), lambda _: by_run_as(LIST)
    ),
    "query": Free(
        lambda world, text: app_data.query(world.shell, NOTES, "made.db", text),
        lambda _: by_run_as(LIST, COPY),
    ),
    "writing query": Free(
        lambda world, text: app_data.query(world.shell, NOTES, "made.db", text, write=True),
        lambda text: by_run_as(LIST, COPY, sqlite_command(text)),
    ),
    "writing query with a text": Free(
        lambda world, text: app_data.query(world.shell, NOTES, "made.db", updating(text), write=True),
        lambda text: by_run_as(LIST, COPY, sqlite_command(updating(text))),
    ),
    "log time": Free(
        lambda world, text: logs.read(world.shell, since=text), lambda _: [("date", "+%s.%N %z")]
    ),
    "pushed file": Free(lambda world, text: world.device.files.push(b"x", text), lambda _: []),
    "pulled file": Free(lambda world, text: world.device.files.pull(text, io.BytesIO()), lambda _: []),
    "described file": Free(lambda world, text: world.device.files.stat(text), lambda _: []),
}


def sqlite_command(sql: str) -> Argv:
    return ("sqlite3", "databases/made.db", f" {sql}\n;", "SELECT changes();")


def updating(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"update t set a = '{quoted}'"


@pytest.mark.parametrize("name", FREE)
@settings(max_examples=60)
@given(text=hostile)
@example(text=f"'; touch {CANARY}; '")
@example(text=f"$(touch {CANARY})")
@example(text=f".shell touch {CANARY}")
@example(text=f"select 1\n.system touch {CANARY}")
def test_a_free_text_is_one_argument(world: World, name: str, text: str) -> None:
    free = FREE[name]
    ran = world.commands(lambda: free.give(world, text))
    assert ran == free.meant(text)[: len(ran)]


def test_free_texts_do_reach_the_phone(world: World) -> None:
    """The comparison above would also hold if nothing ever ran."""
    for name, text in (
        ("argument", "; id"),
        ("url", ";id"),
        ("setting's value", "$(id)"),
        ("database", "; id"),
    ):
        free = FREE[name]
        assert world.commands(lambda free=free, text=text: free.give(world, text)) == free.meant(text)  # type: ignore[misc]
    hurt = "'; id; $(id) --"
    free = FREE["writing query with a text"]
    assert world.commands(lambda: free.give(world, hurt)) == free.meant(hurt)


@settings(max_examples=25)
@given(text=hostile)
def test_an_apks_name_is_not_part_of_any_command(world: World, tmp_path_factory: Any, text: str) -> None:
    name = f"{text.replace('/', '_').replace(chr(0), '_')[:40]}.apk"  # what no file can be called
    path = tmp_path_factory.mktemp("apk") / name
    path.write_bytes(b"PK\x03\x04no app")
    ran = world.commands(lambda: install.install(world.device, path))
    assert ran == [("cmd", "package", "install", "-r", "-t", "-S", "10")]


# typing: many commands, all of them ours


async def to_the_title(world: World) -> Driver:
    """The cursor stands in an empty field."""
    driver = Driver(AdbChannel(world.device, SystemClock()), [], SystemClock(), deque())
    world.phone.force_stop(NOTES)
    world.phone.start_activity(f"{NOTES}/.EditActivity")
    found = re.search(r'resource-id="[^"]*/title"[^>]*bounds="\[(\d+),(\d+)\]', world.phone.dump())
    assert found
    await driver.perform(fingers.tap(int(found[1]) + 5, int(found[2]) + 5))
    return driver


OURS = frozenset(
    [
        "am",
        "cat",
        "cmd",
        "dumpsys",
        "exit",
        "grep",
        "ime",
        "input",
        "rm",
        "settings",
        "true",
        "uiautomator",
        "wm",
    ]
)
"""The programs and builtins that typing needs."""


@settings(max_examples=15)
@given(text=hostile)
@example(text=f"'; touch {CANARY}; '")
@example(text=f"%s$(touch {CANARY})`touch {CANARY}`")
@example(text=f"a\ntouch {CANARY}\n")
def test_typed_text_is_never_run(world: World, text: str) -> None:
    driver = world.runner.run(to_the_title(world))
    typed = world.commands(lambda: driver.text.type_text(text))
    copied = world.commands(lambda: driver.text.set_clipboard(text))
    assert {argv[0] for argv in typed + copied} <= OURS


def test_typed_text_arrives_as_text(world: World) -> None:
    """The same field does take what is typed."""
    driver = world.runner.run(to_the_title(world))
    world.commands(lambda: driver.text.type_text(f"a; touch {CANARY}"))
    assert world.phone.state()["front"]["state"]["title"] == f"a; touch {CANARY}"
