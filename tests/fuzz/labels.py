"""Grave labels in disguise: `python tests/fuzz/labels.py [count] [seed]`.

Words on buttons in the languages of the table, dressed up at random by tables of this file's own, which
share nothing with the code under test; and ordinary labels, which must stay free.
"""

from __future__ import annotations

import random
import sys
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from handrail.safety.labels import committing_effect
from handrail.safety.subject import TouchedElement
from tests.unit.safety.policy_subjects import policy, subject

TWINS = {
    "a": "аɑα", "b": "ЬƄ", "c": "сϲⅽ", "d": "ԁⅾ", "e": "еҽ", "g": "ɡց", "h": "һհ", "i": "іıɩⅰ", "j": "јϳ",
    "l": "ӏⅼІ", "m": "ⅿ", "n": "ոռ", "o": "оοօ", "p": "рρ", "q": "ԛ", "s": "ѕ", "u": "υս", "v": "νѵⅴ",
    "w": "ԝѡ", "x": "хⅹ", "y": "уүγ", "A": "АΑ", "B": "ВΒ", "C": "СϹⅭ", "D": "Ⅾ", "E": "ЕΕ", "H": "НΗ",
    "I": "ІΙӀ", "J": "Ј", "K": "КΚ", "L": "Ⅼ", "M": "МΜⅯ", "N": "Ν", "O": "ОΟՕ", "P": "РΡ", "S": "ЅՏ",
    "T": "ТΤ", "V": "ѴⅤ", "X": "ХΧ", "Y": "ҮΥУ", "Z": "Ζ", "а": "aα", "е": "e", "о": "oο", "р": "pρ",
    "с": "c", "у": "y", "х": "x", "А": "AΑ", "В": "BΒ", "Е": "EΕ", "К": "KΚ", "М": "MΜ", "Н": "HΗ", "О": "OΟ",
    "Р": "PΡ", "С": "C", "Т": "TΤ", "У": "Y",
    "Х": "XΧ", "口": "ロ", "力": "カ", "ー": "一", "ك": "ک", "ي": "ی",
}  # fmt: skip
SMALL_CAPITALS = dict(zip("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", strict=True))
STYLES = (0x1D400, 0x1D434, 0x1D468, 0x1D4D0, 0x1D56C, 0x1D5A0, 0x1D5D4, 0x1D608, 0x1D63C, 0x1D670)
"""Where mathematical alphabets without gaps begin: bold, italic, script, fraktur, sans, monospace."""
UNSEEN = (
    "\u200b\u200c\u200d\u2060\u00ad\u3164\u115f\u1160\uffa0\u2800\ufe0f\u034f\u200e\u200f\u202a\u202c\u2066"
    "\u2069\u180e\u2062\u2063\ufeff\U000e0020\U000e0061\u061c\u17b4\U0001d173"
)
OVERLAYS = "\u0336\u0337\u0338\u0335\u20d2\u20e5\u20dd\u20de\u0307\u0323\u0332\u0333\u035f"
GAPS = ("\u00a0", "\u3164", "\u2800", "\u3000", "_", "  ", "\u2009", " \u200b ", "\t", "·", "-")
FRAMES = ("👉 {} 👈", "«{}»", "→ {}", "{}!!!", "✅ {}", "[ {} ]", "★{}★", "{}…", "\u202e\u202c{}")


def twins(label: str, chance: random.Random) -> str:
    return "".join(chance.choice(TWINS[c]) if c in TWINS and chance.random() < 0.6 else c for c in label)


def styled(label: str, chance: random.Random) -> str:
    start = chance.choice(STYLES)

    def one(char: str) -> str:
        if "A" <= char <= "Z":
            return chr(start + ord(char) - ord("A"))
        return chr(start + 26 + ord(char) - ord("a")) if "a" <= char <= "z" and char != "h" else char

    return "".join(map(one, label))


def shifted(*starts: int) -> Callable[[str, random.Random], str]:
    """Alphabets of signs that have one form for large and small."""

    def change(label: str, chance: random.Random) -> str:
        start = chance.choice(starts)
        return "".join(chr(start + ord(c.upper()) - 65) if c.isascii() and c.isalpha() else c for c in label)

    return change


def wide(label: str, _: random.Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in label)


def small_capitals(label: str, _: random.Random) -> str:
    return "".join(SMALL_CAPITALS.get(c.lower(), c) for c in label)


def clusters(label: str) -> list[str]:
    """A letter with its marks."""
    found: list[str] = []
    for char in label:
        if found and unicodedata.category(char)[0] == "M":
            found[-1] += char
        else:
            found.append(char)
    return found


def unseen(label: str, chance: random.Random) -> str:
    return "".join(c + (chance.choice(UNSEEN) if chance.random() < 0.4 else "") for c in clusters(label))


def struck(label: str, chance: random.Random) -> str:
    mark = chance.choice(OVERLAYS)
    return "".join(c + mark if c.strip() else c for c in clusters(label))


def spaced(label: str, chance: random.Random) -> str:
    gap = chance.choice((" ", ".", "-", "·", "_", "\u00a0", "\u3164", "/", "\u2009", "*"))
    return (gap * 2).join(gap.join(clusters(word)) for word in label.split(" "))


