"""What a new tree can take over from the one before: sizes, places and dumped text of parts that are alike.

Most of a screen stays as it was when something changes. A part with a field or a scroller in it is never
taken over, since its looks depend on its memory.
"""

from __future__ import annotations

from typing import Any

from handrail.sim.view.view import FIELDS, SCROLLING, View

HANDLERS = frozenset(name for name in FIELDS if name.startswith("on_"))


def take_over(new: View, old: View | None) -> bool:
    """Compare two trees part by part, before layout; true if this part is alike and was taken over."""
    born = new.__dict__.copy()
    new.born = born
    stateful = new.editable or new.layout in SCROLLING
    alike = old is not None and not stateful and not old.focused and _alike(born, old.born)
    still = not stateful
    before = old.children if old is not None else ()
    known = len(before)
    children = new.children
    if known != len(children):
        alike = False
    for number, child in enumerate(children):
        alike &= take_over(child, before[number] if number < known else None)
        still &= child.still
    new.still = still
    if old is not None:
        old.parent = None  # the old tree is done with: without this circle it goes at once
    if alike and old is not None:
        _inherit(new, old)
    elif new.layout == "list":
        new.rows_before = {row.row_key: row for row in before}
    return alike


def _inherit(new: View, old: View) -> None:
    new.asked, new.w, new.h, new.lines = old.asked, old.w, old.h, old.lines
    new.placed, new.x, new.y, new.clip = old.placed, old.x, old.y, old.clip
    new.written = old.written


def _alike(born: dict[str, Any], other: dict[str, Any]) -> bool:
    """The same words and wishes; of handlers only whether there is one."""
    if born.keys() != other.keys():
        return False
    for name, value in born.items():
        before = other[name]
        if value is before or name == "children":
            continue
        if name in HANDLERS:
            if (value is None) is not (before is None):
                return False
        elif value != before:
            return False
    return True


def forget_written(view: View | None) -> None:
    """Something that the dump shows changed in place: nothing above it is as it was written."""
    while view is not None:
        view.written = None
        view = view.parent
