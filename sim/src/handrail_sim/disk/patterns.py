"""File name patterns as a shell expands them: `*`, `?`, `[…]`; hidden names only when the dot is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate

MAGIC = re.compile(r"[*?\[]")


def match_names(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that fit one part of a path; a part without magic fits itself, there or not."""
    if not MAGIC.search(pattern):
        return [pattern]
    fits = re.compile(translate(pattern.replace("[^", "[!"))).match
    return [name for name in names if fits(name) and (pattern[0] == "." or name[0] != ".")]
