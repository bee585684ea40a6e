"""One home, one process that works on a phone, and commands that come in through its socket."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from handrail.cli.local_client import LocalConnection, receive, send, socket_path
from handrail.cli.local_server import serve_local
from handrail.config import Config
from handrail.errors import HandrailError, InvalidAction
from handrail.local_socket import LONGEST_SOCKET, take_lock
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from tests.scenario.world import play_live, until, world

ASYNC_RUNNER = play_live

ME = {"id": "ada", "terminal": 7}


async def nobody_is_asked(id_: str) -> None:
    raise AssertionError(f"asked {id_}")


async def act(home: Path, action: dict[str, Any], device: str | None = None, **more: Any) -> Any:
    door = await LocalConnection.open(home)
    assert door is not None
    try:
        return await door.act(action, device=device, caller=ME, **{"on_question": nobody_is_asked, **more})
    finally:
        await door.close()


async def test_an_action_is_done_by_the_session_that_is_open(tmp_path: Path) -> None:
    async with world(tmp_path) as one, serve_local(one.runtime) as path:
        assert path.stat().st_mode & 0o777 == 0o600
        ref = await one.ref("Contacts")
        told = await act(tmp_path, {"type": "tap", "target": ref})
        assert told[0]["success"], told
        assert "com.google.android.contacts" in told[1]
        assert one.session.screens.last.screen.package == "com.google.android.contacts"
        ends = [event for event in one.events() if event.get("terminal")]
        assert ends[-1]["actor"] == {"kind": "person", "id": "ada"}
        assert ends[-1]["door"] == "cli"
    assert not path.exists()


async def test_a_phone_that_is_not_open_there_is_somebody_elses_work(tmp_path: Path) -> None:
    async with world(tmp_path) as one, serve_local(one.runtime):
        assert await act(tmp_path, {"type": "get_ui_tree"}, "127.0.0.1:1") is None
        assert await act(tmp_path, {"type": "get_ui_tree"}, one.serial) is not None


async def test_bad_input_is_the_same_failure_as_without_a_server(tmp_path: Path) -> None:
    async with world(tmp_path) as one, serve_local(one.runtime):
        with pytest.raises(InvalidAction) as caught:
            await act(tmp_path, {"type": "swipe", "direction": "upp"})
        assert caught.value.details["path"] == "direction"


async def test_only_one_process_serves_a_home_and_a_dead_ones_socket_is_replaced(tmp_path: Path) -> None:
    config = Config.from_env({"HANDRAIL_HOME": str(tmp_path)})
    async with Runtime.open(config, env={}) as runtime:
        left = socket_path(tmp_path)
        server = await asyncio.start_unix_server(lambda *_: None, left)
        server.close()
        await server.wait_closed()
        left.touch()  # whatever is there, nobody listens
        assert await LocalConnection.open(tmp_path) is None
        async with serve_local(runtime) as path, serve_local(runtime) as second:
            assert (path, second) == (left, None)
            door = await LocalConnection.open(tmp_path)
            await door.close()
        lock = take_lock(str(tmp_path), "daemon")
        assert lock is not None
        os.close(lock)


def test_without_a_server_there_is_no_door(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert play_live(LocalConnection.open(tmp_path)) is None


async def test_a_folder_that_others_may_write_to_is_not_trusted(tmp_path: Path) -> None:
    server = await asyncio.start_unix_server(lambda *_: None, socket_path(tmp_path))
    tmp_path.chmod(0o777)
    assert await LocalConnection.open(tmp_path) is None
    server.close()


def test_a_path_that_is_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 120)
    short = socket_path(deep)
    assert len(os.fsencode(short)) <= LONGEST_SOCKET
    assert short != socket_path(tmp_path / ("b" * 120))


async def test_a_stop_ends_this_action_only_and_it_still_answers(tmp_path: Path) -> None:
    async with world(tmp_path) as one, serve_local(one.runtime):
        wait = {"type": "wait_for", "condition": "There is no such thing", "timeout_ms": 600_000}
        others = asyncio.create_task(one.session.run(wait))
        door = await LocalConnection.open(tmp_path)
        mine = asyncio.create_task(door.act(wait, device=None, caller=ME, on_question=nobody_is_asked))
        await until(lambda: sum(e.get("kind") == "accepted" for e in one.events()) == 2)
        await door.stop()
        told = await mine
        assert told[0]["failure_code"] == "CANCELLED"
        assert not others.done()
        await door.close()
        await one.session.end_actions()
        await others


async def test_whoever_hangs_up_ends_their_action_and_the_journal_knows_it(tmp_path: Path) -> None:
    async with world(tmp_path) as one, serve_local(one.runtime) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        await receive(reader)
        wait = {"type": "wait_for", "condition": "There is no such thing", "timeout_ms": 600_000}
        await send(writer, {"action": wait, "device": None, "caller": ME})
        await until(lambda: any(event.get("kind") == "accepted" for event in one.events()))
        writer.close()
        await until(lambda: any(event.get("terminal") for event in one.events()))
        last = [event for event in one.events() if event.get("terminal")][-1]
        assert last["envelope"]["failure_code"] == "CANCELLED"


async def test_a_question_is_asked_at_the_terminal_that_the_action_came_from(tmp_path: Path) -> None:
    asked_here: list[str] = []
    asked_there: list[str] = []
    async with world(tmp_path) as one:

        async def tell_others(approval: Any, token: str | None) -> None:
            asked_there.append(approval.id)
            await one.runtime.approvals.answer(approval.id, True, "desk")

        async def answer(id_: str) -> None:
            asked_here.append(id_)
            await one.runtime.approvals.answer(id_, True, "ada")

        one.runtime.approvals.notify = tell_others
        async with serve_local(one.runtime):
            shell = {"type": "shell", "command": ["echo", "yes"]}
            told = await act(tmp_path, shell, on_question=answer)
            assert told[0]["approval"]["by"] == "ada"
            assert (len(asked_here), asked_there) == (1, [])
            done = await one.session.run(shell, caller=Caller("robot"))
            assert done.approval.by == "desk"
            assert len(asked_here) == 1


async def test_a_server_that_goes_away_is_an_error_and_nothing_is_done_twice(tmp_path: Path) -> None:
    async def vanish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from handrail import __version__  # noqa: PLC0415

        await send(writer, {"handrail": __version__})
        await receive(reader)
        writer.close()

    tmp_path.chmod(0o700)
    server = await asyncio.start_unix_server(vanish, socket_path(tmp_path))
    with pytest.raises(HandrailError) as caught:
        await act(tmp_path, {"type": "tap", "target": "Pay"})
    assert caught.value.details["delivery"] == "unknown"
    assert "journal" in caught.value.hint
    server.close()


@pytest.mark.parametrize("hello", [{"handrail": "0.0.0"}, {"something": "else"}])
async def test_another_version_is_not_talked_to(tmp_path: Path, hello: dict[str, str]) -> None:
    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await send(writer, hello)
        writer.close()

    tmp_path.chmod(0o700)
    server = await asyncio.start_unix_server(speak, socket_path(tmp_path))
    assert await LocalConnection.open(tmp_path) is None
    server.close()
