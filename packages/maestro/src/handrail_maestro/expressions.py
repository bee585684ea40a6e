"""`${…}` in texts: where code begins and ends, and what can be answered without an engine.

As in Maestro: an expression goes from `${` to the last `}` before the next `$`, and `\\${` is a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

EXPRESSION = re.compile(r"(?<!\\)\$\{([^$]*)\}")
_BARE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_DEFAULT = re.compile(r"""\s*([A-Za-z_][A-Za-z0-9_]*)\s*\|\|\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*""")
_SECRET = re.compile(r"\s*secret:[A-Za-z0-9_.-]+\s*")
SECRET_MARK = "${secret:"  # noqa: S105  (a form, no secret)
UNDEFINED = "undefined"
_SCRIPTS_OWN = frozenset(re.findall(r"\S+", """
output maestro json http console relativePoint faker globalThis this true false null undefined NaN Infinity
Math Date JSON Object Array String Number Boolean RegExp Error Map Set Symbol Promise Proxy Reflect BigInt
eval parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent Function new typeof void
delete return throw if else for while do switch case var let const function class try catch finally import
export await async yield in of instanceof with super break continue debugger default
"""))  # fmt: skip
"""Names that mean something in JavaScript, so that only an engine can answer for them."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: as written, or code."""

    text: str
    is_code: bool = False

    @property
    def is_secret(self) -> bool:
        return self.is_code and _SECRET.fullmatch(self.text) is not None


def pieces(text: str) -> list[Piece]:
    """The text in its parts."""
    found: list[Piece] = []
    at = 0
    for one in EXPRESSION.finditer(text):
        found.append(Piece(_unescaped(text[at : one.start()])))
        found.append(Piece(one[1], True))
        at = one.end()
    found.append(Piece(_unescaped(text[at:])))
    return [one for one in found if one.text or one.is_code]


def codes(text: str) -> list[str]:
    """Every piece of code in a text; secrets are none."""
    return [
        piece.text for piece in pieces(text) if piece.is_code and not piece.is_secret and piece.text.strip()
    ]


def is_secret(text: str) -> bool:
    """Whether the text names a secret."""
    return any(piece.is_secret for piece in pieces(text))


def bare_name(code: str) -> str | None:
    """The variable that the code names and does nothing else with."""
    found = _BARE.fullmatch(code)
    return found[1] if found and found[1] not in _SCRIPTS_OWN else None


def names_in(code: str) -> str | None:
    """The variable that a bare name or a name with a default asks for."""
    found = _DEFAULT.fullmatch(code)
    return bare_name(code) or (found[1] if found and found[1] not in _SCRIPTS_OWN else None)


def has_default(code: str) -> bool:
    """A value stands beside the name for when nobody gives it."""
    return _DEFAULT.fullmatch(code) is not None


def without_engine(code: str, scope: Mapping[str, str]) -> str | None:
    """The value of nothing, of a bare name, or of a name with a literal default; None for anything more."""
    if not code.strip():
        return ""
    name = bare_name(code)
    if name is not None:
        return scope.get(name, UNDEFINED)
    found = _DEFAULT.fullmatch(code)
    if found and found[1] not in _SCRIPTS_OWN:
        return scope.get(found[1]) or found[2] or found[3] or ""
    return None


def _unescaped(text: str) -> str:
    return text.replace("\\${", "${")
