"""All notes: sorted as the preferences say, searched, deleted after a question and brought back by undo."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim.apps.notes.store import Note, Store, open_store
from handrail_sim.apps.searching import Searching
from handrail_sim.view import (
    Style,
    View,
    card,
    column,
    fab,
    field,
    frame,
    icon,
    icon_button,
    lazy_list,
    row,
    text,
    toolbar,
)

_ORDER_LABELS = {"changed": "Last changed", "title": "Title", "created": "Date created"}


class Overview(Searching):
    """What opens from the launcher."""

    search_field = "search_src_text"

    title = "Notes"

    def on_create(self) -> None:
        self.state.update(searching=False, query="")

    @property
    def store(self) -> Store:
        return open_store(self.app)

    @property
    def order(self) -> str:
        return str(self.app.prefs("settings").get("sort", "changed"))

    def build(self) -> View:
        notes = self.store.all(self.order, self.state["query"])
        bar = self._search_bar() if self.state["searching"] else self._title_bar()
        return frame(
            column(bar, self._list(notes) if notes else self._empty(), height="fill"),
            fab("add", "New note", self.write_new, id="new_note"),
            height="fill",
        )

    def _title_bar(self) -> View:
        return toolbar(
            "Notes",
            icon_button("search", "Search", self.search, id="action_search"),
            icon_button("sort", "Sort by", self.choose_order, id="action_sort"),
        )

    def _search_bar(self) -> View:
        return row(
            icon_button("back", "Collapse", self.stop_searching),
            field(
                "search_src_text",
                self.state["query"],
                self.look_for,
                hint="Search notes",
                ime_action="search",
                style=Style(kind="field", role="plain", size=18.0),
                width="wrap",
                weight=1.0,
            ),
            icon_button("close", "Clear query", self.clear, id="search_close_btn"),
            height=56.0,
            padding=(4.0, 0.0),
            style=Style(kind="toolbar", background="surface"),
        )

    def _list(self, notes: list[Note]) -> View:
        return lazy_list(
            notes, self._card, lambda note: f"note:{note.id}", id="notes_list", height="wrap", weight=1.0
        )

    def _card(self, note: Note) -> View:
        return card(
            text(note.title or "Untitled", id="note_title", style=_TITLE),
            text(note.body, id="note_body", style=_BODY) if note.body else None,
            id="note_card",
            gap=4.0,
            on_click=partial(self.open, note.id),
            on_long_click=partial(self.ask_to_delete, note.id),
        )

    def _empty(self) -> View:
        words = "No notes match" if self.state["query"] else "No notes yet"
        return column(
            icon("note", size=96.0),
            text(words, "subtitle", id="empty"),
            height="wrap",
            weight=1.0,
            gravity="center",
            gap=16.0,
        )

    def choose_order(self) -> None:
        self.menu("action_sort", {label: partial(self.sort, order) for order, label in _ORDER_LABELS.items()})

    def sort(self, order: str) -> None:
        self.app.prefs("settings")["sort"] = order

    def write_new(self) -> None:
        self.open(0)

    def open(self, note_id: int) -> None:
        self.start(".EditActivity", then=self.edited, note=note_id)

    def ask_to_delete(self, note_id: int) -> None:
        self.dialog(
            "Delete note?",
            "You can undo this for a few seconds.",
            {"Cancel": None, "Delete": partial(self.delete, note_id)},
        )

    def delete(self, note_id: int) -> None:
        note = self.store.get(note_id)
        if note is None:
            return
        self.store.delete(note_id)
        kept = [note.id, note.title, note.body, note.changed_ms]
        self.snackbar("Note deleted", "Undo", partial(self.put_back, kept))

    def put_back(self, kept: list[Any]) -> None:
        self.store.put_back(Note(*kept))

    def edited(self, result: Any) -> None:
        """The editor's menu asks the overview to delete, so that undo stands where the list is."""
        if isinstance(result, dict) and "delete" in result:
            self.delete(result["delete"])


_TITLE = Style(kind="text", role="subtitle", size=16.0, bold=True, max_lines=1)
_BODY = Style(kind="text", role="body", size=14.0, color="on_surface_variant", max_lines=3)
