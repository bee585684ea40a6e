"""What a text looks like to a person: the same for "Pay", "Рау", "P a y", "ᴘᴀʏ", "🅿🅰🆈" and "P@y".

Two readings of a letter that another alphabet draws like a Latin one: in its own word it stays what it is, in
a Latin word it is the Latin letter. Limits see these forms beside the text; a permission sees the text alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from handrail.engine.policy.lookalikes import LOOKALIKES

_READ_AS = {char: letter for letter, chars in LOOKALIKES.items() for char in chars}
_READ_FIRST = str.maketrans(
    {"ı": "i"} | {char: to for char, to in _READ_AS.items() if unicodedata.normalize("NFKC", char) != char}
)
"""What NFKC would turn into another letter than the one that is seen."""
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800\ufffc")
"""Letters and signs that draw nothing, besides those that Unicode calls formats."""
_MODIFIERS = frozenset("々〆〻ゝゞヽヾー")
"""Of the letters that modify others, those that are written as letters."""
_NAMED = re.compile(
    r"(?:NEGATIVE |SQUARED |CIRCLED |PARENTHESIZED )*"
    r"(?:LATIN (?:SMALL |CAPITAL )?LETTER (?:SMALL CAPITAL |DOTLESS )?|REGIONAL INDICATOR SYMBOL LETTER )"
    r"([A-Z])"
)
_SIGNS = str.maketrans("@$¥€£¢!|", "asyelcll")
_AS_LETTER = re.compile(r"[@$¥€£]+(?=[^\W\d_])|(?<=[^\W\d_])(?:[@$¥€£¢!|]+(?=[^\W\d_])|[@$¥€]+(?!\s*\d))")
"""Signs that stand for letters: before one, between two or at the end, and never beside an amount."""
_BARS = re.compile("[I|ıɩɪіӏΙІӀǀⅼⅠⅰƖ]")
"""Strokes that may be an i or an l."""
_DIGITS = str.maketrans("013457", "oleast")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_])+(?![^\W_])")
_PLAIN = re.compile(r"(?:(?:[A-Za-z]{2,}+|[0-9]++)(?: |$))*+")
"""Words with one space between them: as long as no letter stands alone, nothing looks like something else."""


def unmarked(text: str) -> str:
    """Without accents, overlays, enclosures and formats; letters of all styles are ordinary ones."""
    parted = unicodedata.normalize("NFKD", text.translate(_READ_FIRST))
    kept = "".join(" " if _is_blank(char) else char for char in parted if not _is_mark(char))
    return unicodedata.normalize("NFKC", kept)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Me")


def _is_blank(char: str) -> bool:
    """Draws nothing: it parts nothing that belongs together, and may stand for a space."""
    return char in _FILLERS or unicodedata.category(char) in ("Cf", "Cc", "Co", "Cn", "Cs")


@cache
def _drawn_like(char: str) -> str | None:
    """The letter that it is drawn like; what is left of a letter with a stroke or hook is that letter."""
    if char in _READ_AS or char.upper() in _READ_AS:
        return _READ_AS.get(char) or _READ_AS[char.upper()]
    name = unicodedata.name(char, "").partition(" WITH ")
    if found := _NAMED.fullmatch(name[0]):
        return found[1].lower()
    if name[1]:
        try:
            base = unicodedata.lookup(name[0])
        except KeyError:
            return None
        return _drawn_like(base) or base.casefold()
    return None


@cache
def _letter(char: str, own: bool) -> str:
    """`own`: as in a word of its own alphabet, where large and small Cyrillic must be the same letter."""
    if char.isascii():
        return char.lower()
    if (value := unicodedata.decimal(char, None)) is not None:
        return str(value)
    like = _drawn_like(char)
    if like is None or (own and "\u0400" <= char <= "\u04ff" and like != _drawn_like(char.swapcase())):
        return char.casefold()
    return like if own or like.isascii() else _drawn_like(like) or like


def letters(text: str, *, own: bool) -> str:
    """Every letter as it is read; signs and spaces stay."""
    return "".join(_letter(char, own) for char in text)


def is_written(char: str) -> bool:
    """Part of a word; everything else parts words."""
    if char.isascii():
        return char.isalnum()
    kind = unicodedata.category(char)
    return kind == "Mc" or (kind[0] in "LN" and (kind != "Lm" or char in _MODIFIERS))


def tokens(text: str) -> list[str]:
    """The words of a text that `letters` has read, each in the form that is compared."""
    signed = _AS_LETTER.sub(lambda found: found[0].translate(_SIGNS), text)
    words = "".join(char if is_written(char) else " " for char in signed).split()
    return [_word(word) for word in words]


def _word(word: str) -> str:
    if not word.isalpha() and any(map(str.isalpha, word)):
        word = word.translate(_DIGITS)  # a digit among letters; a number of its own is a number
    return joined(word.replace("i", "l"))


def joined(word: str) -> str:
    """Letters that are drawn alike when they stand side by side."""
    return word.replace("rn", "m").replace("vv", "w")


def readings(text: str) -> list[str]:
    """A text that has no marks any more, in each way to read its letters: first as in its own alphabet."""
    own = letters(text, own=True)
    return [own] if text.isascii() else list(dict.fromkeys((own, letters(text, own=False))))


@lru_cache(maxsize=4_000)
def likenesses(text: str) -> tuple[str, ...]:
    """The text and what it looks like, in small letters, with its spaces and signs: for patterns."""
    if _PLAIN.fullmatch(text):
        return (text,)
    found: dict[str, None] = {text: None}
    for bare in (unmarked(text), unmarked("".join(char for char in text if not _is_blank(char)))):
        for bars in ("i", "l") if _BARS.search(bare) else ("",):
            for way in readings(_BARS.sub(bars, bare) if bars else bare):
                for each in _closings(way):
                    signed = _AS_LETTER.sub(lambda one: one[0].translate(_SIGNS), each)
                    found |= dict.fromkeys((each, signed, " ".join(map(_undigited, signed.split(" ")))))
    return tuple(found)


def _closings(text: str) -> Iterator[str]:
    """The text; with one space wherever words are parted; and with letters that stand apart as one word."""
    yield " ".join(text.split())
    yield " ".join("".join(char if is_written(char) else " " for char in text).split())
    yield _SPACED.sub(lambda found: "".join(filter(is_written, found[0])), text)
    parts = (re.split(r"[\W_]", part) for part in re.split(r"[\W_]{2,}", text))
    yield " ".join("".join(part) if max(map(len, part)) == 1 else " ".join(part) for part in parts)


def read_alone(text: str) -> str:
    """The letters of a pattern that are not ASCII, as they are read; what steers a pattern stays."""
    return "".join(char if char.isascii() else letters(unmarked(char), own=True) for char in text)


def _undigited(word: str) -> str:
    has_both = any(map(str.isalpha, word)) and any(map(str.isdigit, word))
    return word.translate(_DIGITS) if has_both else word


def squeezed(text: str) -> str:
    """Only what is written, in the form that is compared: without spaces nothing can be spaced."""
    return joined("".join(tokens(text)))
