"""How much one element is like another, from 0 to 1: by its names, its kind, its company and its place.

Also what the words on a button promise: a label may follow another one only if both mean the same.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from handrail.tree.select.missed import edit_distance

Identity = Mapping[str, Any]

_NAMES = {"id": 3.0, "text": 3.0, "description": 1.5}
_SAME_MEANING = 0.8
_IN_COMMON = 0.3
_FURNITURE = frozenset({"button", "btn", "view", "layout", "text", "field", "input", "edit", "icon", "image"})
"""Words of ids that say what a thing is, not which one."""
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Likeness:
    """The whole, and how much of it rests on names."""

    score: float
    by_name: float
    """The best agreement of a name; 0 where none agrees."""
    contradicted: bool
    """Both have a description, and these have nothing in common."""


def likeness(was: Identity, now: Identity) -> Likeness:
    """Features that the old element did not have do not count."""
    names = {name: _names_agree(name, was[name], now.get(name, "")) for name in _NAMES if was.get(name)}
    parts = [
        *((_NAMES[name], share) for name, share in names.items()),
        (1.0, float(was.get("class") == now.get("class"))),
        (1.0, float(was.get("role") == now.get("role"))),
    ]
    if was.get("neighbours"):
        parts.append((2.5, _company(was["neighbours"], now.get("neighbours", ()))))
    if _is_box(was.get("bounds")) and _is_box(now.get("bounds")):
        parts.append((1.0, _nearness(was, now)))
    if was.get("path"):
        parts.append((0.5, float(was["path"] == now.get("path"))))
    whole = sum(weight for weight, _ in parts)
    score = sum(weight * share for weight, share in parts) / whole
    contradicted = bool(now.get("description")) and names.get("description", 1.0) < _IN_COMMON
    return Likeness(score, max(names.values(), default=0.0), contradicted)


def _names_agree(name: str, old: str, new: str) -> float:
    old, new = str(old), str(new)
    if not new:
        return 0.0
    one, other = words_of(old), words_of(new)
    if name == "id":
        one, other = _record(one), _record(other)
    if one == other:
        return 1.0
    shared = len(set(one) & set(other)) / max(1, len(set(one) | set(other)))
    meant = _SAME_MEANING if meanings_of(old) & meanings_of(new) else 0.0
    return max(shared, meant, _spelling(" ".join(one), " ".join(other)))


def _record(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _FURNITURE) or words


def _spelling(one: str, other: str) -> float:
    """1 for equal, 0 from half of the letters on that differ."""
    one, other = one[:_LONGEST], other[:_LONGEST]
    longest = max(len(one), len(other), 1)
    return max(0.0, 1 - 2 * edit_distance(one, other, longest // 2) / longest)


def _company(old: Sequence[str], new: Sequence[str]) -> float:
    """How many of those beside it are still beside it."""
    before, after = {str(name) for name in old}, {str(name) for name in new}
    return len(before & after) / min(len(before), max(len(after), 1))


def _is_box(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 4 and all(isinstance(n, int) for n in value)


def _nearness(was: Identity, now: Identity) -> float:
    """1 in the same place of the screen, 0 from half a diagonal away on."""
    (x, y), (u, v) = _centre(was), _centre(now)
    return max(0.0, 1 - 2 * math.hypot(x - u, y - v) / math.sqrt(2))


def _centre(one: Identity) -> tuple[float, float]:
    left, top, right, bottom = one["bounds"]
    size = one.get("screen")
    width, height = size if isinstance(size, list | tuple) and len(size) == 2 else (1080, 2400)
    return (left + right) / 2 / max(width, 1), (top + bottom) / 2 / max(height, 1)


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
