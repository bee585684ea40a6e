"""Every test has a phone of its own: a simulated one, unless `--handrail-device SERIAL` names another.

pytest examples/pytest            in this folder, or anywhere with the path
pytest examples/pytest -n 2       two workers, two phones
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from handrail.engine.session import Session
from handrail.flow.run_record import FlowRecord
from handrail.sync import BlockingDesk, BlockingPhone

CONTACTS = "com.google.android.contacts"


@pytest.mark.handrail(app=CONTACTS)
def test_a_contact_can_be_made(phone: BlockingPhone) -> None:
    phone.tap("Create new contact", expect="First name")
    phone.type_text("Ada", target="First name")
    phone.tap("Save")
    phone.expect_visible({"text_contains": "Ada"})


@pytest.mark.handrail(app="Contacts", faults=["slow_app_start"], seed=7)
def test_a_slow_phone_is_waited_for(phone: BlockingPhone) -> None:
    assert "Create new contact" in phone.get_ui_tree().details["text"]


def test_a_flow_passes(flow: Callable[..., FlowRecord]) -> None:
    assert flow("contact.yaml").outcome == "passed"


def test_the_desk_shows_a_window(desk: BlockingDesk) -> None:
    bounds = {"x": 0, "y": 0, "w": 400, "h": 300}
    desk.create_window("hello", "Hello", bounds, {"renderer": "text", "data": "hello"})
    assert [one["title"] for one in desk.state["windows"].values()] == ["Hello"]


def test_an_awaited_phone_works_too(
    async_phone: Callable[[], AbstractAsyncContextManager[Session]],
) -> None:
    import asyncio  # noqa: PLC0415 - with pytest-asyncio or anyio, the test itself is `async def`

    async def story() -> None:
        async with async_phone() as phone:
            await phone.start_app(CONTACTS)
            await phone.expect_visible("Contacts")

    asyncio.run(story())
