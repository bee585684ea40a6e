"""A test that fails on purpose, to show what pytest prints then: `pytest examples/pytest/test_fails.py`."""

import pytest

from handrail.sync import BlockingPhone


@pytest.mark.handrail(app="com.google.android.contacts")
def test_a_button_that_is_not_there(phone: BlockingPhone) -> None:
    phone.tap("Create new contact")
    phone.type_text("Ada", target="First name")
    phone.tap("Safe")
