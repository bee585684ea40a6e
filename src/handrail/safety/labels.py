"""What a label looks like to a person, and which labels pay, send money, delete an account or post publicly.

"Pay", "Рау", "P a y", "ᴘᴀʏ", "🅿🅰🆈" and "P@y" look the same. A letter that another alphabet draws like a
Latin one has two readings: a letter of its own alphabet, and, in a Latin word, the Latin letter.
Limits see these forms beside the text; a permission sees the text alone. The effect of a label is a guess by
words, made to miss little and to leave "Play", "Display" and "Delete draft" alone; a rule is certain.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from handrail.safety.subject import TouchedElement

LOOKALIKES: dict[str, str] = {
    "a": "ɑΑΛαАДаᎪᗅᴀꓮꭺ𐊠𖽀",
    "b": "ƄʙΒБВЬбвᏏᏴᏼᑲᖯᗷꓐꞴ𐊂𐊡𐌁",
    "c": "ϲϹСсᏟᴄⲤⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜",
    "d": "ÐðδԁᎠᏧᑯᗞᗪᴅꓒꓓꭰ",
    "e": "əɛΕΣεЄЕЭеэєҽᎬᴇⴹꓰꬲꭼ𐊆𑢦𑢮",
    "f": "ϜքᖴẝꓝꜰꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂",
    "g": "ƍɡɢԌԍցᏀᏳᏻᶃꓖꮐ",
    "h": "ʜΗЋНнћһհᎻᏂᕼⲎꓧꮋ𐋏",
    "i": "ıɩɪͺιіӏᎥꙇꭵ𑣃",
    "j": "ͿϳЈјᎫᒍᴊꓙꞲꭻ",
    "k": "ĸΚКᏦᛕᴋⲔꓗ𐔘",
    "l": "ƖǀʟΙІӀᏞᒪᛁⲒⳐⳑⵏꓡꓲꮮ𐊊𐌉𐐛𐑃𐔦𑢣𑢲𖼖𖼨",
    "m": "ʍΜϺМᎷᗰᛖᴍⲘꓟ𐊰𐌑",
    "n": "ɴΝηИпոռⲚꓠ𐔓",
    "o": "ΟοσОоՕօଠഠဝჿዐᴏᴑⲞⲟⵔꓳꬽ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑢵𑣈𑣗",
    "p": "ÞþΡρРрᏢᑭᴘᴩⲢⲣꓑꮲ𐊕",
    "q": "ԛգզⵕꞯ",
    "r": "ƦʀЯгяᎡᏒᖇᴦⲅꓣꭇꭈꭱꮁꮢ𐒴𖼵",
    "s": "ƽЅѕՏᏕᏚꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺",
    "t": "ΤτТтᎢᴛⲦꓔꭲ𐊗𐊱𐌕𑢼𖼊",
    "u": "ʋμυЦицՍսሀᑌᴜꓴꞟꭎꭒ𐓎𐓶𑢸𑣘𖽂",
    "v": "νѴѵᏙᐯᴠⴸꓦꛟꮩ𐔝𑜆𑢠𑣀𖼈",
    "w": "ɯΩωШЩшщѡԜԝաᎳᏔᴡꓪꮃ𑜊𑜎𑜏",
    "x": "ΧХхᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐔧",
    "y": "ɣʏΥγУуҮүҰұყᎩᎽᶌỿⲨꓬꭚ𐊲𑢤𑣜𖽃",
    "z": "ΖᏃᴢꓜꮓ𑢩𑣄",
    "з": "ɜ",
    "и": "ᴎ",
    "й": "ѝ",
    "л": "ᴫ",
    "п": "π",
    "ф": "ɸ",
    "ш": "ⲽ",
    "ь": "ƅ",
    "я": "ᴙ",
    "ー": "一",
    "ロ": "口",
    "ニ": "二",
    "カ": "力",
    "エ": "工",
    "ト": "卜",
    "ハ": "八",
    "タ": "夕",
    "オ": "才",
    "チ": "千",
    "ヒ": "匕",
    "へ": "ヘ",
    "り": "リ",
    "ي": "یى",
    "ك": "ک",
    "ه": "ہەۀ",
}
"""Letters by the letter that they are read as, without what NFKC joins. `docs/lookalikes.py` writes it."""
_READ_AS = {char: letter for letter, chars in LOOKALIKES.items() for char in chars}
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
_SIGNS = str.maketrans("@$¥€£¢!|", "asyelcll")
_AS_LETTER = re.compile(r"[@$¥€£]+(?=[^\W\d_])|(?<=[^\W\d_])(?:[@$¥€£¢!|]+(?=[^\W\d_])|[@$¥€]+(?!\s*\d))")
"""Signs that stand for letters: before one, between two or at the end of a word, not beside an amount."""
_BARS = re.compile("[I|ıɩɪіӏΙІӀǀⅼⅠⅰƖ]")
"""Strokes that may be an i or an l."""
_NOT_WRITTEN = re.compile("[^0-9A-Za-z]")  # for ASCII; `is_written` decides about other characters
_DIGITS = str.maketrans("013457", "oleast")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_])+(?![^\W_])")
_PLAIN = re.compile(r"(?:(?:[A-Za-z]{2,}+|[0-9]++)(?: |$))*+")
"""Words of at least two letters with one space between them have no other form."""


def strip_marks(text: str) -> str:
    """Removes accents, overlays, enclosures and formats; letters of all styles become plain ones."""
    if text.isascii() and text.isprintable():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(_READ_FIRST))
    visible = "".join(
        " " if _is_blank(char) else char for char in parts if unicodedata.category(char) not in ("Mn", "Me")
    )
    return unicodedata.normalize("NFKC", visible)


def _is_blank(char: str) -> bool:
    """A character that draws nothing does not separate words, and may stand for a space."""
    return char in _FILLERS or unicodedata.category(char) in ("Cf", "Cc", "Co", "Cn", "Cs")


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


@cache
def _letter(char: str, own: bool) -> str:
    """`own`: in a word of its own alphabet, where a Cyrillic capital must equal its small letter."""
    if char.isascii():
        return char.lower()
    if (value := unicodedata.decimal(char, None)) is not None:
        return str(value)
    latin = _base_letter(char)
    if latin is None or (own and "\u0400" <= char <= "\u04ff" and latin != _base_letter(char.swapcase())):
        return char.casefold()
    return latin if own or latin.isascii() else _base_letter(latin) or latin


def read_letters(text: str, *, own: bool) -> str:
    """Every letter as it is read; signs and spaces stay."""
    return text.lower() if text.isascii() else "".join(_letter(char, own) for char in text)


def is_written(char: str) -> bool:
    """True for a part of a word; every other character separates words."""
    if char.isascii():
        return char.isalnum()
    kind = unicodedata.category(char)
    return kind == "Mc" or (kind[0] in "LN" and (kind != "Lm" or char in _MODIFIERS))


def tokens(text: str) -> list[str]:
    """The words of a text after `read_letters`, each in the form that is compared."""
    signed = _AS_LETTER.sub(lambda match: match[0].translate(_SIGNS), text)
    return [join_letters(_undigited(word).replace("i", "l")) for word in _words_only(signed).split()]


def _words_only(text: str) -> str:
    """Replaces everything that is not part of a word by a space."""
    if text.isascii():
        return _NOT_WRITTEN.sub(" ", text)
    return "".join(char if is_written(char) else " " for char in text)


def _undigited(word: str) -> str:
    """Digits among letters are read as letters; a number stays a number."""
    has_both = not word.isalpha() and any(map(str.isalpha, word)) and any(map(str.isdigit, word))
    return word.translate(_DIGITS) if has_both else word


def join_letters(word: str) -> str:
    """Letters that look like another one when they stand side by side."""
    return word.replace("rn", "m").replace("vv", "w")


def readings(text: str) -> list[str]:
    """Every way to read the letters of a text without marks: first as letters of its own alphabet."""
    own = read_letters(text, own=True)
    return [own] if text.isascii() else list(dict.fromkeys((own, read_letters(text, own=False))))


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
    return "".join(char if char.isascii() else read_letters(strip_marks(char), own=True) for char in text)


def compact(text: str) -> str:
    """The words of a text without spaces, in the form that is compared."""
    return join_letters("".join(tokens(text)))


EFFECTS = ("pays", "sends money", "deletes an account", "posts publicly")
_WORDS = json.loads(Path(__file__).with_name("label_words.json").read_text(encoding="utf-8"))
_PHRASES: dict[tuple[str, str], frozenset[str]] = {
    (effect, where): frozenset(phrases) for effect in EFFECTS for where, phrases in _WORDS[effect].items()
}
"""By effect and by where in a label the phrase must stand: alone, with a price, or anywhere."""
_ANSWERS = frozenset(_WORDS["answers"])
"""Labels that only answer the text beside them, such as "OK"."""
_LONGEST = max(len(phrase) for phrases in _PHRASES.values() for phrase in phrases)
_MONEY = "[$€£¥₹₽₩₺₴฿₫₦₱]"
_CODE = "(?:usd|eur|gbp|chf|jpy|cny|inr|rub|brl|cad|aud|pln|zl|try|tl|kr|sek|nok|dkk|rs|btc|eth|円|元|원)"
_NUMBER = r"\d[\d.,'\u00a0\u202f ]*"
_PRICE = re.compile(
    rf"(?:r|us|a|c|hk|nt)?{_MONEY}\s*{_NUMBER}|{_NUMBER}\s*{_MONEY}|\b{_CODE}\s*{_NUMBER}|{_NUMBER}\s*{_CODE}(?!\w)"
)
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts without spaces, where a phrase may stand in the middle of other text."""
_PERIOD = frozenset({"for", "ln", "per", "a", "month", "year", "week", "mo", "yr"})
"""Words beside an amount that change nothing, in the form that is compared."""


