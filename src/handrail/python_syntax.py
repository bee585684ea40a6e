"""Python's syntax as a tree, one at a time. Runs nothing of it."""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()
"""Python 3.11 counts how deep a tree is in one place for all threads: two at once fail with SystemError."""


def syntax_of(text: str) -> ast.Module:
    """Raises `SyntaxError`."""
    with _LOCK:
        return ast.parse(text)


def expression_of(text: str) -> ast.expr:
    """Raises `SyntaxError`."""
    with _LOCK:
        return ast.parse(text, mode="eval").body
