"""Runs navigations over the screens of the corpus: there, and often back again; says what went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from handrail.errors import TreeParseError
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.judge.dumps import View, read, write
from tests.judge.follow import views_of
from tests.judge.judge import Page, names, objection
from tests.judge.navigate import NAVIGATIONS, Navigation, Roots, carried, number

_BACK = 0.25  # of the navigations end where they began
_LARGEST = 400  # views; larger screens take long and show nothing else


class Voyage:
    """Counts by navigation: pairs of screens, elements that are still there, those that kept their ref."""

    def __init__(self, corpus: Path, every: int = 1) -> None:
        paths = sorted(
            path
            for folder in ("uiautomator", "appium", "pairs", "second", "json")
            for path in (corpus / folder).glob("*.*")
            if path.suffix in (".xml", ".json")
        )
        self.screens = [roots for path in paths[::every] if (roots := _usable(path))]
        self.pairs = self.refs = 0
        self.counts: dict[str, tuple[int, int, int]] = {}

    def go(self, seed: int) -> Iterator[str]:
        """One navigation from one screen."""
        rng = Random(seed)
        roots = self.screens[seed % len(self.screens)]
        navigation = NAVIGATIONS[seed // len(self.screens) % len(NAVIGATIONS)]
        after = navigation(roots, self._stranger(roots, rng), rng)
        if after is not None:
            way = [roots, after, carried(roots)] if rng.random() < _BACK else [roots, after]
            yield from self._walk(navigation, way, seed)

    def _stranger(self, roots: Roots, rng: Random) -> Roots:
        """A screen of another app, for content that has nothing to do with this one's."""
        while True:
            donor = rng.choice(self.screens)
            if Page(donor).package != Page(roots).package:
                return donor

    def _walk(self, navigation: Navigation, way: list[Roots], seed: int) -> Iterator[str]:
        name = navigation.__name__
        registry = Registry()
        owner: dict[str, View] = {}
        pages: dict[str, Page] = {}
        shown: dict[str, View] = {}
        for roots in way:
            screen = parse(write(roots))
            printed = registry.rebuild(screen).ref_map
            views, page = views_of(screen, roots), Page(roots)
            live = {ref: views[node] for ref, node in registry.refs.items() if node in views}
            for ref, view in live.items():
                was = owner.get(ref)
                if was is not None and (why := _wrong(was, view, pages[ref], page)):
                    yield f"{name}: {why}: seed {seed} {ref} {_told(was)} => {_told(view)}"
            self._count(name, shown, live, page)
            shown = {ref: views[node] for ref, node in printed.items() if node in views}
            for ref, view in live.items():
                owner[ref], pages[ref] = view, page
            self.refs += len(live)

    def _count(self, name: str, shown: dict[str, View], live: dict[str, View], page: Page) -> None:
        here = {view.token for view in page.views}
        made, survivors, kept = self.counts.get(name, (0, 0, 0))
        still = [ref for ref, view in shown.items() if view.token in here]
        kept += sum(ref in live for ref in still)
        self.counts[name] = (made + bool(shown), survivors + len(still), kept)
        self.pairs += bool(shown)


def _wrong(was: View, now: View, before: Page, after: Page) -> str:
    if was.token != now.token:
        return "another element"
    return objection(was, now, before, after)


def _told(view: View) -> str:
    return f"{view.kind.rpartition('.')[2]} {view.id.rpartition('/')[2]} {names(view)[:3]} {view.box}"


def _usable(path: Path) -> Roots | None:
    roots = read(path)
    size = sum(1 for root in roots for _ in root.walk())
    if not 5 <= size <= _LARGEST:
        return None
    try:
        parse(write(roots))
    except TreeParseError:
        return None
    return number(roots)
