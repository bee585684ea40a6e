"""Where the vocabulary has a default of its own, it is the same number."""

from __future__ import annotations

import pytest

from handrail.android import constants
from handrail.protocol.actions import ACTIONS


@pytest.mark.parametrize(
    ("action", "field", "constant"),
    [
        ("pinch", "duration_ms", "PINCH_DURATION_MS"),
        ("rotate", "duration_ms", "ROTATE_DURATION_MS"),
        ("scroll_to", "max_scrolls", "SCROLL_TO_MAX_SCROLLS"),
        ("get_logs", "max_lines", "LOGCAT_LINES"),
    ],
)
def test_a_default_of_the_vocabulary_is_the_named_constant(action: str, field: str, constant: str) -> None:
    assert ACTIONS[action].model_fields[field].default == getattr(constants, constant)
