"""Which phones an expression means, and where it is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail_fleet.where import Where

PIXEL = {"sdk": 34, "android": "14", "model": "Pixel 7", "simulated": False, "tags": ["lab", "wifi-6"]}
OLD = {"sdk": 25, "android": "7.1.2", "model": "SM-G930F", "simulated": True, "tags": []}


@pytest.mark.parametrize(
    ("text", "pixel", "old"),
    [
        ("", True, True),
        ("sdk>=33 and not simulated", True, False),
        ("sdk < 33 or lab", True, True),
        ('model = "pixel 7"', True, False),
        ("model != SM-G930F", True, False),
        ("android >= 7.1.10", True, False),
        ("android < 10", False, True),
        ("tags = wifi-6", True, False),
        ("not (lab and sdk = 34)", False, True),
        ("simulated = true or model = nothing", False, True),
        ("model > 3", False, False),
        ("not not simulated", False, True),
    ],
)
def test_an_expression_means_these_phones(text: str, pixel: bool, old: bool) -> None:
    matches = Where.parse(text).matches
    assert (matches(PIXEL), matches(OLD)) == (pixel, old)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sdk>=", 6),
        ("a b", 3),
        ("(a", 3),
        ("a $ b", 3),
        ("and", 1),
        ('a = "x', 5),
        ("a = b)", 6),
        ("33 < a", 1),
    ],
)
def test_a_wrong_expression_says_where(text: str, place: int) -> None:
    with pytest.raises(InvalidAction) as wrong:
        Where.parse(text)
    assert wrong.value.details["place"] == place
    assert wrong.value.message.endswith(f"{text}\n{' ' * (place - 1)}^")


def test_a_label_that_no_phone_has_is_told_with_the_nearest() -> None:
    with pytest.raises(InvalidAction) as wrong:
        Where.parse("sdk > 3 and simulatd").check_names([PIXEL, OLD])
    assert "simulated" in wrong.value.hint
    Where.parse("lab or sdk > 3").check_names([PIXEL, OLD])


@given(st.text(alphabet=' ()"=<>!andorst3$.', max_size=40))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    try:
        found = Where.parse(text).matches(PIXEL)
    except InvalidAction as wrong:
        assert 1 <= wrong.details["place"] <= len(text) + 1
    else:
        assert found in (True, False)
