"""Regular expressions as POSIX tools write them, ready for Python. Knows no command."""

from __future__ import annotations

import re

from handrail_sim.shell.options import BadUsage

_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])")
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": r"\s", "upper": "A-Z"}
_CLASSES |= {"lower": "a-z", "xdigit": "0-9a-fA-F", "punct": r"!-/:-@\[-`{-~", "blank": r" \t"}


def to_python(pattern: str, *, extended: bool) -> str:
    """A POSIX expression as Python writes it: in a basic one, braces and bars need a backslash."""
    for name, members in _CLASSES.items():
        pattern = pattern.replace(f"[:{name}:]", members)
    pattern = pattern.replace(r"\<", r"\b").replace(r"\>", r"\b")
    if extended:
        return pattern
    return _BASIC.sub(lambda match: match[1] or "\\" + match[2], pattern)


def compile_pattern(pattern: str, *, extended: bool, ignore_case: bool = False) -> re.Pattern[str]:
    """A pattern ready to use, or the complaint of grep."""
    try:
        return re.compile(to_python(pattern, extended=extended), re.IGNORECASE if ignore_case else 0)
    except re.error:
        raise BadUsage(f"bad regex '{pattern}'", 2) from None
