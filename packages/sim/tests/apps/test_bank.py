"""Signing in with a code from an SMS, and moving money."""

import pytest

from handrail_sim.apps.bank import CUSTOMER, PASSWORD, money, read_amount
from tests.apps.person import Person

BANK = "com.handrail.bank"


def signed_in_up_to_the_code() -> Person:
    person = Person("bank", "messages")
    person.open(BANK)
    person.type(CUSTOMER, "customer")
    person.type(PASSWORD, "password")
    person.tap("Sign in")
    person.wait(3500)
    return person


def code_from_sms(person: Person) -> str:
    """What a person reads in the message: six digits at its beginning."""
    texts = [record.text for record in person.phone.notifications.posted]
    return next(text for text in texts if "Harbour Bank code" in text)[:6]


def signed_in() -> Person:
    person = signed_in_up_to_the_code()
    person.type(code_from_sms(person), "code")
    person.tap("Continue")
    person.wait(500)
    return person


def test_password_and_code_open_the_accounts() -> None:
    person = signed_in()
    assert person.sees("Everyday account")
    assert person.state(BANK)["signed_in"]


def test_a_wrong_password_is_refused_and_three_lock_the_form() -> None:
    person = Person("bank")
    person.open(BANK)
    person.type(CUSTOMER, "customer")
    person.type("guess", "password")
    for _ in range(3):
        person.tap("Sign in")
        person.wait(1500)
        assert person.sees("Customer number or password is wrong.")
    person.tap("Sign in")
    assert person.sees("Too many attempts. Try again in a moment.")


def test_a_wrong_code_is_refused() -> None:
    person = signed_in_up_to_the_code()
    person.type("12", "code")
    person.tap("Continue")
    assert person.sees("That code is not right.")
    assert not person.state(BANK)["signed_in"]


def test_the_password_is_never_in_the_dump() -> None:
    person = Person("bank")
    person.open(BANK)
    person.type("open-sesame", "password")
    assert "open-sesame" not in person.phone.dump()


def test_only_the_screens_behind_the_password_are_secure() -> None:
    person = Person("bank")
    person.open(BANK)
    assert not any(window.secure for window in person.phone.windows())
    person = signed_in()
    assert any(window.secure for window in person.phone.windows())


def test_a_secure_screen_is_black_in_a_picture_and_whole_in_a_dump() -> None:
    person = signed_in()
    person.wait(8000)
    image = person.phone.frame().image().convert("RGB")
    middle = image.crop((0, 400, image.width, 1900))
    assert middle.getextrema() == ((0, 0), (0, 0), (0, 0))
    assert person.sees("Everyday account")


def test_a_transfer_moves_money_only_after_the_confirmation() -> None:
    person = signed_in()
    before = person.state(BANK)["accounts"][0]["cents"]
    person.tap("Transfer money")
    person.type("Savings", "payee")
    person.type("12.50", "amount")
    person.scroll_to("Review")
    person.tap("Review")
    assert person.state(BANK)["accounts"][0]["cents"] == before
    person.tap("confirm")
    person.wait(2000)
    assert person.sees("Transfer sent")
    cents = [account["cents"] for account in person.state(BANK)["accounts"]]
    assert cents[0] == before - 1250
    assert cents[1] == 1_250_000 + 1250
    person.tap("Done")
    assert person.sees("Transfer money")


def test_more_than_there_is_can_not_be_sent() -> None:
    person = signed_in()
    person.tap("Transfer money")
    person.type("Una Birch", "payee")
    person.type("999999", "amount")
    person.scroll_to("Review")
    person.tap("Review")
    assert person.sees("There is not enough money in this account.")


def test_back_asks_before_it_signs_out() -> None:
    person = signed_in()
    person.back()
    person.tap("Sign out")
    assert not person.state(BANK)["signed_in"]
    assert person.sees("Sign in")


@pytest.mark.parametrize(
    ("typed", "cents"),
    [
        ("12", 1200),
        ("12.5", 1250),
        ("£1,200.05", 120005),
        ("12,50", 1250),
        ("x", None),
        ("", None),
        ("-3", None),
    ],
)
def test_amounts_are_read_as_people_write_them(typed: str, cents: int | None) -> None:
    assert read_amount(typed) == cents


def test_money_is_written_with_its_sign() -> None:
    assert money(-123456) == "−£1,234.56"
