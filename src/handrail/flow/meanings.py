"""What the words on a button promise. Two labels of one meaning may follow each other; of two, never."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

_WEIGHTY = frozenset({"remove", "refuse", "send", "pay", "leave", "block", "disable", "end"})
"""Meanings that nobody may slip into from a label that meant nothing in particular."""
_PHRASES = re.compile(r"\b(log|sign|turn|look|hang) (in|on|out|off|up)\b")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NEGATED = re.compile(r"\b(?:don t|do not|not|nicht|ne pas) ")


@cache
def _meant() -> dict[str, frozenset[str]]:
    """The meanings of every word that has one."""
    families = tomllib.loads(files("handrail.flow").joinpath("meanings.toml").read_text(encoding="utf-8"))
    meant: dict[str, frozenset[str]] = {}
    for family, words in families.items():
        for word in words:
            meant[word] = meant.get(word, frozenset()) | {family}
    return meant


@lru_cache(maxsize=2_000)
def words_of(text: str) -> tuple[str, ...]:
    """Small words without signs; `saveButton`, `save_button` and "Save button" are the same."""
    apart = unicodedata.normalize("NFKC", _CAMEL.sub(" ", text)).casefold()
    plain = " ".join("".join(char if char.isalnum() else " " for char in apart).split())
    return tuple(_PHRASES.sub(r"\1\2", plain).split())


@lru_cache(maxsize=2_000)
def meanings_of(text: str) -> frozenset[str]:
    """The families of its words; what is negated is refused."""
    words = words_of(text)
    found = frozenset[str]().union(*(_meant().get(word, ()) for word in words))
    return frozenset({"refuse"}) if found and _NEGATED.search(" ".join(words) + " ") else found


def may_follow(old: str, new: str) -> bool:
    """Whether a label may have become another one: the promise is the same, or neither promised anything."""
    was, now = meanings_of(old), meanings_of(new)
    if was and now:
        return not was.isdisjoint(now) and not (now - was) & _WEIGHTY and not (was - now) & _WEIGHTY
    return not (was | now) & _WEIGHTY