def committing_effect(element: TouchedElement) -> str | None:
    """One of `EFFECTS`; None for an ordinary element."""
    for name in element.names:
        if effect := _effect_of_label(name):
            return effect
    if element.around and is_answer(element.label):
        return next(filter(None, map(_effect_of_label, element.around)), None)
    return None


@lru_cache(maxsize=4_000)
def is_answer(label: str) -> bool:
    """True for a label that only says yes to the text beside it, and for an empty one."""
    return not label or any(compact(reading) in _ANSWERS for reading in readings(strip_marks(label)))


@lru_cache(maxsize=4_000)
def _effect_of_label(label: str) -> str | None:
    for piece in dict.fromkeys((label, *label.split(" · "))):
        for reading in readings(strip_marks(piece)):
            text, prices = _PRICE.subn(" ", reading)
            words = tokens(text)
            for effect in EFFECTS:
                if words and _has_effect(effect, words, prices > 0):
                    return effect
    return None


def comparable(phrases: Iterable[str]) -> list[str]:
    """Phrases of `label_words.toml` in the form that is compared, for `label_words.json`."""
    return sorted({compact(readings(strip_marks(phrase))[0]) for phrase in phrases})


def _has_effect(effect: str, words: Sequence[str], has_price: bool) -> bool:
    label = join_letters("".join(words))
    if label in _PHRASES[effect, "alone"]:
        return True
    if has_price:
        rest = join_letters("".join(word for word in words if word not in _PERIOD))
        if rest in _PHRASES[effect, "with_price"]:
            return True
    if not _PHRASES[effect, "anywhere"].isdisjoint(_runs(tuple(words))):
        return True
    return bool(_DENSE.search(label)) and any(phrase in label for phrase in _dense_phrases(effect))


@lru_cache
def _dense_phrases(effect: str) -> list[str]:
    return [phrase for phrase in _PHRASES[effect, "anywhere"] if _DENSE.search(phrase)]


@lru_cache(maxsize=64)
def _runs(words: tuple[str, ...]) -> frozenset[str]:
    """Every run of neighbouring words that may be a phrase, joined, since a word may have been split."""
    runs = set()
    for start in range(len(words)):
        run = ""
        for word in words[start:]:
            run = join_letters(run + word)
            if len(run) > _LONGEST:
                break
            runs.add(run)
    return frozenset(runs)
