"""Which labels come closest to one that was not found: edit distance, bounded in length and number."""

from __future__ import annotations

from collections.abc import Iterable

_LENGTH = 60  # characters compared
_MOST = 500  # labels compared
_FAR = 0.7  # share of edits above which two labels have nothing in common


def nearest(wanted: str, labels: Iterable[tuple[str, int]], count: int = 3) -> list[int]:
    """The keys of the closest labels, best first; labels that have nothing in common with it come last."""
    goal = wanted.casefold()[:_LENGTH]
    scored: list[tuple[float, int]] = []
    for number, (label, key) in enumerate(labels):
        if number >= _MOST:
            break
        scored.append((_difference(goal, label.casefold()[:_LENGTH]), key))
    return [key for _, key in sorted(scored)[:count]]


def _difference(goal: str, label: str) -> float:
    """0 for equal, 1 for nothing in common; a label that contains the other is close."""
    longest = max(len(goal), len(label), 1)
    if goal and label and (goal in label or label in goal):
        return 0.5 * abs(len(goal) - len(label)) / longest
    return edit_distance(goal, label, int(longest * _FAR)) / longest


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions and replacements; gives up above `limit` and answers the longer length."""
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > limit:
        return longest
    previous = list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        current = [row]
        for column, other_char in enumerate(other, 1):
            change = previous[column - 1] + (char != other_char)
            current.append(min(change, previous[column] + 1, current[-1] + 1))
        if min(current) > limit:
            return longest
        previous = current
    return previous[-1]
