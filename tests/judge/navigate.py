"""Invented navigations of real screens: the next screen, on which every view knows who it is by its token.

A view that is carried over keeps its token; whatever a person would call another thing has a new one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from random import Random

from tests.judge.dumps import Box, View
from tests.judge.judge import is_field, look, name, names, skeleton

Roots = list[View]
Navigation = Callable[[Roots, Roots, Random], Roots | None]
"""The screen, another one to take content from, and luck; None where the screen has no place for it."""

_WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch maple north ocean".split()
_NOTES = 4
_LISTS = ("RecyclerView", "ListView", "ScrollView", "GridView")
_serial = count(1)


def number(roots: Roots) -> Roots:
    """Gives every view a token of its own."""
    for root in roots:
        for view in root.walk():
            view.token = next(_serial)
    return roots


def carried(roots: Roots) -> Roots:
    return [root.copy() for root in roots]


def fresh(view: View) -> View:
    """A view that looks the same and is another one."""
    return number([view.copy()])[0]


def _words(rng: Random) -> str:
    return f"{rng.choice(_WORDS)} {rng.choice(_WORDS)} {rng.choice(_WORDS)}".capitalize()


def _text(said: str, box: Box, package: str, kind: str = "android.widget.TextView") -> View:
    return View(kind, text=said, box=box, package=package, flags=frozenset({"enabled"}), token=next(_serial))


def _frame(roots: Roots) -> Box:
    return max(roots, key=lambda root: root.area).box


def _named_clickables(roots: Roots) -> list[View]:
    """What a tap could open a page from; not the frame around all."""
    left, top, right, bottom = _frame(roots)
    whole = (right - left) * (bottom - top)
    return [
        view
        for root in roots
        for view in root.walk()
        if "clickable" in view.flags
        and 0 < view.area < whole // 3
        and not is_field(view)
        and any(map(skeleton, names(view)))
    ]


def _title_of(view: View) -> tuple[str, str]:
    """What names it, and the class of the view that says so."""
    for one in view.walk():
        if skeleton(name(one)):
            return name(one), one.kind
    return "", ""


def _page(said: str, kind: str, roots: Roots, donor: Roots, rng: Random) -> View:
    """Another page of the same app under this title, with the donor's content."""
    left, top, right, bottom = _frame(roots)
    package = roots[0].package
    bar = top + (bottom - top) // 12
    title = _text(said, (left + 40, top, right - 200, bar), package, kind)
    holder = View(roots[0].kind, box=(left, top, right, bar), package=package, token=next(_serial))
    if rng.random() < 0.3:
        holder.flags = frozenset({"clickable", "enabled"})  # a header that scrolls to the top
    holder.children = [title]
    body = fresh(donor[0])
    for view in body.walk():
        view.package = package
        if name(view) == said:
            view.text = view.described = ""
    children = [holder, body] if rng.random() < 0.8 else [title, body]
    return View(
        roots[0].kind, roots[0].id, package=package, box=(left, top, right, bottom),
        flags=roots[0].flags, children=children, token=roots[0].token,
    )  # fmt: skip


def row_opens_page(roots: Roots, donor: Roots, rng: Random) -> Roots | None:
    """The row's label is the title of the page."""
    rows = _named_clickables(roots)
    if not rows:
        return None
    said, kind = _title_of(rng.choice(rows))
    return [_page(said, kind, roots, donor, rng)]


def other_app_opens(roots: Roots, donor: Roots, rng: Random) -> Roots | None:
    """An icon's label is the title of the app that it starts."""
    page = row_opens_page(roots, donor, rng)
    for root in page or []:
        for view in root.walk():
            view.package = "com.example.another"
            view.token = next(_serial)
    return page


def same_screen_of_other_app(roots: Roots, _donor: Roots, _rng: Random) -> Roots | None:
    """Two flavours of one app look alike."""
    page = number(carried(roots))
    for root in page:
        for view in root.walk():
            view.package = "com.example.flavour"
    return page


