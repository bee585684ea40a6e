"""What the desk asks people: dialogs, one answer each, and what is remembered of it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from handrail.desk.questions import permission_key
from handrail.errors import HandrailError, InvalidAction
from handrail.safety.permissions import agent_key
from tests.cases import each
from tests.unit.desk.office import ASK, Office, asked, office, pages, settled

OPTIONS = {"showRememberChoice": True, "toolName": "delete", "context": "notes"}


@pytest.mark.parametrize("confirmed", [True, False])
async def test_a_dialog_waits_for_its_answer_and_is_withdrawn_everywhere(
    here: Office, confirmed: bool
) -> None:
    one, other = await pages(here, "one", "other")
    asking = await asked(here)
    await other.catch_up()
    assert [dialog["id"] for dialog in other.state["dialogs"]] == ["d1"]
    await one.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=confirmed)
    assert await asking == {"confirmed": confirmed, "remembered": False}
    await other.catch_up()
    assert other.state["dialogs"] == []
    with pytest.raises(InvalidAction) as late:
        await other.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True)
    assert late.value.details["path"] == "dialogId"


async def test_dialogs_queue_and_each_has_its_own_answer(here: Office) -> None:
    [page] = await pages(here, "one")
    first, second = await asked(here), await asked(here, id="d2")
    await settled()
    assert [dialog.id for dialog in here.desk.state.dialogs] == ["d1", "d2"]
    await page.send("DIALOG_FEEDBACK", dialogId="d2", confirmed=True)
    await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=False)
    assert (await first)["confirmed"] is False
    assert (await second)["confirmed"] is True


async def test_a_dialog_expires_to_no_after_five_minutes(here: Office) -> None:
    asking = await asked(here)
    await settled()
    await here.clock.advance(299_999)
    assert not asking.done()
    await here.clock.advance(1)
    assert await asking == {"confirmed": False, "remembered": False, "expired": True}
    assert here.desk.state.dialogs == ()


async def test_a_remembered_answer_is_kept_under_the_agents_own_key(tmp_path: Path) -> None:
    kept: dict[str, bool] = {}
    async with office(tmp_path, remember=kept.__setitem__, recall=kept.get) as here:
        [page] = await pages(here, "one")
        asking = await asked(here, permissionOptions=OPTIONS)
        await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
        assert await asking == {"confirmed": True, "remembered": True}
        assert kept == {agent_key("ada", "delete", "notes"): True}
        again = await here.do("dialog.confirm", id="d2", **ASK, permissionOptions=OPTIONS)
        assert again == {"confirmed": True, "remembered": True}
        assert here.desk.state.dialogs == ()


async def test_an_answer_that_is_being_remembered_answers_no_later_dialog_of_that_name(
    tmp_path: Path,
) -> None:
    held = threading.Event()

    def slowly(_key: str, _allow: bool) -> None:
        held.wait(20)

    async with office(tmp_path, remember=slowly) as here:
        [page] = await pages(here, "one")
        first = await asked(here, permissionOptions=OPTIONS)
        feedback = {"dialogId": "d1", "confirmed": True, "remember": True}
        answering = asyncio.ensure_future(page.send("DIALOG_FEEDBACK", **feedback))
        await settled()
        second = await asked(here)
        held.set()
        await answering
        assert (await first)["confirmed"]
        await settled()
        assert not second.done()
        assert [dialog.id for dialog in here.desk.state.dialogs] == ["d1"]
        await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=False)
        assert not (await second)["confirmed"]


@pytest.mark.parametrize("options", [None, {**OPTIONS, "showRememberChoice": False}])
async def test_nothing_is_remembered_that_the_dialog_did_not_offer(tmp_path: Path, options: Any) -> None:
    kept: dict[str, bool] = {}
    async with office(tmp_path, remember=kept.__setitem__, recall=kept.get) as here:
        [page] = await pages(here, "one")
        fields = {"permissionOptions": options} if options else {}
        asking = await asked(here, **fields)
        await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
        assert await asking == {"confirmed": True, "remembered": False}
        assert kept == {}


async def test_an_answer_counts_also_where_it_cannot_be_remembered(tmp_path: Path) -> None:
    def refuse(_key: str, _allow: bool) -> None:
        raise HandrailError("the file is damaged")

    async with office(tmp_path, remember=refuse) as here:
        [page] = await pages(here, "one")
        asking = await asked(here, permissionOptions=OPTIONS)
        await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
        assert (await asking)["not_remembered"] == "the file is damaged"


@each(
    ("agent", "tool", "context"), [("ada", "delete", None), ("a:b", "c%d:e", "f:g"), ("agent:x", "shell", "")]
)
def test_keys_are_those_of_the_permissions_file(agent: str, tool: str, context: str | None) -> None:
    options = {"toolName": tool, "context": context}
    if context != "":
        assert permission_key(agent, options) == agent_key(agent, tool, context)
    assert permission_key(agent, options).startswith("agent:")
