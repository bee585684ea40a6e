"""Which labels pay, send money, delete an account or post publicly.

A guess by words, made to miss little and to leave "Play", "Display" and "Delete draft" alone. Whoever needs
certainty writes a rule.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from handrail.engine.policy.subject import Resolved
from handrail.engine.policy.words import ANSWERS, PHRASES

KINDS = ("pays", "sends money", "deletes an account", "posts publicly")
_MOST_WORDS = 9
"""A longer text explains; it is not what a button is called."""
_MOST_DENSE = 16
"""The same in characters, for scripts that write no spaces."""

_LONGEST = 200
"""Characters of a label that are looked at."""

_MONEY = "[$€£¥₹₽₩₺₴฿₫₦₱]"
_CODE = "(?:usd|eur|gbp|chf|jpy|cny|inr|rub|brl|cad|aud|pln|zł|try|tl|kr|sek|nok|dkk|rs|btc|eth|円|元|원)"
_NUMBER = r"\d[\d.,'\u00a0\u202f ]*"
_PRICE = re.compile(
    rf"(?:r|us|a|c|hk|nt)?{_MONEY}\s*{_NUMBER}|{_NUMBER}\s*{_MONEY}|\b{_CODE}\s*{_NUMBER}|{_NUMBER}\s*{_CODE}(?!\w)"
)
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PERIOD = re.compile(r"\b(?:for|in|per|a|month|year|week|mo|yr)\b")


def what_it_does(one: Resolved) -> str | None:
    """Such as "pays"; None for an ordinary element."""
    for name in one.names:
        if found := _of_label(name):
            return found
    if one.around and (not one.label or _plain(one.label)[0] in ANSWERS):
        return next(filter(None, map(_of_label, one.around)), None)
    return None


@lru_cache(maxsize=4_000)
def _of_label(label: str) -> str | None:
    for piece in dict.fromkeys((label, *label.split(" · "))):
        said, has_price = _plain(piece[:_LONGEST])
        for kind in KINDS:
            if said and _says(kind, said, has_price):
                return kind
    return None


def _plain(label: str) -> tuple[str, bool]:
    """Small letters without accents, single spaces, no signs; and whether an amount of money was in it."""
    # Decomposed, accents are characters of their own; "İ", "ı" and "i" are one letter on a shouting button.
    parted = unicodedata.normalize("NFKD", label.replace("ı", "i")).casefold()
    kept = "".join(char for char in parted if unicodedata.category(char) not in ("Mn", "Cf"))
    text, prices = _PRICE.subn(" ", unicodedata.normalize("NFKC", kept))
    words = "".join(char if char.isalnum() or unicodedata.category(char) == "Mc" else " " for char in text)
    return " ".join(words.split()), prices > 0


def compared(phrases: Iterable[str]) -> list[str]:
    """Phrases of `words.toml` as labels are compared with them; `words.py` holds the result."""
    return sorted({_plain(phrase)[0] for phrase in phrases})


def _says(kind: str, said: str, has_price: bool) -> bool:
    if said in PHRASES[kind, "alone"]:
        return True
    if has_price and " ".join(_PERIOD.sub("", said).split()) in PHRASES[kind, "with_price"]:
        return True
    anywhere = PHRASES[kind, "anywhere"]
    if _DENSE.search(said):
        return len(said) <= _MOST_DENSE and any(phrase in said for phrase in anywhere)
    return not anywhere.isdisjoint(_runs(said))


@lru_cache(maxsize=64)
def _runs(said: str) -> frozenset[str]:
    """Every run of neighbouring words in a short label: each is looked up, whatever the number of phrases."""
    words = said.split(" ")
    if len(words) > _MOST_WORDS:
        return frozenset()
    return frozenset(
        " ".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)
    )
