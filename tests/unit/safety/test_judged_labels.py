"""Labels of real buttons in 62 languages, which were written before the table of words and apart from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from handrail.safety.labels import committing_effect
from tests.unit.safety.policy_subjects import button

MISSED = {
    "Al": "Azerbaijani for *buy* is a word of Spanish, Italian and Turkish",
    "Bit": "a wallet whose name is a word",
    "Saya": "Hausa for *buy* is Indonesian for *me*, the name of a tab",
    "カートに入れて購入": "a label that begins with something harmless",
}
NEEDLESS = {"Poster": "French for *to post*"}


def judged() -> Iterator[tuple[str, str, str]]:
    """Language, effect and label."""
    text = Path(__file__).with_name("judged_labels.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            head, _, labels = line.partition(": ")
            language, _, effect = head.partition(" ")
            for label in labels.split(" | "):
                yield language, effect, label


def test_every_label_that_commits_to_something_is_asked_about() -> None:
    unasked = {
        label
        for _, effect, label in judged()
        if effect != "free" and committing_effect(button(label)) is None
    }
    assert unasked == MISSED.keys()


def test_no_ordinary_label_is_asked_about() -> None:
    asked = {label for _, effect, label in judged() if effect == "free" and committing_effect(button(label))}
    assert asked == NEEDLESS.keys()


def test_a_question_says_what_the_label_does() -> None:
    """Two effects may fit one label: "Erase everything" deletes an account and for good."""
    others = [
        label
        for _, effect, label in judged()
        if effect != "free" and committing_effect(button(label)) not in (effect, None)
    ]
    assert len(others) <= 5, others


def test_the_judge_knows_enough() -> None:
    labels = Counter(language for language, effect, _ in judged() if effect != "free")
    assert labels["en"] >= 137
    assert len(labels) >= 41
    assert min(labels.values()) >= 3
