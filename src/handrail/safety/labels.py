"""What a label looks like to a person, and which labels pay, send money, delete, sign or post publicly.

"Pay", "Рау", "P a y", "ᴘᴀʏ", "🅿🅰🆈" and "P@y" look the same. A letter that another alphabet draws like a
Latin one has two readings: a letter of its own alphabet, and, in a Latin word, the Latin letter.
Limits see these forms beside the text; a permission sees the text alone. The effect of a label is a guess by
words, made to miss little and to leave "Play", "Display" and "Delete draft" alone; a rule is certain.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from handrail.screen.text import CharacterTable

if TYPE_CHECKING:
    from handrail.safety.subject import TouchedElement

_WORDS = Path(__file__).with_name("label_words.toml")
WORD_FORMS = _WORDS.with_name("label_forms.json")
"""What `word_forms` makes of the table of words. `build_stubs.py` writes it; it takes 300 ms."""
_LOOKALIKES = Path(__file__).with_name("lookalikes.txt").read_text(encoding="utf-8").splitlines()
"""A letter, and letters that are read as it, without what NFKC joins. `docs/lookalikes.py` writes it."""
_READ_AS = {char: letter for letter, chars in map(str.split, _LOOKALIKES) for char in chars}
_READ_FIRST = str.maketrans(
    {"ı": "i"} | {char: to for char, to in _READ_AS.items() if unicodedata.normalize("NFKC", char) != char}
)
"""Letters that NFKC would turn into another letter than the one that people see."""
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800\ufffc")
"""Characters that draw nothing, besides those in Unicode's format category."""
_MODIFIERS = frozenset("々〆〻ゝゞヽヾー")
"""Characters of the category "modifier letter" that are written as letters."""
_NAMED = re.compile(
    r"(?:NEGATIVE |SQUARED |CIRCLED |PARENTHESIZED )*"
    r"(?:LATIN (?:SMALL |CAPITAL )?LETTER (?:SMALL CAPITAL |DOTLESS )?|REGIONAL INDICATOR SYMBOL LETTER )"
    r"([A-Z])"
)
_YES_SIGNS = frozenset(" \ufe0f✓✔☑✅👍👌🆗➔➜➡→⮕▶►⏎↵")
_SIGNS = str.maketrans("@$¥€£¢!|", "asyelcll")
_AS_LETTER = re.compile(r"[@$¥€£]+(?=[^\W\d_])|(?<=[^\W\d_])(?:[@$¥€£¢!|]+(?=[^\W\d_])|[@$¥€]+(?!\s*\d))")
"""Signs that stand for letters: before one, between two or at the end of a word, not beside an amount."""
_BARS = re.compile("[I|ıɩɪіӏΙІӀǀⅼⅠⅰƖ]")
"""Strokes that may be an i or an l."""
_NOT_WRITTEN = re.compile(r"[^0-9A-Za-z\n]")  # for ASCII; `is_written` decides about other characters
_DIGITS = str.maketrans("013457", "oleast")
_WITH_DIGIT = re.compile(r"(?<!\S)[^\s\d]*+\d\S*")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_])+(?![^\W_])")
_PLAIN = re.compile(r"(?:(?:[A-Za-z]{2,}+|[0-9]++)(?: |$))*+")
"""Words of at least two letters with one space between them have no other form."""


def strip_marks(text: str) -> str:
    """Removes accents, overlays, enclosures and formats; letters of all styles become plain ones."""
    if text.isascii() and text.isprintable():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(_READ_FIRST))
    return unicodedata.normalize("NFKC", parts.translate(_WITHOUT_MARKS))


def _is_blank(char: str) -> bool:
    """A character that draws nothing does not separate words, and may stand for a space."""
    return char in _FILLERS or _SEEN_AS.get(unicodedata.category(char)) == " "


_SEEN_AS = {"Mn": "", "Me": "", "Cf": " ", "Cc": " ", "Co": " ", "Cn": " ", "Cs": " "}
"""By Unicode's category: marks on a letter, and what draws nothing."""
_WITHOUT_MARKS = CharacterTable(
    lambda char: " " if char in _FILLERS else _SEEN_AS.get(unicodedata.category(char), char)
)


