"""How many of a place's labels found themselves again, seen from the old and from the new screen.

Insertions leave the old side whole, removals the new one; only a replacement hurts both.
"""

from __future__ import annotations

from handrail.tree.match.sketch import NAME, NEIGHBOURHOOD, REPEATED, Pairing, Sketch, running

_NAMES = (NAME, REPEATED)
_WHOLE = 0.8  # share of the screen's area; what is smaller is a dialog, a sheet or a bar
_MANY = 5

Count = tuple[int, int]
"""Labels that stayed, and labels."""


class Survival:
    """Counts over a pairing as it was when this was made."""

    __slots__ = ("_new", "_old", "kept")

    def __init__(self, pairing: Pairing) -> None:
        old, new = pairing.old, pairing.new
        new_key = new.key
        self.kept = [
            bool(token) and partner != -1 and key == new_key[partner]
            for token, partner, key in zip(old.token, pairing.to_new, old.key, strict=True)
        ]
        kept_new = [
            bool(token) and partner != -1 and self.kept[partner]
            for token, partner in zip(new.token, pairing.to_old, strict=True)
        ]
        self._old, self._new = _Side(old, self.kept), _Side(new, kept_new)

    def around(self, old: int, new: int) -> bool | None:
        """Whether the surroundings are still the same place; None if there are too few labels to tell.

        People know a place by its title. Where it has none, most of the labels must have stayed.
        """
        places = self._old.sketch.fixed_place[old], self._new.sketch.fixed_place[new]
        sides = [side.fixed_in(place) for side, place in zip((self._old, self._new), places, strict=True)]
        counts = [count for count in sides if count[1] >= NEIGHBOURHOOD]
        if not counts:
            return None
        if self._is_place(counts, places, old, new) or self._only_title_changed(old, new):
            return True
        # A drawer opened over a feed around which nothing is written: nothing was lost.
        kept, names = sides[0]
        return None if names < NEIGHBOURHOOD and kept == names else False

    def _is_place(self, counts: list[Count], places: tuple[int, int], old: int, new: int) -> bool:
        title = self.title_stays(*places)
        if title is None:
            return any(map(_most, counts))
        if title:
            return self._under_same_title(counts, self.renamed(old, new))
        return self._under_another_title(counts, places[0])

    def _under_same_title(self, counts: list[Count], is_renamed: bool) -> bool:
        """A section unfolded: a third of the labels is enough, but most for what was renamed itself."""
        return any(map(_most, counts)) or (not is_renamed and any(map(_third, counts)))

    def _under_another_title(self, counts: list[Count], place: int) -> bool:
        """Another tab was chosen: the bars around a page that fills the screen are nearly all its labels."""
        return not self._floats(place) and any(map(_nearly_all, counts))

    def _only_title_changed(self, old: int, new: int) -> bool:
        """The title was "Loading" a moment ago. In a dialog it tells the next question from the last one."""
        windows = self._old.sketch.window(old), self._new.sketch.window(new)
        counts = self._old.all_in(windows[0]), self._new.all_in(windows[1])
        is_only = all(names - kept <= 1 and kept >= NEIGHBOURHOOD for kept, names in counts)
        return is_only and not self._floats(windows[0])

    def title_stays(self, old_place: int, new_place: int) -> bool | None:
        """Whether the title of a place was there before or is there now; None if it has none."""
        old, new = self._old.sketch.title(old_place), self._new.sketch.title(new_place)
        if old == new == -1:
            return None
        return self._old.stays(old) or self._new.stays(new)

    def _floats(self, place: int) -> bool:
        screen, bounds = self._old.sketch.screen, self._old.sketch.nodes[place].bounds
        return bounds.area < _WHOLE * screen.width * screen.height

    def renamed(self, old: int, new: int) -> bool:
        """None of its labels stayed; a field shows its hint, or hides it, as it is typed into."""
        if self._old.sketch.nodes[old].role == "text_field":
            return False
        (kept, names), (_, new_names) = self._old.all_in(old), self._new.all_in(new)
        return kept == 0 < names + new_names

    def within(self, old: int, new: int, old_row: int, new_row: int) -> bool:
        """Whether most labels around stayed inside one row, for rows as large as a page."""
        verdict = True
        for side, order, row in ((self._old, old, old_row), (self._new, new, new_row)):
            place = side.sketch.place[order]
            if place >= row:
                if _most(side.all_in(place)):
                    return True
                verdict = False
        return verdict

    def of_group(self, old: int, new: int) -> bool | None:
        """Whether most names stayed in the nearest part around that has one of its own; None without one."""
        sides = ((self._old, old), (self._new, new))
        counts = [side.names_in(place) for side, order in sides if (place := side.nearest_named(order)) > 0]
        return None if not counts or any(map(_most, counts)) else False

    def of_names(self, old: int, new: int) -> bool:
        """Whether most names inside stayed that nothing else says, on the screen that shows fewer of them."""
        return _most(self._old.names_in(old)) or _most(self._new.names_in(new))

    def groups(self, old: int, new: int) -> tuple[int, int]:
        """The nearest parts around that have a name of their own; -1 where there is none."""
        return self._old.nearest_named(old), self._new.nearest_named(new)

    def has_no_words(self) -> bool:
        """On both screens."""
        return self._old.all_in(0)[1] + self._new.all_in(0)[1] == 0

    def of_screen(self) -> bool:
        """Whether most labels stayed, with the title; nearly all of them, without it."""
        sides = [self._old.all_in(0), self._new.all_in(0)]
        if self.title_stays(0, 0) is False:
            return self._under_another_title(sides, 0)
        return all(map(_most, sides))

    def of_fixed(self) -> bool:
        """Whether most labels outside scroll containers stayed; true if there are none."""
        sides = (self._old.fixed_in(0), self._new.fixed_in(0))
        return all(side[1] == 0 or _most(side) for side in sides)

    def of_every_fixed(self) -> bool:
        """Whether all labels outside scroll containers stayed, and the title."""
        sides = (self._old.fixed_in(0), self._new.fixed_in(0))
        return all(0 < kept == names for kept, names in sides) and bool(self.title_stays(0, 0))

    def of_content(self, old: int, new: int) -> bool:
        """Whether most labels inside stayed, on the screen that shows fewer of them."""
        return _most(self._old.all_in(old)) or _most(self._new.all_in(new))

    def of_page(self, old: int, new: int) -> bool:
        """Whether a row has so many names, and so many of them stayed, that it is known without its place."""
        return _nearly_all(self._old.names_in(old)) and _nearly_all(self._new.names_in(new))

    def of_part(self, old: int, new: int) -> bool:
        """Whether all labels of the side that has fewer stayed: a row of which an edge hides a part."""
        (kept_old, names_old), (kept_new, names_new) = self._old.own_in(old), self._new.own_in(new)
        return min(kept_old, kept_new) >= min(names_old, names_new)

    def of_row(self, old: int, new: int) -> tuple[int, int]:
        """(names kept, names) of a row, whichever side is worse; what other rows say too does not count."""
        kept_old, names_old = self._old.unique_in(old)
        kept_new, names_new = self._new.unique_in(new)
        return min(kept_old, kept_new), max(names_old, names_new)