def split(label: str, chance: random.Random) -> str:
    """One space in the wrong place."""
    parts = clusters(label)
    at = chance.randrange(1, len(parts)) if len(parts) > 1 else 1
    return "".join(parts[:at]) + chance.choice(" .-\u200b") + "".join(parts[at:])


def gapped(label: str, chance: random.Random) -> str:
    return label.replace(" ", chance.choice(GAPS))


def framed(label: str, chance: random.Random) -> str:
    return chance.choice(FRAMES).format(label)


def cased(label: str, chance: random.Random) -> str:
    return chance.choice((str.upper, str.title, str.swapcase))(label)


def coded(label: str, chance: random.Random) -> str:
    """Signs and digits for letters, as in old chat rooms; a word keeps one letter at least."""
    table = {"o": "0", "l": "1", "a": "@", "e": "3", "s": "$"}
    given = [chance.choice(list(table))]
    words = [
        "".join(table.get(c, c) if at and c in given else c for at, c in enumerate(word))
        for word in label.split(" ")
    ]
    return " ".join(words)


DISGUISES: tuple[Callable[[str, random.Random], str], ...] = (
    twins, styled, shifted(0x1F170, 0x1F150, 0x1F130, 0x1F1E6, 0x24B6), wide, small_capitals, unseen, struck,
    spaced, split, gapped, framed, cased, coded,
)  # fmt: skip
PAIRS = (
    (cased, twins), (cased, spaced), (twins, unseen), (twins, spaced), (wide, struck), (framed, unseen),
    (spaced, unseen), (small_capitals, split), (twins, gapped), (cased, unseen), (twins, framed),
)  # fmt: skip
ORDINARY = """
Play|Display|Delete draft|Delete|Payment methods|Google Pay settings|PayPal help|Paid|Repay|Posts|Save
Post office|Blog posts|Send message|Send|Buy stamps|Buyer protection|Order history
Transfer files|Account|Add account|Cancel|Price: $12|Cart · $12.50|Share|Public transport
Total 12,50 €|Kaufhaus|Payer information|Spielen|Paying|Übersicht|支付方式|帮助|Settings
Search|Back|More options|Navigate up|Wi-Fi|Bluetooth|Airplane mode|Compost tools|Spa yoga
Настройки|Поиск|Отмена|Почта|Постоянный|Папка|Купе|Плата за проезд|Платье|Ayarlar|Ödev|Kopya
Compose|Pos terminal|設定|検索|戻る|공유|설정|검색|الإعدادات|بحث|सेटिंग|खोजें|Zoom in|A B C
F A Q|U.S.A|R&B|Level 10|MP3|H2O|3D view|x2|Repository|Postpone|Poster gallery|Sign in
Log out|OK|Next|Play all|Display brightness|Payload|Tip of the day|Today|Pay attention
Order by date|Paypal settings|Buyers|Trustpilot|Spend less time|Publisher|Tweak
Live wallpaper|Reset
"""


COMMITTING = (
    "pay", "buy", "paid", "move", "sent", "wiped", "gone", "post", "posted", "sign", "signed", "name",
)  # fmt: skip


def grave() -> list[str]:
    """Every phrase of the table that commits to something when it stands alone, and wallets."""
    words = tomllib.loads(files("handrail.safety").joinpath("label_words.toml").read_text(encoding="utf-8"))
    phrases = [keys.get(key, "") for keys in words.values() for key in COMMITTING]
    return [
        phrase.strip()
        for text in phrases
        for phrase in text.split(",")
        if phrase.strip(" *") == phrase.strip() != ""
    ]


def run(count: int, seed: int) -> Counter[str]:
    """Raises for a disguised label that nobody would be asked about. How often each disguise was worn."""
    chance, tally = random.Random(seed), Counter[str]()
    labels = grave()
    for _ in range(count):
        label = chance.choice(labels)
        worn = chance.choice(PAIRS) if chance.random() < 0.4 else (chance.choice(DISGUISES),)
        shown = label
        for disguise in worn:
            shown = disguise(shown, chance)
        assert committing_effect(TouchedElement(label=shown)), (label, shown, [one.__name__ for one in worn])
        tally.update(one.__name__ for one in worn)
    return tally


def rules(count: int, seed: int) -> None:
    """The same for a rule by label, in whatever script it is written."""
    chance, labels = random.Random(seed), grave()
    for _ in range(count):
        label = chance.choice(labels)
        shown = chance.choice((twins, styled, wide, small_capitals, unseen, struck, spaced, cased))(
            label, chance
        )
        for verdict in ("deny", "ask"):
            made = policy(f"[[rule]]\nname = 'r'\nlabel = {label!r}\nverdict = '{verdict}'\n")
            assert made.decide(subject("tap", TouchedElement(label=shown))).rule == "r", (label, shown)
        allows = policy(f"[[rule]]\nname = 'r'\nlabel = {label!r}\nverdict = 'allow'\n")
        is_same = shown.casefold() == label.casefold() or shown.upper() == label.upper()
        assert is_same or allows.decide(subject("tap", TouchedElement(label=shown))).rule != "r", (
            label,
            shown,
        )


def ordinary() -> list[str]:
    return [label for line in ORDINARY.strip().splitlines() for label in line.split("|")]


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {start}: {dict(run(many, start))}")  # noqa: T201
    rules(many // 10, start)
    assert not [label for label in ordinary() if committing_effect(TouchedElement(label=label))]
