"""What every page of Settings is made of; `pages.toml` has their names and the rows that never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from handrail_sim.resources import table
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, header, icon, item, lazy_list, screen, switch, text, toolbar
from handrail_sim.view.view import Handler

PAGES: dict[str, Any] = table("apps/settings/pages.toml")
ACTIVITIES: dict[str, str] = PAGES["activities"]
"""Page → its component."""


class Page(Activity):
    """A title and rows. Subclasses say what the rows are."""

    def rows(self) -> Sequence[View | None]:
        """The page's rows for the present state; None is left out."""
        raise NotImplementedError

    def listed(self, name: str) -> list[View]:
        """The rows that `pages.toml` has under this name."""
        return [self._listed(*fields) for fields in PAGES["rows"][name]]

    def _listed(self, kind: str, title: str, *fields: str) -> View:
        match kind:
            case "group":
                return group(title)
            case "toggle":
                return self.toggle(title, *fields)
            case "page":
                return self.link(title, *fields)
            case "prop":
                return link(title, None, self.phone.props.get(fields[0], ""))
            case "scale":
                return link(title, None, f"{self.get('global', fields[0], '1')}x")
        return link(title, None, *fields)

    def build(self) -> View:
        rows = [row for row in self.rows() if row is not None]
        listed = lazy_list(rows, lambda row: row, id="recycler_view", weight=1.0)
        return screen(toolbar(self.title, on_up=self.finish, id="action_bar"), listed, id="content_parent")

    def get(self, space: str, name: str, otherwise: str = "0") -> str:
        """A value of the system's settings, as `settings get` prints it."""
        return self.phone.settings[space].get(name, otherwise)

    def put(self, space: str, name: str, value: str) -> None:
        self.phone.put_setting(space, name, value)

    def toggle(self, title: str, space: str, name: str, summary: str = "", otherwise: str = "0") -> View:
        """A row with a switch that stands for one value, 0 or 1."""

        def change(on: bool) -> None:
            self.put(space, name, "1" if on else "0")

        return toggle(title, self.get(space, name, otherwise) == "1", change, summary)

    def link(self, title: str, page: str, summary: str = "", picture: str = "") -> View:
        return link(title, partial(self.start, ACTIVITIES[page]), summary, picture)


def listed_page(name: str, title_: str) -> type[Page]:
    """A page of rows that never change."""

    class Listed(Page):
        """See `pages.toml`."""

        title = title_

        def rows(self) -> Sequence[View | None]:
            return self.listed(name)

    return Listed


def link(title: str, on_click: Handler | None, summary: str = "", picture: str = "") -> View:
    """A row that leads somewhere, or, without a handler, only tells."""
    leading = icon(picture, id="android:id/icon") if picture else None
    return item(title, summary, leading, key=f"row:{title}", on_click=on_click)


def toggle(
    title: str,
    on: bool,
    change: Callable[[bool], object],
    summary: str = "",
    enabled: bool = True,
    picture: str = "",
) -> View:
    """A row with a switch: the row takes the tap, the switch shows what is."""
    handle = switch(
        "",
        on,
        id="android:id/switch_widget",
        on_click=None,
        clickable=False,
        focusable=False,
        enabled=enabled,
        key=f"switch:{title}",
    )
    leading = icon(picture, id="android:id/icon") if picture else None
    return item(
        title, summary, leading, handle, key=f"row:{title}", on_click=lambda: change(not on), enabled=enabled
    )


def group(title: str) -> View:
    return header(title, key=f"group:{title}")


def note(words: str) -> View:
    return text(words, "label", id="android:id/title", padding=(16.0, 16.0), key="note")