def _strips(roots: Roots) -> Iterator[list[View]]:
    """Siblings of one class, each with words, that can be tapped: tabs, chips, buttons of a toolbar."""
    for root in roots:
        for view in root.walk():
            if any(kind in view.kind for kind in _LISTS) or "scrollable" in view.flags:
                continue
            kinds: dict[str, list[View]] = defaultdict(list)
            for child in view.children:
                if "clickable" in child.flags and any(map(skeleton, names(child))):
                    kinds[child.kind].append(child)
            yield from (strip for strip in kinds.values() if len(strip) >= 2)


def tab_opens_page(roots: Roots, donor: Roots, rng: Random) -> Roots | None:
    """The strip stays in its bar, the page below is another, and its title is the tab's label."""
    page = carried(roots)
    strips = list(_strips(page))
    if not strips:
        return None
    strip = rng.choice(strips)
    tab = rng.choice(strip)
    said, kind = _title_of(tab)
    opened = _page(said, kind, roots, donor, rng)
    opened.children += [view for root in page for view in root.walk() if strip[0] in view.children]
    tab.flags = (tab.flags | {"selected"}) - ({"clickable"} if rng.random() < 0.5 else set())
    return [opened]


def _say(view: View, said: str) -> None:
    """Other words in place of its first."""
    for one in view.walk():
        if skeleton(name(one)):
            one.text, one.described = (said, "") if one.text else ("", said)
            one.hint = ""
            return


def _renew(view: View) -> None:
    """It is another one now, and so is all that it is made of; a button inside it may be the old one."""
    view.token = next(_serial)
    for child in view.children:
        if "clickable" not in child.flags:
            _renew(child)


def _renew_row(row: View) -> None:
    """The "Delete" of another row is another one, too."""
    for view in row.walk():
        view.token = next(_serial)


