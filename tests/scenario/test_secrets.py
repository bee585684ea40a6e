"""A secret reaches the phone and nothing else: no file, no answer, no event, no diff, no log line."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from handrail.protocol.act import Act
from handrail.runtime import Runtime
from tests.scenario.people import BANK, allow_scripts, answered, asked, found_in
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

PIN = "4708150926"
NASTY = "pa ss\"w'o$rd&<1>"
SHOWN = "lantern"
"""The bank's login page says it in plain words."""
SECRETS = {"HANDRAIL_SECRET_PIN": PIN, "HANDRAIL_SECRET_NASTY": NASTY, "HANDRAIL_SECRET_SHOWN": SHOWN}
BARE = "swordfish9"
SCRIPT = 'echo "${secret:PIN}"'
ALLOW_ALL = f"""{allow_scripts(SCRIPT)}
[[rule]]
name = "all"
action = ["shell", "set_clipboard", "type_text"]
verdict = "allow"
"""


class Heard:
    """Everything that a story says: answers, events, log lines."""

    def __init__(self, w: World, caplog: pytest.LogCaptureFixture) -> None:
        self._w = w
        self._caplog = caplog
        self._listener = w.session.events()
        self._said: list[str] = []
        caplog.set_level(logging.DEBUG)

    def add(self, *envelopes: Any) -> None:
        self._said += [one.to_json() for one in envelopes]

    async def text(self) -> str:
        await self._w.session.close()
        async for event in self._listener:
            self._said.append(str(event.to_dict()))
        return "\n".join([*self._said, self._caplog.text])


async def test_a_secret_is_in_no_file_answer_event_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, env=SECRETS, policy=ALLOW_ALL) as w:
        heard = Heard(w, caplog)
        await w.open(BANK)
        for name in ("PIN", "NASTY"):
            typed = await w.session.type_text(f"${{secret:{name}}}", target={"id": "password"}, clear=True)
            assert typed.success, typed.to_json()
            heard.add(typed)
        plain = await w.session.type_text("${secret:PIN}", target={"id": "customer"})
        assert plain.success, plain.to_json()
        assert PIN in w.phone.dump()
        heard.add(plain, await w.session.get_ui_tree(), await w.session.what_changed("r1"))
        heard.add(await w.session.get_ui_tree(format="full"), await w.session.get_ui_tree(format="outline"))
        echoed = await w.session.shell(["echo", "${secret:NASTY}"])
        assert echoed.details["stdout"] == "${secret:NASTY}\n"
        heard.add(echoed, await w.session.shell(["ls", "/no/such/${secret:PIN}"]))
        printed = await w.session.run_script(SCRIPT)
        assert printed.details["stdout"] == "${secret:PIN}\n"
        heard.add(printed)
        heard.add(await w.session.set_clipboard("${secret:PIN}"), await w.session.get_state())
        heard.add(await w.session.tap(PIN), await w.session.expect_visible(PIN, timeout_ms=0))
        picture = await w.session.screenshot()
        assert picture.success
        said = await heard.text()
        assert PIN not in said
        assert NASTY not in said
        assert SHOWN not in said
    assert found_in(tmp_path, PIN, NASTY, NASTY.replace(" ", "%s"), SHOWN) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stream_reset", "offline", "truncated_output"])
async def test_an_error_while_typing_tells_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    async with world(tmp_path, env=SECRETS, policy=ALLOW_ALL, clock=FastClock(10)) as w:
        heard = Heard(w, caplog)
        await w.open(BANK)
        options = {} if fault == "offline" else {"command": "input", "bytes": 0}
        tapped = await w.session.tap({"id": "customer"})
        assert tapped.success
        w.phone.faults.add(fault, **options)
        heard.add(
            await w.session.type_text("${secret:PIN}"), await w.session.shell(["input", "${secret:PIN}"])
        )
        w.phone.faults.clear()
        assert PIN not in await heard.text()
    assert found_in(tmp_path, PIN) == []


async def test_a_bare_password_that_a_person_allows_leaves_no_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as w:
        heard = Heard(w, caplog)
        await w.open(BANK)
        typing = w.session.type_text(BARE, target={"id": "password"}, reason=f"I type {BARE}")
        done = await answered(w, typing)
        assert done.success, done.to_json()
        heard.add(done)
        plain = await w.session.type_text(BARE, target={"id": "customer"})
        heard.add(plain, await w.session.get_ui_tree())
        accepted = next(e for e in w.events() if e["kind"] == "accepted" and e["action_id"] == done.action_id)
        assert accepted["action"]["text"].startswith("${secret:TYPED_")
        assert BARE not in await heard.text()
    assert found_in(tmp_path, BARE) == []


