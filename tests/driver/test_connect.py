"""`handrail connect` with the stock adb: from nothing to a first look, by cable, by code and by QR code.

The cable is played by `adb connect`; pairing by a server in front of adb's, and mDNS on the loopback.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.runtime import Runtime
from tests.driver.conftest import Adb, SimProcess, free_port
from tests.driver.pairing_adb import Announcer, PairingAdb, pairing_adb
from tests.scenario.world import until
from tests.unit.web_server.door import KEY, door

pytestmark = pytest.mark.slow


class Person:
    """Somebody with a terminal, a home and an adb server of their own."""

    def __init__(self, adb: Adb, folder: Path) -> None:
        self.adb = adb
        self.home = folder / "home"
        self.env = {**adb.env, "HANDRAIL_HOME": str(self.home), "HANDRAIL_NO_DAEMON": "1"}
        self.env.pop("HANDRAIL_DEVICE", None)

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "handrail.cli.main", *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=self.env)

    def does(self, *words: str) -> tuple[int, str, str]:
        with self.start(*words) as process:
            out, err = process.communicate(timeout=50)
        return process.returncode, out, err


@pytest.fixture
def person(tmp_path: Path, adb_server: Adb) -> Iterator[Person]:
    adb = Adb(adb_server.binary, free_port(), str(tmp_path))
    adb.text("start-server")
    yield Person(adb, tmp_path)
    adb.run("kill-server")


def steps(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_a_phone_that_is_plugged_in_is_followed_until_it_accepts_and_is_looked_at(person: Person) -> None:
    phone = SimProcess("--auth", "--apps", "launcher,contacts")
    try:
        address = phone.line()["connect"]
        talk = person.start("connect", "--json", "--timeout", "40")
        assert talk.stdout is not None
        said: list[dict[str, Any]] = []

        def until(step: str, state: str) -> dict[str, Any]:
            while True:
                line = talk.stdout.readline() if talk.stdout else ""
                assert line, (said, talk.stderr.read() if talk.stderr else "")
                said.append(json.loads(line))
                if (said[-1]["step"], said[-1]["state"]) == (step, state):
                    return said[-1]

        until("phone", "waiting")
        told = " ".join(one["say"] for one in said)
        assert "tap it seven times" in told
        assert "handrail connect --wifi" in told
        person.adb.run("connect", address)
        told_state = until("phone", "do")
        assert told_state["phone_state"] in ("unauthorized", "offline", "authorizing", "connecting")
        while said[-1].get("phone_state") != "unauthorized":
            until("phone", "do")
        assert "accept the prompt" in said[-1]["say"]
        phone.process.send_signal(signal.SIGUSR1)
        assert until("phone", "ok")["serial"] == address
        assert until("look", "ok")["channel"] == "helper"
        picture = Path(until("picture", "ok")["path"])
        assert picture.read_bytes().startswith(b"\x89PNG")
        last = until("next", "ok")
        assert re.search(r"claude mcp add handrail -- .*handrail.* mcp", last["mcp"])
        talk.communicate(timeout=30)
        assert talk.returncode == 0
        code, out, err = person.does(*last["tap"].split()[1:])
        assert (code, err) == (0, ""), out
        assert "com.android." in out or "Tapped" in out
    finally:
        phone.stop()


def test_ctrl_c_while_it_waits_leaves_nothing_behind(person: Person, tmp_path: Path) -> None:
    talk = person.start("connect", "--timeout", "40")
    assert talk.stdout is not None
    while "Waiting" not in talk.stdout.readline():
        pass
    talk.send_signal(signal.SIGINT)
    talk.communicate(timeout=60)
    assert talk.returncode == 130
    assert not person.home.exists()
    assert not list(tmp_path.glob("handrail-*.png"))


def test_nobody_who_comes_is_a_timeout_with_a_way_on(person: Person) -> None:
    code, out, _ = person.does("connect", "--json", "--timeout", "1")
    last = steps(out.splitlines())[-1]
    assert (code, last["code"]) == (1, "TIMEOUT")
    assert "handrail connect --wifi" in last["hint"]


# without a cable


@pytest.fixture
def world(person: Person) -> Iterator[tuple[PairingAdb, Announcer]]:
    with pairing_adb(person.adb.server_port) as (server, voice):
        person.env["ANDROID_ADB_SERVER_PORT"] = str(server.port)
        yield server, voice


@pytest.fixture
def phone() -> Iterator[tuple[SimProcess, int]]:
    process = SimProcess("--apps", "launcher,contacts")
    yield process, int(process.line()["port"])
    process.stop()


def test_a_code_pairs_connects_and_remembers_the_phone_by_its_model(
    person: Person, world: tuple[PairingAdb, Announcer], phone: tuple[SimProcess, int]
) -> None:
    server, voice = world
    server.on_paired.append(lambda: voice.say("connect", server.guid, phone[1]))
    code, out, err = person.does("connect", "--pair", "127.0.0.1:40001", "--code", "246 802", "--json")
    told = steps(out.splitlines())
    assert code == 0, (out, err)
    assert server.asked == ["host:pair:246802:127.0.0.1:40001"]
    assert "246802" not in out + err
    assert "Simulated Phone" in [one.get("name") for one in told]
    [kept] = json.loads((person.home / "config" / "phones.json").read_text())
    assert kept == {"name": "Simulated Phone", "guid": server.guid, "address": f"127.0.0.1:{phone[1]}"}
    assert (person.home / "config" / "phones.json").stat().st_mode & 0o777 == 0o600
    code, out, err = person.does("tap", "Contacts", "--device", "simulated phone")
    assert code == 0, (out, err)


def test_a_wrong_code_is_told_without_the_code(person: Person, world: tuple[PairingAdb, Announcer]) -> None:
    code, out, err = person.does("connect", "--pair", "127.0.0.1:40001", "--code", "111222")
    assert code == 3
    assert "Wrong password" in err
    assert "another code" in err
    assert "111222" not in out + err
    assert not (person.home / "config" / "phones.json").exists()
    code, _, err = person.does("connect", "--pair", "127.0.0.1:40001", "--code", "12345")
    assert (code, "six digits" in err) == (2, True)
    assert len(server_asked(world)) == 1


def server_asked(world: tuple[PairingAdb, Announcer]) -> list[str]:
    return world[0].asked


def test_a_qr_code_is_read_by_the_phone_and_pairs(
    person: Person, world: tuple[PairingAdb, Announcer], phone: tuple[SimProcess, int]
) -> None:
    server, voice = world
    server.on_paired.append(lambda: voice.say("connect", server.guid, phone[1]))
    talk = person.start("connect", "--wifi", "--name", "Ada's phone", "--json", "--timeout", "40")
    assert talk.stdout is not None
    said: list[dict[str, Any]] = []
    while "qr" not in (said[-1] if said else {}):
        said.append(json.loads(talk.stdout.readline()))
    found = re.fullmatch(r"WIFI:T:ADB;S:([^;]+);P:([^;]+);;", said[-1]["qr"])
    assert found
    server.code = found[2]
    voice.say("pairing", found[1], 40002)
    out, err = talk.communicate(timeout=50)
    assert talk.returncode == 0, (out, err)
    assert server.asked == [f"host:pair:{found[2]}:127.0.0.1:40002"]
    assert json.loads((person.home / "config" / "phones.json").read_text())[0]["name"] == "Ada's phone"
    assert person.does("ui", "--device", "ada's phone")[0] == 0


def test_a_qr_code_on_the_desks_page_pairs_and_the_phone_is_open_there(
    person: Person, world: tuple[PairingAdb, Announcer], phone: tuple[SimProcess, int]
) -> None:
    server, voice = world
    server.on_paired.append(lambda: voice.say("connect", server.guid, phone[1]))

    async def story() -> None:
        config = Config.from_env(person.env)
        async with (
            Runtime.open(config, env=person.env) as runtime,
            door(person.home, runtime=runtime) as served,
        ):
            shown = (await served.send("POST", "/api/phones/pairing", {}, token=KEY)).json
            assert (shown["state"], shown["picture"][:18]) == ("waiting", "data:image/svg+xml")
            made = served.context.added_phones.pairing
            assert made is not None
            server.code = made.invitation.password
            assert server.code not in json.dumps({**shown, "picture": ""})
            voice.say("pairing", made.invitation.name, 40003)
            await until(lambda: made.state in ("ready", "failed"))
            told = (await served.get("/api/phones/pairing", token=KEY)).json
            assert (told["state"], told["say"]) == ("ready", "Simulated Phone is here."), told
            assert told["device"] in runtime.sessions

    asyncio.run(story())


def test_a_phone_that_slept_and_came_back_elsewhere_is_found_by_name_and_its_session_goes_on(
    person: Person, world: tuple[PairingAdb, Announcer], phone: tuple[SimProcess, int]
) -> None:
    server, voice = world
    process, port = phone
    server.on_paired.append(lambda: voice.say("connect", server.guid, port))
    assert person.does("connect", "--pair", "127.0.0.1:40001", "--code", "246802")[0] == 0
    program = subprocess.Popen(
        [sys.executable, "-c", LONG_SESSION],
        env=person.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stdout.readline() == "looked True\n"
        process.stop()  # it sleeps, and wakes on another port: another network, or wireless debugging anew
        again = SimProcess("--apps", "launcher,contacts")
        try:
            other = int(again.line()["port"])
            assert other != port
            voice.say("connect", server.guid, other)
            print("again", file=program.stdin, flush=True)
            assert program.stdout.readline() == "looked True\n"
            program.stdin.close()
            assert program.wait(30) == 0
            assert person.does("ui", "--device", "Simulated Phone")[0] == 0
            [kept] = json.loads((person.home / "config" / "phones.json").read_text())
            assert kept["address"] == f"127.0.0.1:{other}"
        finally:
            again.stop()


LONG_SESSION = """
import asyncio, os, sys
from handrail import Runtime

async def main():
    async with Runtime.open(env=os.environ) as runtime:
        phone = await runtime.session("Simulated Phone")
        while True:
            seen = await phone.get_ui_tree()
            print("looked", seen.success, flush=True)
            if not seen.success:
                print(seen.to_dict(), file=sys.stderr)
            if not await asyncio.to_thread(sys.stdin.readline):
                return

asyncio.run(main())
"""


def test_the_qr_code_in_the_terminal_is_one_that_readers_read() -> None:
    """Drawn from the half blocks it is the same matrix as the library's own."""
    import segno  # noqa: PLC0415

    from handrail.android.wireless import Invitation, draw_qr_code  # noqa: PLC0415

    text = Invitation.new().text
    halves = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}
    rows: list[list[int]] = []
    for line in draw_qr_code(text).splitlines():
        rows += [[halves[one][half] for one in line] for half in (0, 1)]
    wanted = [list(row) for row in segno.make(text, error="l").matrix_iter(border=2)]
    assert rows[: len(wanted)] == wanted
    assert max(map(len, draw_qr_code(text).splitlines())) <= 80
