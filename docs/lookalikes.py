"""Writes `safety/lookalikes.txt`: letters of other alphabets that look like Latin ones.

    python docs/lookalikes.py confusables.json

The file is that of the package `confusable-homoglyphs`, a reading of Unicode's confusables.txt: it maps a
character to all that look like it. Only what NFKC does not bring together is kept. Not part of `make docs`:
the data change once a year, with Unicode.
"""

from __future__ import annotations

import json
import string
import sys
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path

NFKC = partial(unicodedata.normalize, "NFKC")
TARGET = Path(__file__).parent.parent / "src" / "handrail" / "safety" / "lookalikes.txt"
CYRILLIC = [chr(code) for code in range(0x430, 0x450)]
POSTERS = {
    "a": "ΛД", "b": "бБ", "d": "Ððδ", "e": "ЄєεΣэЭƏəɛ", "h": "Ћћ", "n": "ηИп", "p": "þÞ", "r": "Яя",
    "u": "Ццμи", "w": "ШшЩщωΩ", "y": "Ұұ",
}  # fmt: skip
"""Not alike, and yet read as Latin on a sign that wants to look foreign: OЯDEЯ, PΛY."""
BY_HAND = {
    "ー": "一", "ロ": "口", "ニ": "二", "カ": "力", "エ": "工", "ト": "卜", "ハ": "八", "タ": "夕",
    "オ": "才", "チ": "千", "ヒ": "匕", "へ": "ヘ", "り": "リ", "ي": "یى", "ك": "ک", "ه": "ہەۀ",
}  # fmt: skip
"""Inside scripts of which buttons are known: kana and kanji, Arabic letters of other languages."""


def main(source: Path) -> None:
    known = json.loads(source.read_text(encoding="utf-8"))
    groups: dict[str, set[str]] = {letter: set() for letter in string.ascii_lowercase}
    taken: set[str] = set()
    for shown, read_as in _forms():
        found = {one["c"] for one in known.get(shown, ())} | {shown}
        groups[read_as] |= {char for char in found if _counts(char, read_as)} - taken
        taken |= groups[read_as]
    for letter, drawn in POSTERS.items():
        groups[letter] |= set(drawn) - taken
        taken |= set(drawn)
    for letter in CYRILLIC:
        found = (
            {one["c"] for one in known.get(letter, ()) if _counts(one["c"], letter)} - taken - set(CYRILLIC)
        )
        if found:
            groups[letter] = found
    for group in groups.values():
        group -= {char for char in group if NFKC(char) != char and NFKC(char) in (*group, "I", "s")}
    table = {letter: "".join(sorted(group)) for letter, group in groups.items() if group} | BY_HAND
    lines = [f"{letter} {drawn_alike}\n" for letter, drawn_alike in table.items()]
    TARGET.write_text("".join(lines), encoding="utf-8")


def _forms() -> Iterator[tuple[str, str]]:
    """Every way in which a Latin letter is drawn: small, large, and as a small capital."""
    for letter in string.ascii_lowercase:
        yield letter, letter
        yield letter.upper(), letter
    for letter in string.ascii_lowercase:
        try:
            yield unicodedata.lookup(f"LATIN LETTER SMALL CAPITAL {letter.upper()}"), letter
        except KeyError:  # there is no small capital X
            continue


def _counts(char: str, read_as: str) -> bool:
    """A letter of its own: signs part words, and digits are read by their value."""
    return (
        len(char) == 1
        and ord(char) > 127
        and unicodedata.category(char)[0] == "L"
        and NFKC(char).casefold() != read_as
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
