"""What answers bring along: plain data is stored, secrets never touch a disk, also between processes."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.clock import SystemClock
from handrail.errors import ActionRejected, InvalidAction
from handrail.safety import approvals
from handrail.safety.approvals import deliver
from handrail.safety.secrets import Secrets
from handrail_sim.clock import ManualClock
from tests.cases import each
from tests.unit.safety.asking import ASKER, Desk, Vault, desk, human_auth, question, run

CODE = "914-sesame-273"
SECRET = ["sms", "2fa", "biometric", "oauth", "payment", "unknown"]
PLAIN = ["camera", "location", "notification", "contacts", "calendar", "files", "permission"]


def everything(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


@pytest.mark.parametrize("data", [{"lat": 52.5, "lon": 13.4}, "Berlin", ["a", "b"]])
def test_plain_data_is_given_as_it_is(tmp_path: Path, data: object) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("location"))
        await at.approvals.answer(one.id, True, "ada", data=data)
        assert (await waiting).data == data

    run(tmp_path, story, keep_secret=Vault().keep)


@pytest.mark.parametrize("capability", SECRET)
def test_a_secret_is_a_placeholder_everywhere_but_in_the_vault(tmp_path: Path, capability: str) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth(capability))
        await at.approvals.answer(one.id, True, "ada", data=CODE)
        answer = await waiting
        assert vault.open(answer.data) == CODE
        assert CODE not in str(answer.to_dict())
        assert CODE.encode() not in everything(tmp_path)

    run(tmp_path, story, keep_secret=vault.keep)


def test_every_text_and_number_in_secret_data_is_kept(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("payment"))
        card = {"number": "4111-1111", "cvc": 737, "parts": ["x1", True, None]}
        await at.approvals.answer(one.id, True, "ada", data=card)
        data = (await waiting).data
        assert vault.open(data["number"]) == "4111-1111"
        assert vault.open(data["cvc"]) == "737"
        assert (vault.open(data["parts"][0]), *data["parts"][1:]) == ("x1", True, None)
        assert b"4111-1111" not in everything(tmp_path)

    run(tmp_path, story, keep_secret=vault.keep)


ANSWER = """
import asyncio, sys
from pathlib import Path
from handrail.clock import SystemClock
from handrail_sim.clock import ManualClock
from handrail.safety.approvals import Approvals
from handrail.store import Store

async def answer():
    store = Store(Path(sys.argv[1]) / "handrail.db")
    try:
        await Approvals(store, SystemClock()).answer(sys.argv[2], True, "bob", data=sys.stdin.read() or None)
    finally:
        store.close()

asyncio.run(answer())
"""


async def from_elsewhere(home: Path, id_: str, data: str) -> int:
    """Somebody answers in another process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ANSWER, str(home), id_, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate(data.encode())
    assert process.returncode is not None
    return process.returncode


