"""Which labels pay, send money, delete an account or post publicly.

A guess by words, made to miss little and to leave "Play", "Display" and "Delete draft" alone. Whoever needs
certainty writes a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from handrail.engine.policy.skeleton import joined, readings, squeezed, tokens, unmarked
from handrail.engine.policy.subject import Resolved
from handrail.engine.policy.words import ANSWERS, PHRASES

KINDS = ("pays", "sends money", "deletes an account", "posts publicly")

_MONEY = "[$€£¥₹₽₩₺₴฿₫₦₱]"
_CODE = "(?:usd|eur|gbp|chf|jpy|cny|inr|rub|brl|cad|aud|pln|zl|try|tl|kr|sek|nok|dkk|rs|btc|eth|円|元|원)"
_NUMBER = r"\d[\d.,'\u00a0\u202f ]*"
_PRICE = re.compile(
    rf"(?:r|us|a|c|hk|nt)?{_MONEY}\s*{_NUMBER}|{_NUMBER}\s*{_MONEY}|\b{_CODE}\s*{_NUMBER}|{_NUMBER}\s*{_CODE}(?!\w)"
)
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PERIOD = frozenset({"for", "ln", "per", "a", "month", "year", "week", "mo", "yr"})
"""Words beside an amount that change nothing, as they are compared."""


def what_it_does(one: Resolved) -> str | None:
    """Such as "pays"; None for an ordinary element."""
    for name in one.names:
        if found := _of_label(name):
            return found
    if one.around and is_answer(one.label):
        return next(filter(None, map(_of_label, one.around)), None)
    return None


@lru_cache(maxsize=4_000)
def is_answer(label: str) -> bool:
    """Whether it only says yes to what stands beside it."""
    return not label or any(squeezed(said) in ANSWERS for said in readings(unmarked(label)))


@lru_cache(maxsize=4_000)
def _of_label(label: str) -> str | None:
    for piece in dict.fromkeys((label, *label.split(" · "))):
        for read in readings(unmarked(piece)):
            text, prices = _PRICE.subn(" ", read)
            said = tokens(text)
            for kind in KINDS:
                if said and _says(kind, said, prices > 0):
                    return kind
    return None


def compared(phrases: Iterable[str]) -> list[str]:
    """Phrases of `words.toml` as labels are compared with them; `words.py` holds the result."""
    return sorted({squeezed(readings(unmarked(phrase))[0]) for phrase in phrases})


def _says(kind: str, said: Sequence[str], has_price: bool) -> bool:
    whole = joined("".join(said))
    if whole in PHRASES[kind, "alone"]:
        return True
    if has_price:
        rest = joined("".join(word for word in said if word not in _PERIOD))
        if rest in PHRASES[kind, "with_price"]:
            return True
    anywhere = PHRASES[kind, "anywhere"]
    if any(run in anywhere for run in _runs(tuple(said))):
        return True
    return bool(_DENSE.search(whole)) and any(phrase in whole for phrase in _dense(kind))


@lru_cache
def _dense(kind: str) -> list[str]:
    """Phrases in scripts that write no spaces: they may stand in the middle of others."""
    return [phrase for phrase in PHRASES[kind, "anywhere"] if _DENSE.search(phrase)]


_LONGEST = max(len(phrase) for phrases in PHRASES.values() for phrase in phrases)


@lru_cache(maxsize=64)
def _runs(said: tuple[str, ...]) -> frozenset[str]:
    """Every run of neighbouring words that may be a phrase, joined: a word may have been taken apart."""
    found = set()
    for start in range(len(said)):
        run = ""
        for word in said[start:]:
            run = joined(run + word)
            if len(run) > _LONGEST:
                break
            found.add(run)
    return frozenset(found)