@cache
def _base_letter(char: str) -> str | None:
    """The letter that a character is drawn like. A letter with a stroke or hook is the plain letter."""
    if char in _READ_AS or char.upper() in _READ_AS:
        return _READ_AS.get(char) or _READ_AS[char.upper()]
    name = unicodedata.name(char, "").partition(" WITH ")
    if named := _NAMED.fullmatch(name[0]):
        return named[1].lower()
    if name[1]:
        try:
            base = unicodedata.lookup(name[0])
        except KeyError:
            return None
        return _base_letter(base) or base.casefold()
    return None


def _letter(char: str, own: str) -> str:
    """`own`: from which alphabet on a capital must equal its small letter, the words being their own."""
    if char.isascii():
        return char.lower()
    if (value := unicodedata.decimal(char, None)) is not None:
        return str(value)
    latin = _base_letter(char)
    if latin is None or (own <= char and latin != _base_letter(char.swapcase())):
        return char.casefold()
    return latin if own != NO_ALPHABET or latin.isascii() else _base_letter(latin) or latin


GREEK, CYRILLIC, NO_ALPHABET = "\u0370", "\u0400", "\U0010ffff"
"""In a Cyrillic word a Greek letter is a disguise; in a Greek word it is itself."""
_LETTERS = {own: CharacterTable(partial(_letter, own=own)) for own in (GREEK, CYRILLIC, NO_ALPHABET)}


def read_letters(text: str, *, own: str) -> str:
    """Every letter as it is read; signs and spaces stay."""
    return text.lower() if text.isascii() else text.translate(_LETTERS[own])


def is_written(char: str) -> bool:
    """True for a part of a word; every other character separates words."""
    if char.isascii():
        return char.isalnum()
    kind = unicodedata.category(char)
    return kind == "Mc" or (kind[0] in "LN" and (kind != "Lm" or char in _MODIFIERS))


_WRITTEN = CharacterTable(lambda char: char if is_written(char) or char == "\n" else " ")


def tokens(text: str) -> list[str]:
    """The words of a text after `read_letters`, each in the form that is compared."""
    return _comparable_words(text).split()


def _comparable_words(text: str) -> str:
    words = _words_only(_AS_LETTER.sub(lambda match: match[0].translate(_SIGNS), text))
    return join_letters(_WITH_DIGIT.sub(lambda match: _undigited(match[0]), words).replace("i", "l"))


def _words_only(text: str) -> str:
    """Replaces everything that is neither part of a word nor the end of a line by a space."""
    return _NOT_WRITTEN.sub(" ", text) if text.isascii() else text.translate(_WRITTEN)


def _undigited(word: str) -> str:
    """Digits among letters are read as letters; a number stays a number."""
    has_both = not word.isalpha() and any(map(str.isalpha, word)) and any(map(str.isdigit, word))
    return word.translate(_DIGITS) if has_both else word


def join_letters(word: str) -> str:
    """Letters that look like another one when they stand side by side."""
    return word.replace("rn", "m").replace("vv", "w")


def readings(text: str) -> list[str]:
    """Every way to read the letters of a text without marks: first as letters of its own alphabet."""
    if text.isascii():
        return [text.lower()]
    return list(dict.fromkeys(map(text.translate, _LETTERS.values())))


@lru_cache(maxsize=4_000)
def lookalike_forms(text: str) -> tuple[str, ...]:
    """The text and what it looks like, in small letters, with spaces and signs: for patterns."""
    if _PLAIN.fullmatch(text):
        return (text,)
    forms: dict[str, None] = {text: None}
    for bare in (strip_marks(text), strip_marks("".join(char for char in text if not _is_blank(char)))):
        for bars in ("i", "l") if _BARS.search(bare) else ("",):
            for reading in readings(_BARS.sub(bars, bare) if bars else bare):
                for spaced in _spacings(reading):
                    signed = _AS_LETTER.sub(lambda match: match[0].translate(_SIGNS), spaced)
                    forms |= dict.fromkeys((spaced, signed, " ".join(map(_undigited, signed.split(" ")))))
    return tuple(forms)


def _spacings(text: str) -> Iterator[str]:
    """With single spaces, with a space for each separator, and with spaced-out letters joined to a word."""
    yield " ".join(text.split())
    yield " ".join(_words_only(text).split())
    yield _SPACED.sub(lambda match: "".join(filter(is_written, match[0])), text)
    parts = (re.split(r"[\W_]", part) for part in re.split(r"[\W_]{2,}", text))
    yield " ".join("".join(part) if max(map(len, part)) == 1 else " ".join(part) for part in parts)


