"""What a new tree can take over from the one before: sizes, places and dumped text of parts that are alike.

Most of a screen stays as it was when something changes. A part with a field or a scroller in it is never
taken over, since its looks depend on its memory.
"""

from __future__ import annotations

from typing import Any

from handrail_sim.view.view import FIELDS, SCROLLING, View

HANDLERS = frozenset(name for name in FIELDS if name.startswith("on_"))
_NEVER = object()


def take_over(new: View, old: View | None) -> bool:
    """Compare two trees part by part, before layout; true if this part is alike and was taken over."""
    if old is None:
        _start(new)
        return False
    before, children = old.children, new.children
    current = len(before)
    still = not (new.editable or new.layout in SCROLLING)
    alike = _alike(new.__dict__, old.born)
    new.born = old.born if alike else _birth(new)
    alike = alike and still and not old.focused and current == len(children)
    for number, child in enumerate(children):
        if not take_over(child, before[number] if number < current else None):
            alike = False
        if not child.still:
            still = False
    new.still = still
    old.parent = None
    if alike:
        new.measured_for, new.w, new.h, new.lines = old.measured_for, old.w, old.h, old.lines
        new.placed, new.x, new.y, new.clip = old.placed, old.x, old.y, old.clip
        new.written = old.written
    elif new.layout == "list":
        new.rows_before = old.rows_kept | {row.row_key: row for row in before}
        for row in new.rows_before.values():
            row.parent = None
    else:
        for child in before[len(children) :]:
            let_go(child)
    return alike


def _start(new: View) -> None:
    """A part that was not there before."""
    still = not (new.editable or new.layout in SCROLLING)
    new.born = _birth(new)
    for child in new.children:
        _start(child)
        if not child.still:
            still = False
    new.still = still


def _birth(view: View) -> dict[str, Any]:
    """What a view was built with, but for its children: those are compared one by one."""
    born = view.__dict__.copy()
    born.pop("children", None)
    return born


def let_go(view: View) -> None:
    """Nobody needs these views any more: without circles through parents they go at once."""
    view.parent = None
    for child in view.children:
        let_go(child)


def _alike(arguments: dict[str, Any], born: dict[str, Any]) -> bool:
    """The same words and wishes; of handlers only whether there is one."""
    if arguments == born:  # the short way for what has neither children nor handlers
        return True
    if len(arguments) - ("children" in arguments) != len(born):
        return False
    for name, value in arguments.items():
        before = born.get(name, _NEVER)
        if value is before or name == "children":
            continue
        if before is _NEVER:
            return False
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
