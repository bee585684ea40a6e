"""Labels that pay, send money, delete, sign or post publicly; and those that only look so."""

import tomllib
from importlib.resources import files

import pytest

from handrail.safety.labels import committing_effect, comparable_form
from handrail.safety.policy import Policy
from handrail.safety.subject import TouchedElement
from tests.cases import each
from tests.unit.safety.policy_subjects import box, button, find, node, push, screen, subject


@each(
    "label",
    [
        "Pay",
        "Pay now",
        "PAY €12.50",
        "Pay 12,50 €",
        "Buy now",
        "Place your order",
        "Confirm payment",
        "1-Click buy",
        "Subscribe for $4.99 a month",
        "Pay with card",
        "Order · Pay",
        "Slide to pay",
        "Pa\u200by",
        "Jetzt kaufen",
        "Zahlungspflichtig bestellen",
        "Payer 12 €",
        "Confirmer l’achat",
        "PAGAR AHORA",
        "Finalizar compra",
        "Acquista ora",
        "Nu betalen",
        "Zapłać",
        "Оплатить",
        "SATIN AL",
        "支払う",
        "确认付款",
        "結帳 · 付款",
        "결제하기",
        "भुगतान करें",
        "ادفع الآن",
    ],
)
def test_a_label_that_pays_is_known(label: str) -> None:
    assert committing_effect(button(label)) == "pays"


@each(
    "label",
    [
        "Send money",
        "Transfer money",
        "Send $20",
        "Überweisen",
        "Geld senden",
        "Enviar dinero",
        "送金する",
        "转账",
    ],
)
def test_a_label_that_sends_money_is_known(label: str) -> None:
    assert committing_effect(button(label)) == "sends money"


@each(
    "label",
    [
        "Delete account",
        "Delete my account…",
        "Permanently delete account",
        "Konto löschen",
        "Supprimer mon compte",
        "Eliminar cuenta",
        "Удалить аккаунт",
        "アカウントを削除",
        "注销账号",
        "계정 삭제",
        "Erase all data (factory reset)",
    ],
)
def test_a_label_that_deletes_an_account_is_known(label: str) -> None:
    assert committing_effect(button(label)) == "deletes an account"


@each("label", ["Post", "Tweet", "Publish now", "Veröffentlichen", "Publier", "投稿する", "发布"])
def test_a_label_that_posts_publicly_is_known(label: str) -> None:
    assert committing_effect(button(label)) == "posts publicly"


@each(
    "label",
    [
        "Play",
        "Display",
        "Delete draft",
        "Delete",
        "Payment methods",
        "Google Pay settings",
        "PayPal help",
        "Log in with PayPal",
        "Paid",
        "Paying",
        "Repay",
        "Posts",
        "Post office",
        "Blog posts",
        "Send message",
        "Send",
        "Buy stamps",
        "Buyer protection",
        "Order history",
        "Transfer files",
        "Account",
        "Add account",
        "Price: $12",
        "Cart · $12.50",
        "Share",
        "Public transport",
        "Total 12,50 €",
        "Kaufhaus",
        "Payer information",
        "Spielen",
        "Übersicht",
        "Save",
        "Cancel",
        "",
        "支付方式",
        "帮助",
    ],
)
def test_an_ordinary_label_is_left_alone(label: str) -> None:
    assert committing_effect(button(label)) is None


def test_every_language_of_the_table_has_words_for_paying_sending_and_deleting() -> None:
    words = tomllib.loads(files("handrail.safety").joinpath("label_words.toml").read_text(encoding="utf-8"))
    languages = words.keys() - {"wallets", "currencies"}
    assert len(languages) > 60
    for language in languages:
        keys = words[language].keys()
        assert keys >= {"buy", "erase", "account"}, language
        assert keys & {"move", "money"}, language


def test_an_answer_is_judged_by_what_it_answers() -> None:
    asked = ("Delete account?", "This can't be undone.")
    assert committing_effect(button("OK", around=asked)) == "deletes an account"
    assert committing_effect(button("", around=asked)) == "deletes an account"
    assert committing_effect(button("OK", around=("Draft saved",))) is None


def test_the_text_in_a_dialog_is_what_its_buttons_answer() -> None:
    shown = screen(
        box(
            node("Delete account?"),
            node("All your letters will be lost."),
            box(push("Cancel"), push("OK")),
        )
    )
    ok = TouchedElement.of(shown, find(shown, "OK"))
    assert ok.around == ("Delete account?", "All your letters will be lost.")
    assert Policy().decide(subject("tap", ok)).kind == "ask"
    assert Policy().decide(subject("tap", TouchedElement.of(shown, find(shown, "Cancel")))).kind == "allow"