def read_pattern(text: str) -> str:
    """A pattern whose letters outside ASCII are replaced by what they are read as."""
    return "".join(char if char.isascii() else read_letters(strip_marks(char), own=CYRILLIC) for char in text)


def compact(text: str) -> str:
    """The words of each line of a text without spaces, in the form that is compared."""
    return join_letters(_comparable_words(text).replace(" ", ""))


EFFECTS = ("pays", "sends money", "deletes an account", "deletes for good", "signs", "posts publicly")
_ALONE = {"pay": 0, "buy": 0, "move": 1, "sign": 4, "post": 5}
_ANYWHERE = {"paid": 0, "sent": 1, "wiped": 2, "gone": 3, "signed": 4, "posted": 5}
_NEAR = {
    "order": (0, {"do", "pay", "buy"}),
    "money": (1, {"do", "send", "move"}),
    "account": (2, {"erase", "close"}),
    "all": (3, {"erase"}),
    "paper": (4, {"sign"}),
    "public": (5, {"post"}),
}
_PRICED = {"pay": 0, "buy": 0, "move": 1, "send": 1}
"""Keys of `label_words.toml` with the place of their effect in `EFFECTS`, and the keys that must be near."""
_WITH_WALLET = {"do", "pay", "buy", "send", "move"}
_MOST_BETWEEN = 2  # words between two that are near each other
_MOST_STRONG, _MOST_PRICED = 6, 8  # words of a label that `pay` opens or closes, and of one with an amount
_MOST_UNKNOWN = 3  # letters between known words of a text without spaces that count as one word
_MOST_INFLECTED = 12  # letters that a stem of the table may have beside it
_INFLECTED = "\ua78f"
"""Stands for the `*` of a stem or an ending. It is a letter that no language writes and no rule changes."""
_WALLET, _UNREAD = "\1", "\0"
"""Stand for a wallet's name and for a phrase that is not read. No word is written like them."""
_PIECES = re.compile(r" · |(?<=[.!?。！？])\s+")
"""Between parts of a label that are read by themselves."""
_MONEY = "[$¢£¤¥֏؋৲৳૱௹฿៛₠-⃏]"
_NUMBER = r"\d[\d.,'٫٬\u00a0\u202f ]*"
_DENSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts without spaces between words, and of Korean, whose words are compounds."""


class _Words(NamedTuple):
    """The phrases of `label_words.toml`, each in the form that is compared."""

    phrases: list[tuple[str, tuple[str, str]]]
    """Sorted by form; each with its (language, key)."""
    first: dict[str, int]
    """Where the phrases of a form begin."""
    longest: int
    price: re.Pattern[str]

    @classmethod
    @cache
    def load(cls) -> _Words:
        """Computed anew where the file of the build is missing or is made of other words or other code."""
        built: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            built = json.loads(WORD_FORMS.read_text(encoding="utf-8"))
        if built.get("source") != _source_of_forms():
            built = word_forms()
        meanings = zip(built["languages"], built["keys"], strict=True)
        rows = list(zip(built["forms"], meanings, strict=True))
        first = dict(zip(map(itemgetter(0), reversed(rows)), reversed(range(len(rows))), strict=True))
        return cls(rows, first, max(map(len, first)), re.compile(built["price"]))

    def meanings(self, form: str) -> Iterator[tuple[str, str]]:
        """(language, key) of every phrase of this form; for a stem or an ending with `_INFLECTED`."""
        at = self.first.get(form, len(self.phrases))
        while at < len(self.phrases) and self.phrases[at][0] == form:
            yield self.phrases[at][1]
            at += 1

    def meanings_of_word(self, word: str) -> Iterator[tuple[str, str]]:
        """Tries the parts of a word that is inflected or a compound."""
        for at in range(max(3, len(word) - _MOST_INFLECTED), len(word) + 1):
            yield from self.meanings(word[:at] + _INFLECTED)
        for at in range(1, min(len(word) - 2, _MOST_INFLECTED + 1)):
            yield from self.meanings(_INFLECTED + word[at:])

    def is_filler(self, word: str) -> bool:
        """True for a word that changes nothing beside another, such as "now", for a number and a wallet."""
        return word == _WALLET or word.isdigit() or any(key == "now" for _, key in self.meanings(word))

    def split(self, word: str) -> Iterator[str]:
        """The words in a text without spaces, the longest first; unknown letters are words of up to three."""
        if not _DENSE.search(word):
            yield word
            return
        at = unknown = 0
        while at < len(word):
            ends = range(min(len(word), at + self.longest), at, -1)
            end = next((end for end in ends if word[at:end] in self.first), 0)
            if unknown < at and (end or at - unknown == _MOST_UNKNOWN):
                yield word[unknown:at]
                unknown = at
            if end:
                yield word[at:end]
                unknown = end
            at = end or at + 1
        if unknown < at:
            yield word[unknown:]


def _source_of_forms() -> str:
    """Names what the forms are made of: the table, this code and Python's version of Unicode."""
    about = repr((_LOOKALIKES, unicodedata.unidata_version)).encode()
    parts = [_WORDS.read_bytes(), Path(__file__).read_bytes(), about]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def word_forms() -> dict[str, Any]:
    """`label_words.toml` in columns, each phrase in the form that is compared, and the pattern of a price.

    The whole table is read as one text: phrase by phrase takes ten times as long.
    """
    tables = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    currencies = tables.pop("currencies")["code"].split(", ")
    codes = "|".join(re.escape(readings(strip_marks(code))[0]) for code in currencies)
    before = rf"(?:\b[a-z]{{1,3}})?{_MONEY}|\b(?:{codes})\.?"
    price = rf"(?:{before})\s*{_NUMBER}|{_NUMBER}\s*(?:{_MONEY}|(?:{codes})(?![a-z]))"
    meanings = list[tuple[str, str]]()
    for language, keys in tables.items():
        for key, phrases in keys.items():
            meanings += [(language, key)] * (phrases.count(",") + 1)
    text = ",".join(chain.from_iterable(map(dict.values, tables.values()))).replace("*", _INFLECTED)
    forms = compact(read_letters(strip_marks(text), own=GREEK).replace(",", ",\n")).split("\n")
    rows = sorted((form, *meaning) for form, meaning in set(zip(forms, meanings, strict=True)))
    columns = dict(zip(("forms", "languages", "keys"), map(list, zip(*rows, strict=True)), strict=True))
    return {"source": _source_of_forms(), "price": price, **columns}