def test_an_answer_from_another_process_is_seen(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        assert await from_elsewhere(tmp_path, one.id, "") == 0
        assert (await waiting).by == "bob"

    run(tmp_path, story, clock=SystemClock())


def test_a_secret_from_another_process_arrives_without_touching_a_disk(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        stored = await at.approvals.get(one.id)
        assert stored.mailbox is not None
        folder = Path(stored.mailbox).parent
        assert folder.stat().st_mode & 0o777 == 0o700
        assert re.fullmatch(r"handrail-\w{8}", folder.name)
        assert await from_elsewhere(tmp_path, one.id, CODE) == 0
        answer = await waiting
        assert vault.open(answer.data) == CODE
        assert CODE.encode() not in everything(tmp_path)
        assert not folder.exists()

    run(tmp_path, story, clock=SystemClock(), keep_secret=vault.keep)


def test_a_secret_for_a_process_that_is_gone_is_refused_and_not_kept(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        async with desk(tmp_path, at.clock) as other:
            with pytest.raises(ActionRejected, match="not there any more"):
                await other.approvals.answer(one.id, True, "ada", data=CODE)
            assert (await other.approvals.get(one.id)).state == "pending"
            await other.approvals.answer(one.id, False, "ada")
        await at.approvals.withdraw(one.id)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert CODE.encode() not in everything(tmp_path)

    run(tmp_path, story)  # without `keep_secret` nobody listens, as after a crash


def test_a_mailbox_whose_owner_was_killed_takes_nothing(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    path = f"{tempfile.mkdtemp(dir='/tmp')}/answer"
    listener.bind(path)
    listener.close()  # as after kill -9: the name is still there, and nobody behind it
    with pytest.raises(ActionRejected, match="not there any more"):
        asyncio.run(deliver(path, CODE))
    shutil.rmtree(Path(path).parent)


def test_after_a_restart_a_secret_reaches_the_process_that_resumed(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        lost, one = await at.ask(human_auth("2fa"))
        async with (
            desk(tmp_path, at.clock, keep_secret=vault.keep) as after,
            desk(tmp_path, at.clock) as other,
        ):
            resumed = asyncio.create_task(after.approvals.resume(one.id))
            while (await other.approvals.get(one.id)).mailbox is None:
                await asyncio.sleep(0)
            answered = await other.approvals.answer(one.id, True, "ada", data=CODE)
            assert CODE not in str(answered)
            answer = await resumed
        assert vault.open(answer.data) == CODE
        await lost

    run(tmp_path, story, clock=SystemClock())


def test_garbage_in_the_mailbox_changes_nothing(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        assert one.mailbox is not None
        for garbage in (b"\n", b"{\n", b'"' + b"x" * 300_000 + b'"\n', b"[" * 100_000 + b"\n", b""):
            reader, writer = await asyncio.open_unix_connection(one.mailbox)
            writer.write(garbage)
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()
        assert vault.values == {}
        await at.approvals.answer(one.id, False, "ada")
        await waiting

    run(tmp_path, story, keep_secret=vault.keep)


def test_a_known_secret_in_a_question_is_stored_as_its_placeholder(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_CODE": CODE})

    async def story(at: Desk) -> None:
        said = {"instruction": f"Use {CODE}?", "reason": f"I type {CODE}.", "label": CODE, "why": CODE}
        asked = question({"type": "set_clipboard", "text": f"it is {CODE}"}, **said)
        waiting, one = await at.ask(asked)
        assert one.request.action["text"] == "it is ${secret:CODE}"
        assert one.request.reason == "I type ${secret:CODE}."
        await at.approvals.answer(one.id, True, "ada", note=f"yes, {CODE}")
        await at.approvals.consume((await waiting).id, asked.digest, ASKER)

    run(tmp_path, story, redact=secrets.redact)
    assert CODE.encode() not in everything(tmp_path)


def test_an_answer_whose_data_was_handed_over_after_the_end_does_not_count(tmp_path: Path) -> None:
    """Also where the asker has not noticed the end yet."""
    clock = ManualClock()

    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await clock.advance(300_000)
        writer.write(await reader.readline())
        writer.close()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        assert one.mailbox is not None
        Path(one.mailbox).unlink()
        async with await asyncio.start_unix_server(slowly, one.mailbox), desk(tmp_path, clock) as other:
            with pytest.raises(ActionRejected, match="is expired: it can't be answered again"):
                await other.approvals.answer(one.id, True, "ada", data="${secret:CODE}")
        assert (await at.approvals.get(one.id)).state == "expired"
        await at.approvals.withdraw(one.id)
        assert (await waiting).data is None

    run(tmp_path, story, clock=ManualClock(), keep_secret=Vault().keep)


def test_a_number_that_happens_to_be_a_secret_is_left_alone(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "1080"})

    async def story(at: Desk) -> None:
        tap = {"type": "tap", "target": {"x": 1080, "y": 5}, "reason": "at 1080"}
        waiting, one = await at.ask(question(tap))
        assert one.request.action == {**tap, "reason": "at ${secret:PIN}"}
        await at.approvals.withdraw(one.id)
        await waiting

    run(tmp_path, story, redact=secrets.redact)


def test_the_data_of_a_second_answer_is_not_even_kept(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        await at.approvals.answer(one.id, True, "ada", data=CODE)
        with pytest.raises(ActionRejected, match="is approved by ada"):
            await at.approvals.answer(one.id, True, "bob", data="another")
        assert vault.open((await waiting).data) == CODE
        assert list(vault.values.values()) == [CODE]

    run(tmp_path, story, keep_secret=vault.keep)


@each("capability", SECRET)
def test_what_might_be_a_secret_is_one(capability: str) -> None:
    assert human_auth(capability).is_secret


@each("capability", PLAIN)
def test_what_people_would_show_anybody_is_none(capability: str) -> None:
    assert not human_auth(capability).is_secret


@each("words", ["Enter the 2FA code", "Your password?", "Wie lautet die PIN?", "What is the API key?"])
@each("capability", PLAIN)
def test_an_agent_can_not_make_a_secret_readable_by_its_capability(capability: str, words: str) -> None:
    assert human_auth(capability, instruction=words).is_secret


@each(
    "data,readable,reads",
    [
        ("Berlin", None, True),
        ("Hamburg", False, False),
        ("482913", None, False),
        ("482913", True, True),
        ("hunter2x", None, False),
        ({"street": "Main", "code": "482 913"}, None, False),
        ({"lat": 52.123, "lon": 1e-05, "here": True, "name": None}, None, True),
        ("713.402", None, False),
        ("ab1c", None, False),
        ("b1c", None, True),
        ("Main Street 5b", None, True),
    ],
)
def test_the_person_decides_whether_the_agent_reads_an_answer(
    tmp_path: Path, data: object, readable: bool | None, reads: bool
) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("location"))
        await at.approvals.answer(one.id, True, "ada", data=data, readable=readable)
        assert ((await waiting).data == data) is reads
        assert reads or str(data).encode() not in everything(tmp_path)

    run(tmp_path, story, keep_secret=Vault().keep)


def test_a_process_without_a_place_for_secrets_takes_none(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("2fa"))
        assert one.mailbox is None
        with pytest.raises(InvalidAction, match="no place for secrets") as failure:
            await at.approvals.answer(one.id, True, "ada", data=CODE)
        assert failure.value.details["path"] == "data"
        await at.approvals.withdraw(one.id)
        await waiting

    run(tmp_path, story)


def test_a_question_that_brings_no_data_has_no_mailbox(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        assert one.mailbox is None
        await at.approvals.withdraw(one.id)
        await waiting

    run(tmp_path, story, keep_secret=Vault().keep)


def test_the_answers_of_two_people_at_once_do_not_mix(tmp_path: Path) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(human_auth("payment"))
        assert one.mailbox is not None
        lost = await deliver(one.mailbox, {"Card No.": "of bob"})
        await at.approvals.answer(one.id, True, "ada", data={"Card No.": "of ada"})
        won = (await waiting).data
        assert (vault.open(lost["Card No."]), vault.open(won["Card No."])) == ("of bob", "of ada")
        name = one.id.upper()
        assert all(re.fullmatch(rf"{name}_CARD_NO__[0-9A-F]{{4}}", kept) for kept in vault.values)

    run(tmp_path, story, keep_secret=vault.keep)


@pytest.mark.parametrize("listens", ["silent", "nonsense"])
def test_who_does_not_give_placeholders_back_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listens: str
) -> None:
    monkeypatch.setattr(approvals, "_SECONDS", 0.05)
    heard = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        if listens == "nonsense":
            writer.write(b"{\n")
        await reader.read()  # until it is hung up
        writer.close()

    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with await asyncio.start_unix_server(answer, f"{folder}/answer"):
                with pytest.raises(ActionRejected, match="not there any more"):
                    await deliver(f"{folder}/answer", ["x"])

    asyncio.run(story())
    assert heard == [b'["x"]\n']


def test_only_a_yes_to_human_auth_brings_data(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        first, one = await at.ask(question())
        second, two = await at.ask(human_auth("location"))
        for id_, yes in ((one.id, True), (two.id, False)):
            with pytest.raises(InvalidAction, match="Only an approval") as failure:
                await at.approvals.answer(id_, yes, "ada", data="x")
            assert failure.value.details["path"] == "data"
        with pytest.raises(InvalidAction, match="larger than 65,536 bytes") as failure:
            await at.approvals.answer(two.id, True, "ada", data="x" * 65_535)
        assert failure.value.details["path"] == "data"
        await at.approvals.answer(two.id, True, "ada", data="x" * 65_534)
        await at.approvals.withdraw(one.id)
        await asyncio.gather(first, second)

    run(tmp_path, story)


def test_waiting_leaves_no_file_and_no_socket_behind(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        before = set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else set()
        for _ in range(3):
            waiting, one = await at.ask(human_auth("sms"))
            waiting.cancel()
            await asyncio.wait({waiting})
            assert one.mailbox is not None
            assert not Path(one.mailbox).parent.exists()
        after = set(os.listdir("/proc/self/fd")) if before else set()
        assert len(after) <= len(before)

    run(tmp_path, story, keep_secret=Vault().keep)


@each(
    "words",
    [
        "What is the code of the door?",
        "Your PIN, please",
        "Enter the p4ssw0rd",
        "Your pаsswоrd?",  # two letters are Cyrillic
        "P A S S W O R D ?",
        "Wie lautet das Passwort?",
        "Quel est ton mot de passe ?",
        "¿Cuál es la contraseña?",
        "Какой пароль?",
        "パスワードは?",
        "请输入验证码",
        "What do I need to sign in?",
        "Which are the last four digits?",
        "Is it still ${secret:BANK}?",
    ],
)
def test_a_question_without_a_capability_that_speaks_of_a_secret_brings_one(words: str) -> None:
    asked = replace(human_auth("unknown"), instruction=words)
    assert asked.is_secret
    assert replace(asked, instruction="Please answer.", reason=words).is_secret


@each(
    "words",
    [
        "Which one do you mean, Ada or Ben?",
        "At which hour?",
        "Welche Straße?",
        "What shall I do?",
        "どちらですか?",
    ],
)
def test_a_plain_question_brings_words_that_can_be_read(words: str) -> None:
    assert not replace(human_auth("unknown"), instruction=words).is_secret
    assert replace(human_auth("2fa"), instruction=words).is_secret
