"""One element as one line: ref, label, value, states. Caps are applied here; labels are stored whole."""

from __future__ import annotations

import re

from handrail.tree.element.parts import JOIN, LABEL, Element
from handrail.tree.quote import cut, plain_enough, quoted

PIECE, PLAIN = 80, 240  # characters of one part of a label, and of a plain line
_NUMERIC = re.compile(r"-?\d+(?:[.,]\d+)?%?")


def element_line(ref: str, element: Element, *, whole: bool = False) -> str:
    """Such as `@f1 "First name" = "Ada" focused`; `whole` lifts the caps."""
    after = _after(element, whole)
    name = _label(element, whole)
    if name and name == element.value:
        name = ""
    elif name:
        name = name if not after and plain_enough(name) else quoted(name)
    else:
        name = element.stand_in
    words = [ref, name, *after] if name else [ref, *after]
    return " ".join(words)


def _label(element: Element, whole: bool) -> str:
    pieces = element.pieces
    if whole or not pieces:
        return JOIN.join(pieces)
    if len(pieces) == 1:
        return cut(pieces[0], LABEL if len(pieces[0]) <= LABEL else PIECE)
    return cut(JOIN.join([cut(piece, PIECE) for piece in pieces]), LABEL)


def _after(element: Element, whole: bool) -> list[str]:
    words: list[str] = []
    limit = 0 if whole else LABEL
    if element.kind == "f":
        words.append(f"= {quoted(cut(element.value, limit))}" if element.value else "empty")
        if element.hint:
            words.append(f"hint {quoted(cut(element.hint, limit and PIECE))}")
    elif element.value:
        bare = _NUMERIC.fullmatch(element.value)
        words.append(element.value if bare else f"= {quoted(cut(element.value, limit))}")
    words.extend(element.states)
    if element.state:
        words.append(f"state {quoted(cut(element.state, limit and PIECE))}")
    if element.arrows:
        words.append(element.arrows)
    return words