def comparable_form(phrase: str) -> str:
    """A phrase in the form that is compared: as it is read, without case, accents, signs and spaces."""
    return compact(readings(strip_marks(phrase))[0])


def committing_effect(element: TouchedElement) -> str | None:
    """One of `EFFECTS`; None for an ordinary element."""
    for name in element.names:
        if effect := _effect_of_label(name) or (element.is_drawn and _effect_of_label(_respaced(name))):
            return effect
    return (
        EFFECTS[0] if (element.role == "button" or element.is_drawn) and _is_amount(element.label) else None
    )


@lru_cache(maxsize=4_000)
def _respaced(label: str) -> str:
    """With a space between two known words written as one: a reader of pictures loses spaces."""
    first = _Words.load().first
    words = []
    for word in label.split():
        cuts = (at for at in range(2, len(word) - 1) if comparable_form(word[:at]) in first)
        at = next((at for at in cuts if comparable_form(word[at:]) in first), len(word))
        words += [word[:at], word[at:]]
    return " ".join(filter(None, words))


@lru_cache(maxsize=4_000)
def is_answer(label: str) -> bool:
    """True for a label that only says yes to the text beside it, and for one without words."""
    forms = map(compact, readings(strip_marks(label)))
    return set(label) <= _YES_SIGNS or any(
        key == "yes" for form in forms for _, key in _Words.load().meanings(form)
    )


@lru_cache(maxsize=4_000)
def _is_amount(label: str) -> bool:
    """True for a label that is a price and nothing else, as the button of a shop has it."""
    vocabulary = _Words.load()
    text, prices = vocabulary.price.subn(" ", readings(strip_marks(label))[0])
    return prices == 1 and all(map(vocabulary.is_filler, tokens(text)))