async def test_a_short_bare_password_is_kept_out_of_the_journal_and_tears_no_holes_elsewhere(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, policy=ALLOW_ALL) as w:
        await w.open(BANK)
        done = await w.session.type_text("o", target={"id": "password"})
        assert done.success, done.to_json()
        [accepted] = [e for e in w.events() if e["kind"] == "accepted" and e["action_id"] == done.action_id]
        assert accepted["action"]["text"] == "${secret:TYPED_1}"
        other = await w.session.expect_visible("o", timeout_ms=0)
        assert "TYPED" not in other.to_json()


async def test_a_password_that_was_refused_can_not_be_had_by_its_placeholder(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.open(BANK)
        denied = await answered(w, w.session.type_text(BARE, target={"id": "password"}), yes=False)
        assert denied.failure_code == "ACTION_REJECTED"
        tricked = await w.session.type_text("${secret:TYPED_1}", target={"id": "password"})
        assert tricked.failure_code == "INVALID_ACTION", tricked.to_json()
        assert w.phone.dump().count("•") == 0
    assert found_in(tmp_path, BARE) == []


async def test_what_was_to_be_typed_into_a_field_that_is_not_there_is_not_written_down(
    tmp_path: Path,
) -> None:
    """Nobody knows whether it was a password."""
    async with world(tmp_path) as w:
        await w.open(BANK)
        done = await w.session.type_text(BARE, target={"id": "no_such_field"})
        assert done.failure_code == "ELEMENT_NOT_FOUND"
        assert any(e["kind"] == "accepted" and e["action_id"] == done.action_id for e in w.events())
    assert found_in(tmp_path, BARE) == []


async def test_the_question_about_a_bare_password_does_not_show_it(w: World, tmp_path: Path) -> None:
    await w.open(BANK)
    task = asyncio.create_task(w.session.type_text(BARE, target={"id": "password"}))
    [one] = await asked(w)
    assert BARE not in str(one.to_dict())
    assert one.request.action["text"] == "••••"
    assert found_in(tmp_path, BARE) == []
    await w.session.end_actions()
    await task


async def test_a_remembered_answer_about_a_secret_ends_with_the_session(tmp_path: Path) -> None:
    """Its context would stand in a file that people read."""
    ask = '[[rule]]\nname = "ask"\naction = "shell"\nverdict = "ask"\nremember = "always"\n'
    async with world(tmp_path, env=SECRETS, policy=ask) as w:
        done = await answered(w, w.session.shell(["echo", PIN]), remember="always")
        assert done.success, done.to_json()
        assert (await w.session.shell(["echo", PIN])).success
        assert w.runtime.permissions.all() == {}
    assert found_in(tmp_path, PIN) == []


async def test_ids_and_times_survive_a_secret_that_is_part_of_them(tmp_path: Path) -> None:
    """A PIN of four digits is somewhere in every timestamp sooner or later."""
    env = {f"HANDRAIL_SECRET_N{n}": f"{n}" * 4 for n in range(10)}
    env |= {
        "HANDRAIL_SECRET_YEAR": "2026",
        "HANDRAIL_SECRET_WORD": "verified",
        "HANDRAIL_SECRET_HOST": "127.0.0.1",
    }
    env["HANDRAIL_SECRET_MS"] = str(FastClock(1).now_ms())[:4]
    async with world(tmp_path, env=env) as w:
        done = await w.open("com.android.settings")
        assert done.timestamp.startswith("20")
        assert done.lifecycle_state == "verified"
        assert done.device
        assert done.device.id == w.serial
        shown = w.runtime.journal.show(done.action_id)
        assert [e["kind"] for e in shown.events][-1] == "verified"
        assert w.runtime.journal.verify().ok


class BrokenDesk:
    """Fails in a way that nobody foresaw, with a secret in its words."""

    async def apply(self, _: Act, by: str, is_person: bool) -> dict[str, Any]:
        raise ZeroDivisionError(f"could not divide {PIN}")


async def test_the_traceback_of_an_unforeseen_failure_is_logged_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, env=SECRETS) as w, Runtime.open(w.runtime.config, env=w.runtime.env) as other:
        other.attach_desk(BrokenDesk())  # type: ignore[arg-type]
        session = await other.session(w.serial, helper="none")
        done = await session.run({"type": "window.close", "windowId": "a"})
    assert done.failure_code == "UNKNOWN"
    assert done.message == "ZeroDivisionError: could not divide ${secret:PIN}"
    assert "ZeroDivisionError" in caplog.text
    assert PIN not in caplog.text
