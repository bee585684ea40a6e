"""Makes a stranger's text harmless: one line, nothing invisible, never readable as a ref, header or state.

Every string of a dump that reaches an agent passes through here. Knows nothing about nodes.
"""

from __future__ import annotations

import re
import unicodedata

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SPACES = re.compile(r" {2,}")
_REF_LIKE = re.compile(r"@[a-z]\d")
_SPECIAL = re.compile(
    r"[\"\\]|<(?=[/!?a-zA-Z])|`(?=``)"
)  # `</screen>` and code fences frame what a model reads
_LOOSE_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_JOINERS = "\u200c\u200d"  # part of words in Persian and of emoji; everywhere else only a disguise
_SYMBOLS = "\u2600"  # emoji and other scripts begin here; arrows, bullets, dots and quotes come before
_SAFE_NAME = re.compile(r"[\w.$:/-]+", re.ASCII)

# What may follow a label on a line; a label that ends or runs on like this is quoted.
_STATE_LIKE = re.compile(
    r"(?: |^)(?:on|off|empty|disabled|focused|selected|password|long-press|\d+ ?%|[←→↑↓↔↕]+)$"
    r"| = | (?:hint|state|pane) |\((?:right|left) of|\((?:above|below|top|middle|bottom|left|right)\b| #\w"
    r"|\d× |…\+\d"
)


class _Visible(dict[int, str | int | None]):
    """A `str.translate` table: blanks and controls become a space, what can't be seen disappears."""

    def __missing__(self, code: int) -> str | int | None:
        char = chr(code)
        kind = unicodedata.category(char)
        seen: str | int | None = code
        if kind in {"Cc", "Zs", "Zl", "Zp"}:
            seen = " "
        elif kind in {"Cf", "Co", "Cs"} and char not in _JOINERS:
            seen = None
        if len(self) < 4096:  # a bound for hostile screens that show every character there is
            self[code] = seen
        return seen


_VISIBLE = _Visible()


def clean(text: str) -> str:
    """The text as a person sees it: one line, single spaces, no control, bidi or zero-width characters."""
    if not text:  # as most texts of a screen are
        return ""
    if not text.isprintable():
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        text = text.translate(_VISIBLE)
        if "\u200c" in text or "\u200d" in text:
            text = _LOOSE_JOINER.sub("", text)
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.strip()


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters; what is missing is counted: `Some long te…+240`. 0 is no limit."""
    # The mark itself costs characters, so a cut that saves fewer is not worth it.
    if not limit or len(text) <= limit + 8:
        return text
    return f"{text[:limit].rstrip()}…+{len(text) - len(text[:limit].rstrip())}"


def quoted(text: str) -> str:
    """In double quotes; quotes, backslashes and whatever could open or close a frame get a backslash."""
    if _SPECIAL.search(text):
        text = _SPECIAL.sub(r"\\\g<0>", text)
    return f'"{text}"'


def plain_enough(text: str) -> bool:
    """True when a label can stand without quotes and still not be misread."""
    return (
        (text[:1].isalnum() or text[:1] >= _SYMBOLS)
        and not _SPECIAL.search(text)
        and not _REF_LIKE.search(text)
        and not _STATE_LIKE.search(text)
    )


def safe_name(name: str, limit: int = 60) -> str:
    """An identifier (package, id, class) if it is one, else ''."""
    return name if len(name) <= limit and _SAFE_NAME.fullmatch(name) else ""
