"""A diff as the text an agent reads: changed, added and removed elements, one line each, capped."""

from __future__ import annotations

from handrail.tree.diff.compare import LIMIT, Change, Diff
from handrail.tree.diff.items import Value
from handrail.tree.node import Bounds
from handrail.tree.quote import cut, quoted

NO_CHANGE = "No change on screen."
_MOVES = 3  # distances told one by one
_TEXT = 80  # characters of a label or value
_SECTIONS = (
    ("Elements changed:", ("keyboard", "scrolled", "changed", "moved", "resized", "shifted")),
    ("Elements added:", ("added",)),
    ("Elements removed:", ("removed",)),
)


def diff_text(diff: Diff, *, limit: int = LIMIT, screen_text: str = "") -> str:
    """Sections with a line per change; after a navigation, `screen_text` stands for all of them."""
    if not diff:
        return NO_CHANGE
    changes = _few_moves(diff.changes)
    head = [_navigated(change) for change in changes if change["type"] == "navigated"]
    if head and screen_text:
        return "\n".join([*head, screen_text])
    lines: list[str] = []
    room, left_out = limit, 0
    for title, kinds in _SECTIONS:
        entries = [change for change in changes if change["type"] in kinds]
        shown = entries[: max(0, room)]
        room -= len(shown)
        left_out += len(entries) - len(shown)
        if shown:
            lines += [title, *map(_line, shown)]
    more = [f"... +{left_out} more"] if left_out else []
    return "\n".join([*head, *lines, *more])


def _few_moves(changes: list[Change]) -> list[Change]:
    """A layout that shifts moves its parts by many different distances; that is one fact, not many."""
    moves = [change for change in changes if change["type"] in ("moved", "resized")]
    if len(moves) <= _MOVES:
        return changes
    count = sum(len(change["was"]) if change["type"] == "moved" else 1 for change in moves)
    others = [change for change in changes if change["type"] not in ("moved", "resized")]
    return [*others, {"type": "shifted", "count": count}]


def _navigated(change: Change) -> str:
    old, new = change["old"], change["new"]
    return f"Screen changed: {old} -> {new}" if old != new else "Screen changed."


def _line(change: Change) -> str:
    match change["type"]:
        case "keyboard":
            return "Keyboard appeared" if change["shown"] else "Keyboard hidden"
        case "scrolled":
            return f"{change['class']} scrolled {_way(change['dx'], change['dy'])}"
        case "moved":
            count = len(change["was"])
            who = _subject(change) if count == 1 else f"{count} elements"
            return f"{who} moved by {change['dx']},{change['dy']}"
        case "shifted":
            return f"{change['count']} elements moved"
        case "resized":
            return f"{_subject(change)} {Bounds(*change['old'])} -> {Bounds(*change['new'])}"
        case "changed":
            name = change["attribute"]
            return f"{_subject(change)} {name}={_value(change['old'])} -> {name}={_value(change['new'])}"
        case _:
            return f"{_subject(change)} {Bounds(*change['bounds'])}"


def _way(dx: int, dy: int) -> str:
    """Content that moves up is a scroll down."""
    ways = []
    if dy:
        ways.append(f"{abs(dy)} px {'down' if dy < 0 else 'up'}")
    if dx:
        ways.append(f"{abs(dx)} px {'right' if dx < 0 else 'left'}")
    return " and ".join(ways)


def _subject(change: Change) -> str:
    label = change["label"]
    return f"{change['class']} {quoted(cut(label, _TEXT))}" if label else str(change["class"])


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(cut(value or "", _TEXT))