class _Side:
    __slots__ = ("_fixed_kept", "_fixed_names", "_flags", "_kept", "_names", "sketch")

    def __init__(self, sketch: Sketch, kept: list[bool]) -> None:
        self.sketch = sketch
        self._flags = kept
        # A number that changed is a value, not a name: it counts only if it stayed.
        names = [stays or token in _NAMES for token, stays in zip(sketch.token, kept, strict=True)]
        outside = [scroller == -1 for scroller in sketch.scroller]
        self._kept, self._names = running(kept), running(names)
        self._fixed_kept = running([k and o for k, o in zip(kept, outside, strict=True)])
        self._fixed_names = running([n and o for n, o in zip(names, outside, strict=True)])

    def all_in(self, order: int) -> tuple[int, int]:
        end = self.sketch.nodes[order].end
        return self._kept[end] - self._kept[order], self._names[end] - self._names[order]

    def fixed_in(self, order: int) -> tuple[int, int]:
        end = self.sketch.nodes[order].end
        kept, names = self._fixed_kept, self._fixed_names
        return kept[end] - kept[order], names[end] - names[order]

    def nearest_named(self, order: int) -> int:
        """The nearest node around that has a name that nothing else on the screen has."""
        sketch = self.sketch
        node = sketch.nodes[order].parent
        while node is not None and sketch.first_name(node.order) == -1:
            node = node.parent
        return node.order if node is not None else -1

    def names_in(self, order: int) -> tuple[int, int]:
        """The names that nothing else on the screen has."""
        return self._count([each for each in self._span(order) if self.sketch.token[each] == NAME])

    def unique_in(self, order: int) -> tuple[int, int]:
        """As `names_in`, of the row itself: not of the rows of a list inside it."""
        token, unit = self.sketch.token, self.sketch.unit
        return self._count(
            [each for each in self._span(order) if token[each] == NAME and unit[each] == order]
        )

    def own_in(self, order: int) -> tuple[int, int]:
        """As `all_in`, without the rows of a list inside it."""
        token, unit = self.sketch.token, self.sketch.unit
        own = [each for each in self._span(order) if token[each] in _NAMES and unit[each] == order]
        return self._count(own)

    def _span(self, order: int) -> range:
        return range(order, self.sketch.nodes[order].end)

    def _count(self, orders: list[int]) -> tuple[int, int]:
        return sum([self._flags[order] for order in orders]), len(orders)

    def stays(self, order: int) -> bool:
        return order != -1 and self._flags[order]


def _most(count: Count) -> bool:
    kept, names = count
    return 2 * kept > names


def _third(count: Count) -> bool:
    kept, names = count
    return 3 * kept >= names


def _nearly_all(count: Count) -> bool:
    kept, names = count
    return kept >= _MANY and 4 * kept >= 3 * names
