"""Labels in disguise: the net and the rules see what a person sees, a permission sees what is written."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from handrail.safety.labels import committing_effect, lookalike_forms
from handrail.safety.subject import TouchedElement
from handrail.screen.node import touchable
from handrail.screen.parse import parse
from tests.cases import each
from tests.corpus import CORPUS, needs_corpus
from tests.fuzz.labels import ordinary, rules, run
from tests.unit.safety.authorizing import PAY, Office, play, shop
from tests.unit.safety.policy_subjects import button, policy, subject

SLIPPED = {
    "Cyrillic look-alikes": "Рау now",
    "all of it Cyrillic": "Рау",
    "Hangul filler": "P\u3164ay now",
    "braille blank": "Pay\u2800now",
    "small capitals": "ᴘᴀʏ ɴᴏᴡ",
    "spaced letters": "P a y   n o w",
    "dotted letters": "P.a.y",
    "invisible separator": "Pay\u2063now",
    "invisible separator between words": "Please confirm payment\u200bnow",
    "more than nine words": "Now one more touch and you are done: confirm payment with us",
    "struck through": "P\u0336a\u0336y\u0336 now",
    "squares": "🅿🅰🆈",
    "flags": "🇵🇦🇾",
    "mathematics": "𝗣𝗮𝘆 𝗻𝗼𝘄",
    "circles": "Ⓟⓐⓨ",
    "a poster": "PΛY",
    "a chat room": "P@y n0w",
    "rn for m": "Confirrn payrnent",
    "an l for an I": "Pay biIl",
    "an amount in other letters": "Рау 13 ЕUR",
    "Latin in Russian": "Oплaтить",
    "an answer in disguise": "ОК",
}


@each("label", SLIPPED.values(), ids=SLIPPED)
def test_a_disguise_that_slipped_the_net_is_caught(label: str) -> None:
    assert committing_effect(button(label, around=("Delete account?",) if len(label) == 2 else ()))


@each("label", ordinary())
def test_an_ordinary_label_stays_free(label: str) -> None:
    assert committing_effect(button(label)) is None


def test_no_grave_label_hides_behind_a_random_disguise() -> None:
    assert min(run(1_500, seed=17).values()) > 30


@pytest.mark.slow
def test_no_grave_label_hides_behind_a_random_disguise_however_often_it_tries() -> None:
    run(30_000, seed=1_717)


def test_a_limit_by_label_sees_through_a_disguise_and_a_permission_does_not_look() -> None:
    rules(60, seed=17)


@pytest.mark.slow
def test_no_limit_by_label_is_passed_by_a_random_disguise() -> None:
    rules(3_000, seed=1_717)


@each(
    ("pattern", "label"),
    [
        ("Pay*", "Рay now"),
        ("Pay*", "P a y now"),
        ("*order", "Place 0rder"),
        ("/^confirm (the )?order/", "Ϲonfirm  the\u200b оrder"),
        ("/\\bpay\\b/", "ⓟⓐⓨ now"),
        ("/оплатить/", "Oплaтить сейчас"),
        ("Оплатить*", "Oплaтить сейчас"),
        ("Оплатить*", "ОПЛАТИТЬ СЕЙЧАС"),
        ("支付*", "支\u3164付"),
        ("確定", "確 定"),
        ("/[а-я]+ть/", "Oплaтить"),
    ],
)
def test_a_rule_matches_what_looks_like_its_pattern(pattern: str, label: str) -> None:
    made = policy(f"[[rule]]\nname = 'r'\nlabel = '{pattern}'\nverdict = 'deny'\n")
    assert made.decide(subject("tap", button(label))).rule == "r"


@each(
    ("pattern", "label"),
    [
        ("Pay *", "Payments"),
        ("Pay+*", "Payments"),
        ("+*", "Save"),
        ("/pay/", "Spa yoga"),
        ("/^(?!Cancel)/", "Cancel"),
        ("Pay", "Play"),
        ("*pay*", "Display"),
        ("A*", "Save"),
        ("Настройки", "Поиск"),
    ],
)
def test_a_limit_is_not_widened_beyond_what_looks_like_its_pattern(pattern: str, label: str) -> None:
    made = policy(f"[[rule]]\nname = 'r'\nlabel = '{pattern}'\nverdict = 'deny'\n")
    assert made.decide(subject("tap", button(label))).rule != "r"


@each("label", ["Ѕave", "S a v e", "Sa\u200bve", "ꜱᴀᴠᴇ", "Savе"])
def test_a_permission_is_for_the_text_and_not_for_what_looks_like_it(label: str) -> None:
    made = policy("[[rule]]\nname = 'r'\nlabel = 'Save'\nverdict = 'allow'\n")
    assert made.decide(subject("tap", button("Save"))).rule == "r"
    assert made.decide(subject("tap", button(label))).rule != "r"


def test_a_button_on_a_screen_is_asked_about_in_disguise(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        for number, label in enumerate(("Рау now", "P a y", "ᴘᴀʏ")):
            o.shows(shop(pay=label))(None)  # type: ignore[arg-type]
            task = asyncio.ensure_future(
                o.guard.authorize_named(await o.stage({**PAY, "target": {"id": "pay"}}))
            )
            one = await o.question(task)
            assert one.request.label == label
            await o.approvals.answer(one.id, False, "lena")
            await asyncio.wait({task})
            o.lock = asyncio.Lock()
            assert len(await o.approvals.history()) == number + 1

    play(tmp_path, story)


def test_a_long_text_costs_little_and_nothing_makes_it_cost_much() -> None:
    began = time.process_time()
    for text in (
        "a " * 20_000,
        "ab" * 20_000,
        "_ " * 20_000,
        "Рау " * 5_000,
        "\u0336" * 20_000,
        "1I|l" * 5_000,
    ):
        committing_effect(TouchedElement(label=text))
        lookalike_forms(text)
    assert time.process_time() - began < 5


@needs_corpus
def test_real_screens_are_hardly_ever_asked_about() -> None:
    """The alarms: "GO LIVE", "Confirm Booking", "签名" of an archive, "Save a post to read later …"."""
    assert CORPUS is not None
    elements = alarms = 0
    for file in sorted(CORPUS.rglob("*.xml")):
        if "outputs" in file.parts:
            continue
        try:
            shown = parse(file.read_bytes())
        except Exception:  # broken on purpose, or of a kind that needs its name
            continue
        for node in filter(touchable, shown.nodes):
            elements += 1
            alarms += committing_effect(TouchedElement.of(shown, node)) is not None
    assert elements > 1_000
    assert alarms <= elements / 100
