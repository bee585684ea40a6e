"""Made-up texts for inputRandom…: from a seed, so that a run can be repeated."""

from __future__ import annotations

import random
import string

_WORDS = {
    "first": "Ada Bela Clara Dario Edda Fenja Gero Hanna Ivo Jorid Kasimir Lene Milo Nora Otto Pia Rune",
    "last": "Ahlgren Brandt Castell Dorn Ehlers Falk Grimm Holm Ivarsson Jansen Krog Lindt Mohr Nissen",
    "inputRandomCityName": "Aarhus Bergen Cork Delft Essen Faro Ghent Halle Izmir Jena Kiel Lyon Malmo",
    "inputRandomCountryName": "Austria Belgium Chile Denmark Estonia Finland Ghana Hungary Iceland Japan",
    "inputRandomColorName": "amber blue coral crimson green indigo ivory lime magenta olive orange teal",
}
_LONGEST = 10_000
"""Characters, whatever a flow asks for."""


def made_up(command: str, luck: random.Random, length: int = 8) -> str:
    """The text that this command types."""
    length = min(max(length, 1), _LONGEST)
    if command in _WORDS:
        return _one_of(command, luck)
    match command:
        case "inputRandomNumber":
            return luck.choice("123456789") + "".join(luck.choices(string.digits, k=length - 1))
        case "inputRandomEmail":
            return f"{_letters(luck, 8)}@{_letters(luck, 6)}.example"
        case "inputRandomPersonName":
            return f"{_one_of('first', luck)} {_one_of('last', luck)}"
        case _:
            return _letters(luck, length)


def _one_of(what: str, luck: random.Random) -> str:
    return luck.choice(_WORDS[what].split())


def _letters(luck: random.Random, length: int) -> str:
    return "".join(luck.choices(string.ascii_lowercase, k=length))