@lru_cache(maxsize=4_000)
def _effect_of_label(label: str) -> str | None:
    vocabulary = _Words.load()
    for piece in dict.fromkeys((label, *_PIECES.split(label))):
        for reading in readings(strip_marks(piece)):
            text, prices = vocabulary.price.subn(" ", reading)
            words = [part for word in tokens(text) for part in vocabulary.split(word)]
            if words and (effect := _effect_of_words(words, prices > 0)):
                return effect
    return None


class _Hit(NamedTuple):
    """A run of neighbouring words that the table has."""

    start: int
    end: int
    language: str
    key: str

    def is_around(self, other: _Hit) -> bool:
        """True for a longer phrase that the other is a part of, as "upi" is of "k u p i"."""
        is_longer = self.end - self.start > other.end - other.start
        return is_longer and self.start <= other.start and other.end <= self.end

    def does(self, thing: _Hit) -> bool:
        """True if the word does something to the thing, being near and of the same language."""
        between = max(self.start - thing.end, thing.start - self.end)
        is_near = 0 <= between <= _MOST_BETWEEN and self.language == thing.language
        return is_near and self.key in _NEAR[thing.key][1]


class _Hits(list[_Hit]):
    """The hits in a label, by the word that they begin with."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self.starts: list[int] = []
        vocabulary = _Words.load()
        for start, word in enumerate(words):
            self.starts.append(len(self))
            run = ""
            for end in range(start, len(words)):
                run = join_letters(run + words[end])
                if len(run) > vocabulary.longest:
                    break
                for language, key in vocabulary.meanings(run):
                    if key not in ("now", "yes"):
                        self.append(_Hit(start, end + 1, language, key))
            for language, key in vocabulary.meanings_of_word(word):
                self.append(_Hit(start, start + 1, language, key))

    def beside(self, hit: _Hit) -> list[_Hit]:
        """Those that could touch it: a run has no more words than the longest phrase has letters."""
        first = max(0, hit.start - _Words.load().longest)
        last = hit.end + _MOST_BETWEEN + 1
        return self[self.starts[first] : self.starts[last] if last < len(self.starts) else len(self)]


def _effect_of_words(words: list[str], has_price: bool) -> str | None:
    hits = _Hits(words)
    unread = [hit for hit in hits if hit.key in ("never", "name")]
    if masked := [hit for hit in unread if not any(other.is_around(hit) for other in hits.beside(hit))]:
        words = _mask(words, masked)
        hits = _Hits(words)
    is_filler = [_Words.load().is_filler(word) for word in words]
    alone = (_effect_of_hit(hit, is_filler, has_price) for hit in hits)
    effects = [effect for effect in alone if effect is not None]
    things = [hit for hit in hits if hit.key in _NEAR]
    effects += [_NEAR[thing.key][0] for thing in things if any(hit.does(thing) for hit in hits.beside(thing))]
    with_wallet = _WALLET in words and len(words) <= _MOST_PRICED
    if with_wallet and (all(is_filler) or any(hit.key in _WITH_WALLET for hit in hits)):
        effects.append(0)
    return EFFECTS[min(effects)] if effects else None


def _mask(words: list[str], hits: Sequence[_Hit]) -> list[str]:
    """Each wallet and each phrase that is not read becomes one word; of those that overlap, the longest."""
    marks: list[str | None] = list(words)
    for hit in sorted(hits, key=lambda hit: hit.start - hit.end):
        if marks[hit.start : hit.end] == words[hit.start : hit.end]:
            marks[hit.start : hit.end] = [None] * (hit.end - hit.start)
            marks[hit.start] = _WALLET if hit.key == "name" else _UNREAD
    return [mark for mark in marks if mark is not None]


def _effect_of_hit(hit: _Hit, is_filler: list[bool], has_price: bool) -> int | None:
    """What one phrase of a label does, as a place in `EFFECTS`."""
    if hit.key in _ANYWHERE:
        return _ANYWHERE[hit.key]
    is_edge = all(is_filler[hit.end :]) or (hit.key == "pay" and not hit.start)
    if hit.key in ("pay", "last") and is_edge and len(is_filler) <= _MOST_STRONG:
        return 0
    if has_price and hit.key in _PRICED and len(is_filler) <= _MOST_PRICED:
        return _PRICED[hit.key]
    if hit.key in _ALONE or (has_price and hit.key == "priced"):
        others = is_filler.count(False) - is_filler[hit.start : hit.end].count(False)
        return _ALONE.get(hit.key, 0) if not others else None
    return None
