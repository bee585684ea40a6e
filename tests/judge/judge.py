"""The rules: when a person would say that a ref means another thing now, and when that it is the same one.

On label, id, class, area and app only. Written apart from the matching, so that both can be wrong only in
different ways.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from tests.judge.dumps import View

_ACTS = frozenset({"clickable", "long-clickable", "checkable", "scrollable", "editable"})
_STATES = frozenset("on off checked unchecked selected unselected enabled disabled loading not".split())
_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_GROWN = 3  # times the area
_MOST = 0.5
_KNOWN = 3  # labels by which a place is known


class Page:
    """A screen as the judge sees it."""

    def __init__(self, roots: list[View]) -> None:
        self.roots = roots
        self.views = [view for root in roots for view in root.walk()]
        self.package = next((view.package for view in self.views if view.package), "")
        self.area = max((view.area for view in self.views), default=0)

    @cached_property
    def looks(self) -> Counter[tuple[object, ...]]:
        return Counter(look(view) for view in self.views if view.area and "hidden" not in view.flags)

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(said for view in self.views if (said := skeleton(name(view))))


def name(view: View) -> str:
    """What it says itself; what a field holds is no name of it."""
    if is_field(view):
        return view.described or view.hint
    return view.text or view.described or view.hint


def is_field(view: View) -> bool:
    """What it says is what it holds."""
    kinds = ("EditText", "AutoComplete", "Spinner")
    return "editable" in view.flags or any(kind in view.kind for kind in kinds)


def names(view: View) -> list[str]:
    """What it and all inside it says."""
    return [said for one in view.walk() if (said := name(one))]


def look(view: View) -> tuple[object, ...]:
    """By what a person would tell it from others."""
    return view.kind, view.id, view.package, tuple(names(view))


def skeleton(said: str) -> str:
    """Without numbers, signs and words of state."""
    words = [word for word in _WORD.findall(said.casefold()) if word not in _STATES]
    return " ".join(words)


def holds_rows(view: View) -> bool:
    return "scrollable" in view.flags or any(
        part in view.kind for part in ("RecyclerView", "ListView", "GridView", "ScrollView", "WebView")
    )


def objection(old: View, new: View, before: Page, after: Page) -> str:
    """Why the two can't be one element; '' where they may be."""
    if (old.package or before.package) != (new.package or after.package):
        return "another app"
    if old.kind != new.kind:
        return "another class"
    if old.id != new.id:
        return "another id"
    if old.flags & _ACTS and not new.flags & _ACTS and (old.box != new.box or names(old) != names(new)):
        return "does nothing any more"
    return _of_size(old, new, after) or _of_words(old, new) or _of_others(old, new, before, after)


def _of_size(old: View, new: View, after: Page) -> str:
    if holds_rows(old) or not old.area or not new.area:
        return ""
    return "many times its size" if new.area > _GROWN * old.area and 4 * new.area > after.area else ""


def _of_words(old: View, new: View) -> str:
    if "checkable" in old.flags and ("checked" in old.flags) != ("checked" in new.flags):
        return ""
    mine, its = skeleton(name(old)), skeleton(name(new))
    if mine and its and mine != its:
        return "another label"
    if holds_rows(old) or is_field(old):
        return ""
    olds, news = ([one for one in map(skeleton, names(view)) if one] for view in (old, new))
    if not olds and not news:
        return ""
    if not olds or not news:
        return "" if old.id and old.box == new.box else "lost or got its words"
    shared = sum((Counter(olds) & Counter(news)).values())
    if olds[0] not in news and news[0] not in olds and shared < _KNOWN:
        return "another title"
    return "other content" if shared < _MOST * max(len(set(olds)), len(set(news))) else ""


def _of_others(old: View, new: View, before: Page, after: Page) -> str:
    mine, its = look(old), look(new)
    if mine != its and before.looks[mine] == 1 and after.looks[mine] == 1 and names(old):
        return "another looks as it did"
    if before.words and after.words and not holds_rows(old):
        own = Counter(map(skeleton, names(old)))
        rest = before.words - own
        if own.total() < _KNOWN <= rest.total() and not rest & after.words and not _alone(old, after):
            return "nothing around is the same"
    return ""


def _alone(old: View, after: Page) -> bool:
    return (after.words - Counter(map(skeleton, names(old)))).total() < _KNOWN


def is_same(old: View, before: Page, after: Page) -> bool:
    """True where a person would not hesitate: it looks as before and like nothing else, on the same page."""
    mine = look(old)
    if before.looks[mine] != 1 or after.looks[mine] != 1:
        return False
    return _is_same_page(before, after)


def _is_same_page(before: Page, after: Page) -> bool:
    shared = sum((before.words & after.words).values())
    fewer = min(sum(before.words.values()), sum(after.words.values()))
    return before.package == after.package and shared >= _MOST * fewer
