"""How a rule names things: a glob over the whole text, or a regular expression written `/…/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

_REGEX = re.compile(r"/(?P<body>.+)/(?P<flag>i?)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Pattern:
    """One pattern. Labels ignore case: people do."""

    text: str
    ignore_case: bool = False

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        if found := _REGEX.fullmatch(self.text):
            return re.compile(found["body"], flags | (re.IGNORECASE if found["flag"] else re.NOFLAG))
        return re.compile(translate(self.text), flags)

    def check(self) -> None:
        """Raises `re.error` for a regular expression that is none."""
        self._compiled  # noqa: B018  (compiled here, or at the first match)

    @property
    def is_regex(self) -> bool:
        return _REGEX.fullmatch(self.text) is not None

    @property
    def is_literal(self) -> bool:
        return not self.is_regex and not _WILD.search(self.text)

    def matches(self, value: str) -> bool:
        """A glob must fit the whole text; a regular expression may be found anywhere in it."""
        return (
            self._compiled.search(value) is not None if self.is_regex else bool(self._compiled.match(value))
        )

    def covers(self, other: Pattern) -> bool:
        """True when everything that `other` matches is matched here, as far as can be told."""
        if self.text in (other.text, "*"):
            return True
        return other.is_literal and self.matches(other.text)
