"""Who gets a key when no document has the focus."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from handrail.page.activation import PageActivation
from handrail.page.reading import Place

MAIN = SimpleNamespace(frame="main")
UNREAD = '{"unread": true}'


def asked_about_enter(*, gets_every_key: bool) -> Any:
    """The answer of a page whose only document does not have the focus and is not told apart by handlers."""

    async def evaluate(script: str, place: Place) -> Any:
        if script == "handrail.unseen()":
            return []
        return None if script.startswith("document.hasFocus() ?") else UNREAD

    async def world(*_: object) -> Any:
        return SimpleNamespace(token="w")

    page: Any = SimpleNamespace(main=MAIN, documents=lambda: [(MAIN, "main")], world=world)
    return asyncio.run(PageActivation(page, evaluate, gets_every_key).activated_by_keys(("enter",)))


def test_a_view_in_an_app_without_the_focus_leaves_keys_to_the_app() -> None:
    assert asked_about_enter(gets_every_key=False) is None


def test_the_main_document_of_a_tab_answers_when_none_has_the_focus() -> None:
    assert asked_about_enter(gets_every_key=True).is_unknown