def strip_has_other_labels(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """One id, other words: "repo" was here, "buy" is. One may have kept its place, or its word elsewhere."""
    page = carried(roots)
    strips = list(_strips(page))
    if not strips:
        return None
    strip = rng.choice(strips)
    for tab in strip:
        if rng.random() < 0.7:
            _say(tab, _words(rng))
            _renew(tab)
    return page


def one_word_differs(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """ "View A page" is "View B page" now."""
    page = carried(roots)
    rows = [row for row in _named_clickables(page) if len(names(row)) == 1]
    if not rows:
        return None
    row = rng.choice(rows)
    said, _ = _title_of(row)
    words = said.split()
    words[rng.randrange(len(words))] = _words(rng).split()[0]
    if skeleton(" ".join(words)) == skeleton(said):
        return None
    _say(row, " ".join(words))
    _renew(row)
    return page


def button_gives_way(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """Another button of the same class at the same place."""
    page = carried(roots)
    rows = [row for row in _named_clickables(page) if not row.children]
    if not rows:
        return None
    row = rng.choice(rows)
    _say(row, _words(rng))
    _renew(row)
    return page


def _lists(roots: Roots) -> list[View]:
    found = []
    for root in roots:
        for view in root.walk():
            if "scrollable" in view.flags or any(kind in view.kind for kind in _LISTS):
                holder = view
                while len(holder.children) == 1:
                    holder = holder.children[0]
                if len([row for row in holder.children if _is_row(row)]) >= 3:
                    found.append(holder)
    return found


def _is_row(view: View) -> bool:
    """It has a title, at most a few notes and a nameless button; a page of a pager, or a form, is no row."""
    inside = [one for one in view.walk() if one is not view]
    buttons = [one for one in inside if "clickable" in one.flags]
    said = names(view)
    if any(map(is_field, view.walk())) or len(buttons) > 1 or any(map(names, buttons)):
        return False
    return 0 < len(said) <= _NOTES and any(map(skeleton, said))


def _place(view: View, dx: int, dy: int) -> None:
    for one in view.walk():
        left, top, right, bottom = one.box
        one.box = (left + dx, top + dy, right + dx, bottom + dy)


def rows_sorted_anew(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    page = carried(roots)
    lists = _lists(page)
    if not lists:
        return None
    holder = rng.choice(lists)
    looks = Counter(map(look, holder.children))
    # Nobody could tell whether two rows that look alike changed places.
    moving = [at for at, row in enumerate(holder.children) if looks[look(row)] == 1 and names(row)]
    rows = [holder.children[at] for at in moving]
    places = [row.box for row in rows]
    rng.shuffle(rows)
    for at, row, (left, top, _, _) in zip(moving, rows, places, strict=True):
        holder.children[at] = row
        _place(row, left - row.box[0], top - row.box[1])
    return page


def rows_filled_anew(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """The same views show other rows; the notes below their titles may be the same."""
    page = carried(roots)
    lists = _lists(page)
    if not lists:
        return None
    for row in rng.choice(lists).children:
        if _is_row(row) and rng.random() < 0.8:
            _say(row, _words(rng))
            _renew_row(row)
    return page


def heading_says_rows_label(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """A row went, and a section is called as it was."""
    page = carried(roots)
    lists = _lists(page)
    if not lists:
        return None
    holder = rng.choice(lists)
    at = rng.choice([n for n, row in enumerate(holder.children) if _is_row(row)])
    row = holder.children[at]
    said, kind = _title_of(row)
    left, top, right, bottom = row.box
    heading = _text(said, (left, top, right, top + max(1, (bottom - top) // 2)), row.package, kind)
    other = fresh(row)
    _say(other, _words(rng))
    holder.children[at : at + 1] = [heading, other] if rng.random() < 0.5 else [heading]
    return page


def _overlay(roots: Roots, rng: Random, box: Box, rows: int) -> View:
    """A drawer, sheet or player with some of the page's own words in it."""
    package = roots[0].package
    said = [name(view) for root in roots for view in root.walk() if skeleton(name(view))] or ["Home"]
    left, top, right, bottom = box
    high = max(1, (bottom - top) // (rows + 1))
    kinds = [view.kind for view in _named_clickables(roots)] or ["android.view.View"]
    kind = rng.choice(kinds)
    made = View(
        "android.widget.FrameLayout", package=package, box=box, token=next(_serial),
        flags=frozenset({"enabled"}),
    )  # fmt: skip
    for row in range(rows):
        place = (left, top + row * high, right, top + row * high + high)
        words = rng.choice(said) if rng.random() < 0.5 else _words(rng)
        item = View(
            kind, package=package, box=place, flags=frozenset({"clickable", "enabled"}), token=next(_serial)
        )
        item.children = [_text(words, place, package)]
        made.children.append(item)
    return made


def drawer_opens(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    page = carried(roots)
    left, top, right, bottom = _frame(roots)
    page[0].children.append(_overlay(roots, rng, (left, top, left + (right - left) * 3 // 4, bottom), 6))
    return page


def sheet_opens(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    page = carried(roots)
    left, top, right, bottom = _frame(roots)
    page.append(_overlay(roots, rng, (left, top + (bottom - top) // 2, right, bottom), 4))
    return page


def player_opens(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """Full screen over the page; its title is a row's label."""
    page = carried(roots)
    page[0].children.append(_overlay(roots, rng, _frame(roots), 5))
    return page


def rotated(roots: Roots, _donor: Roots, _rng: Random) -> Roots | None:
    page = carried(roots)
    left, top, right, bottom = _frame(roots)
    wide, high = max(1, right - left), max(1, bottom - top)
    for root in page:
        for view in root.walk():
            a, b, c, d = view.box
            view.box = (a * high // wide, b * wide // high, c * high // wide, d * wide // high)
    return page


def translated(roots: Roots, _donor: Roots, rng: Random) -> Roots | None:
    """Every label is another word; who says the same says the same again."""
    page = carried(roots)
    words: dict[str, str] = {}
    for root in page:
        for view in root.walk():
            if view.text:
                view.text = words.setdefault(view.text, _words(rng))
            if view.described:
                view.described = words.setdefault(view.described, _words(rng))
            view.hint = ""
    return page


NAVIGATIONS: tuple[Navigation, ...] = (
    row_opens_page, tab_opens_page, other_app_opens, same_screen_of_other_app, strip_has_other_labels,
    one_word_differs, button_gives_way, rows_sorted_anew, rows_filled_anew, heading_says_rows_label,
    drawer_opens, sheet_opens, player_opens, rotated, translated,
)  # fmt: skip
