"""Which text of a field counts as made from the secret that was in it."""

import pytest

from handrail.safety.secret_fields import is_derived_from

PASSWORD = "secret!"


@pytest.mark.parametrize(
    "text",
    ["secret", "ecret!", "s-e-c-r-e-t-!", "SEsecret!", "my secret! and a long text that was typed after it"],
)
def test_an_edited_secret_is_still_one(text: str) -> None:
    assert is_derived_from(PASSWORD, text)


@pytest.mark.parametrize(
    "text",
    [
        "What needs to be done?",
        "Search for recipes, stores and more",
        "Every other week there is a meeting",
        "",
    ],
)
def test_a_long_text_that_has_the_letters_somewhere_is_another_one(text: str) -> None:
    assert not is_derived_from(PASSWORD, text)
