"""Which element of one screen was probably touched to get to the next, when nobody wrote it down.

Pure guessing on two parsed screens: equal words, changed selection, things that moved. Knows no files.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from handrail_sim.apps.replay.recorded import Recorded, Screen

_WORD = re.compile(r"[^\W_]{3,}")
_CLOSERS = frozenset({"ok", "done", "save", "allow", "yes", "got it", "close"})
_EMPTY_WORDS = frozenset(
    {"button", "btn", "view", "layout", "item", "text", "container", "icon", "image", "the"}
)
SURE = 3.0
_MOVED = 3


@dataclass(frozen=True, slots=True)
class Guess:
    """What was done, and on which element; none for a swipe over the whole screen."""

    action: str
    node: Recorded | None = None


def explain(before: Screen, after: Screen) -> Guess | None:
    """The best explanation of the step, or None when nothing speaks clearly enough."""
    if finger := _scrolled(before, after):
        return Guess(finger)
    news = _news(before, after)
    scored = [(_score(node, before, after, news), node) for node in before.nodes if _can_be_tapped(node)]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].bounds.area, pair[1].order))
    if not ranked or ranked[0][0] < SURE:
        return None
    return Guess("tap", ranked[0][1])


def _can_be_tapped(node: Recorded) -> bool:
    return node.clickable and node.enabled and node.bounds.area > 0


def _texts(screen: Screen) -> Counter[str]:
    return Counter(words for node in screen.nodes for words in (node.text, node.description) if words)


def _news(before: Screen, after: Screen) -> set[str]:
    """The words of the second screen that the first does not show."""
    return set(_texts(after)) - set(_texts(before))


def _scrolled(before: Screen, after: Screen) -> str | None:
    """Several unique words that moved by the same distance: a list was scrolled."""
    moves = Counter(
        (there.bounds.left - here.bounds.left, there.bounds.top - here.bounds.top)
        for words, here in _unique(before).items()
        if (there := _unique(after).get(words)) and there.bounds[:2] != here.bounds[:2]
    )
    if not moves or not any(node.is_("scrollable") for node in before.nodes):
        return None
    (dx, dy), count = moves.most_common(1)[0]
    if count < _MOVED or count < sum(moves.values()) * 0.6 or (dx and dy):
        return None
    return ("swipe_up" if dy < 0 else "swipe_down") if dy else ("swipe_left" if dx < 0 else "swipe_right")


def _unique(screen: Screen) -> dict[str, Recorded]:
    counts = _texts(screen)
    return {node.text: node for node in screen.nodes if node.text and counts[node.text] == 1}


def _label(node: Recorded, screen: Screen) -> list[str]:
    parts = [node, *screen.inside(node)[:12]]
    return [words for part in parts for words in (part.text, part.description) if words]


def _score(node: Recorded, before: Screen, after: Screen, news: set[str]) -> float:
    labels = _label(node, before)
    score = _as_title(labels, after) + _as_words(node, labels, news)
    score += _as_selection(node, labels, after)
    score += _as_closer(labels, before, after) + _as_popup(labels, after)
    small = node.bounds.area * 4 < before.area
    return score if small else score / 2


def _as_title(labels: list[str], after: Screen) -> float:
    """A row's words stand at the head of the screen it opens."""
    head = after.height // 5
    titles = {node.text.casefold() for node in after.nodes if node.text and node.bounds.bottom <= head}
    return 3.0 if labels and titles & {label.casefold() for label in labels[:2]} else 0.0


def _as_words(node: Recorded, labels: list[str], news: set[str]) -> float:
    """Words of the label or the id that come back among the news."""
    own = _words(" ".join(labels[:3]) + " " + node.id_tail.replace("_", " "))
    new = _words(" ".join(sorted(news)[:80]))
    return 2.5 * len(own & new) / len(own) if own else 0.0


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _EMPTY_WORDS


def _as_selection(node: Recorded, labels: list[str], after: Screen) -> float:
    """It is selected, checked or focused now, and was not."""
    for other in after.nodes:
        same = (other.class_name, other.resource_id) == (node.class_name, node.resource_id)
        if not same or (labels and labels[0] not in (other.text, other.description, *_label(other, after))):
            continue
        if (other.is_("selected") and not node.is_("selected")) or (
            other.is_("checked") and not node.is_("checked")
        ):
            return 4.0
        if other.is_("focused") and not node.is_("focused") and other.bounds == node.bounds:
            return 3.0
    return 0.0


def _is_popup(screen: Screen) -> bool:
    """Its window is a good deal smaller than the display: a dialog or a menu."""
    return max(root.bounds.area for root in screen.windows) < screen.area * 0.8


def _as_closer(labels: list[str], before: Screen, after: Screen) -> float:
    """OK and its like, when a dialog went away."""
    said = any(label.casefold() in _CLOSERS for label in labels)
    return (1.0 if not _is_popup(before) else 3.0) if said and not _is_popup(after) else 0.0


def _as_popup(labels: list[str], after: Screen) -> float:
    """A row whose value stands in the menu or dialog that opened."""
    if len(labels) < 2 or not _is_popup(after):
        return 0.0
    return 3.0 if set(labels) & set(_texts(after)) else 0.0
