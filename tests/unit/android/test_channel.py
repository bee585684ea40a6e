from __future__ import annotations

import asyncio
import inspect

import pytest

from handrail.android.channel import OFFERS, Channel
from handrail.android.helper_channel import HelperChannel
from handrail.android.uiautomator2 import U2Channel
from handrail.errors import Unsupported
from handrail_emulator import EmulatorChannel

FINGERS = {"tap", "double_tap", "long_press", "swipe"}


def test_a_channel_can_do_what_it_says_in_its_own_words() -> None:
    class Bell(Channel):
        name = "bell"

        gestures = frozenset({"tap"})

        async def paste(self) -> None:
            return None

    assert Bell.can == {"tap", "paste"}
    assert Channel.can == frozenset()


def test_what_each_channel_offers() -> None:
    assert U2Channel.can == FINGERS | {
        "look", "drag", "pinch", "key", "get_clipboard", "set_clipboard", "paste", "set_text", "clear_field"
    }  # fmt: skip
    assert HelperChannel.can == FINGERS | {
        "drag", "path", "pinch", "rotate", "look", "wait_idle", "screenshot", "key", "type_ascii", "set_text",
        "clear_field", "get_clipboard", "set_clipboard",
    }  # fmt: skip
    assert EmulatorChannel.can == FINGERS | {
        "drag", "pinch", "rotate", "key", "type_ascii", "get_clipboard", "set_clipboard", "screenshot"
    }  # fmt: skip


def test_what_is_not_offered_is_refused_before_anything_is_sent() -> None:
    for primitive in OFFERS:
        method = getattr(Channel(), primitive)
        parameters = inspect.signature(method).parameters.values()
        wanted = sum(one.default is inspect.Parameter.empty for one in parameters)
        with pytest.raises(Unsupported, match=f"has no {primitive}") as caught:
            asyncio.run(method(*[1] * wanted))
        assert caught.value.details["delivery"] == "not_delivered"