def test_a_button_beside_another_one_is_not_judged_by_it() -> None:
    shown = screen(box(node("Total 12.50"), box(push("Cancel"), push("Pay now"))))
    assert Policy().decide(subject("tap", TouchedElement.of(shown, find(shown, "Cancel")))).kind == "allow"
    assert Policy().decide(subject("tap", TouchedElement.of(shown, find(shown, "Pay now")))).kind == "ask"


def test_a_text_inside_a_tappable_row_is_the_row() -> None:
    shown = screen(box(box(node("Pay now"), node("with your card"), clickable="true")))
    inside = TouchedElement.of(shown, find(shown, "with your card"))
    assert "Pay now" in inside.names
    assert Policy().decide(subject("tap", inside)).kind == "ask"


def test_an_icon_is_judged_by_its_description() -> None:
    shown = screen(box(push("", content_desc="Send money", resource_id="a:id/go")))
    icon = TouchedElement.of(shown, shown.nodes[-1])
    assert (icon.label, icon.id) == ("Send money", "a:id/go")
    assert Policy().decide(subject("tap", icon)).kind == "ask"


def test_what_a_field_holds_is_not_its_name() -> None:
    field = node("pay now", kind="android.widget.EditText", clickable="true", content_desc="Message")
    shown = screen(box(field))
    typed = TouchedElement.of(shown, find(shown, "pay now"))
    assert Policy().decide(subject("tap", typed)).kind == "allow"


def test_a_list_of_letters_does_not_make_a_button_dangerous() -> None:
    letters = box(node("pay now"), scrollable="true")
    shown = screen(box(letters, box(node("Draft"), push("OK"))))
    assert Policy().decide(subject("tap", TouchedElement.of(shown, find(shown, "OK")))).kind == "allow"


def test_a_whole_page_that_takes_touches_is_not_a_button() -> None:
    texts = [node(f"Line {number}") for number in range(12)]
    shown = screen(box(*texts, node("Pay now"), clickable="true"))
    assert Policy().decide(subject("tap", TouchedElement.of(shown, find(shown, "Line 3")))).kind == "allow"


def test_a_password_field_never_tells_what_it_holds() -> None:
    field = node(
        "hunter2", kind="android.widget.EditText", password="true", clickable="true", content_desc="hunter2"
    )
    shown = screen(box(field))
    resolved = TouchedElement.of(shown, find(shown, "hunter2"))
    assert resolved.password
    assert "hunter2" not in repr(resolved)


@each(
    "label",
    [
        "Pay 13 EUR",
        "Pay EUR 13",
        "Pay 13EUR",
        "Pay €13",
        "Pay € 13",
        "Pay 13€",
        "Pay R$ 13",
        "Pay 1'300.50 kr",
        "Top up $5",
        "Top up for $5",
        "Subscribe: $5 per month",
        "Satın al",
        "pay",
        "请您确认付款",
    ],
)
def test_an_amount_beside_the_word_is_no_disguise(label: str) -> None:
    assert committing_effect(button(label)) == "pays"


@each("label", ["Top up", "Top up 5", "13", "From $5", "$5 off", "$5 – $10", "Price $5", "5 EUR left"])
def test_what_is_no_amount_or_no_word_commits_to_nothing(label: str) -> None:
    assert committing_effect(button(label)) is None


@each(
    "label",
    ["$4.99", "4,99 €", "₹ 499", "R$ 10", "¥1,200", "USD 5", "99 kr", "1.200 ₫", "５００円", "$9.99 / month"],
)
def test_an_amount_on_a_button_pays_and_elsewhere_it_is_a_price(label: str) -> None:
    assert committing_effect(button(label)) == "pays"
    assert committing_effect(button(label, role="text_view")) is None


@each(
    "label",
    [
        "Apple Pay",
        "Buy with G Pay",
        "PayPal",
        "Continue with PayPal",
        "Klarna.",
        "微信支付",
        "Swish",
        "Pay by UPI",
    ],
)
def test_a_wallet_pays(label: str) -> None:
    assert committing_effect(button(label)) == "pays"


@pytest.mark.parametrize(
    "label",
    [
        "1 2 3 4 5 6 7 8 confirm payment",
        "By touching this you tell us that you have read all of it and confirm payment of what is shown",
        "确认付款" + "好" * 40,
        "." * 500 + "Pay",
        "Please wait " * 100 + "delete my account " + "and so on " * 100,
    ],
)
def test_a_long_label_hides_nothing(label: str) -> None:
    """Until now more than nine words slipped the net. A text that only explains is asked about too."""
    assert committing_effect(button(label))


def test_phrases_are_compared_without_case_accents_signs_and_spaces() -> None:
    assert comparable_form("Zahlen  Sie!") == comparable_form("zahlen sie") == "zahlensle"
    assert comparable_form("ÜBERWEISEN") == "uberwelsen"
