"""Notes: an app of one's own making, debuggable, so its SQLite file and preferences can be looked into."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.apps.searching import Searching
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.world import HOUR_MS, entries
from handrail_sim.view import Style, View

_HOUR_MS = 3_600_000
_SEEDED = (
    ("Welcome", "Tap a note to edit it.\nHold a note to delete it.", 72),
    ("Shopping", "Oats\nPears\nLamp oil\nA ball of green string", 20),
    ("Books to return", "The Tin Lighthouse\nSeven Quiet Ferries", 5),
)


@dataclass(frozen=True, slots=True)
class Note:
    """One note; `changed_ms` is the wall clock of its last edit."""

    id: int
    title: str
    body: str
    changed_ms: int


class Store:
    """The table of notes, seeded once (`user_version`)."""

    def __init__(self, database: sqlite3.Connection, now_ms: int) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create(now_ms)

    def _create(self, now_ms: int) -> None:
        self._database.execute(
            "CREATE TABLE notes (_id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, "
            "body TEXT NOT NULL, changed INTEGER NOT NULL)"
        )
        for title, body, hours in _SEEDED:
            self._insert(title, body, now_ms - hours * _HOUR_MS)
        self._database.execute("PRAGMA user_version = 1")
        self._database.commit()

    def _insert(self, title: str, body: str, now_ms: int) -> int:
        cursor = self._database.execute(
            "INSERT INTO notes (title, body, changed) VALUES (?, ?, ?)", (title, body, now_ms)
        )
        return int(cursor.lastrowid or 0)

    def all(self, order: str = "changed", query: str = "") -> list[Note]:
        """By the time of the last change, the newest first, or by `title` or `created`."""
        rows = self._database.execute("SELECT _id, title, body, changed FROM notes ORDER BY _id")
        wanted = query.casefold()
        notes = [note for row in rows if wanted in f"{(note := Note(*row)).title}\n{note.body}".casefold()]
        if order == "title":
            return sorted(notes, key=lambda note: note.title.casefold())
        return notes if order == "created" else sorted(notes, key=lambda note: (-note.changed_ms, -note.id))

    def get(self, note_id: int) -> Note | None:
        row = self._database.execute(
            "SELECT _id, title, body, changed FROM notes WHERE _id = ?", (note_id,)
        ).fetchone()
        return Note(*row) if row else None

    def add(self, title: str, body: str, now_ms: int) -> int:
        added = self._insert(title, body, now_ms)
        self._database.commit()
        return added

    def change(self, note_id: int, title: str, body: str, now_ms: int) -> None:
        self._database.execute(
            "UPDATE notes SET title = ?, body = ?, changed = ? WHERE _id = ?", (title, body, now_ms, note_id)
        )
        self._database.commit()

    def delete(self, note_id: int) -> None:
        self._database.execute("DELETE FROM notes WHERE _id = ?", (note_id,))
        self._database.commit()

    def put_back(self, note: Note) -> None:
        """What undo does: the same note under the same id."""
        self._database.execute(
            "INSERT INTO notes (_id, title, body, changed) VALUES (?, ?, ?, ?)",
            (note.id, note.title, note.body, note.changed_ms),
        )
        self._database.commit()


def open_store(app: App) -> Store:
    return Store(app.database("notes.db"), app.phone.wall_ms())


_EDITOR_TITLE = Style(kind="field", role="plain", size=22.0, bold=True)
_EDITOR_BODY = Style(kind="field", role="plain", size=16.0)


class Editor(Activity):
    """The extra `note` is the note's id, 0 for a new one. What is typed survives rotation in `state`."""

    title = "Edit note"

    def on_create(self) -> None:
        note = self.store.get(self.extras.get("note", 0))
        title, body = (note.title, note.body) if note else ("", "")
        self.state.update(note=note.id if note else 0, title=title, body=body, was=[title, body])

    @property
    def store(self) -> Store:
        return open_store(self.app)

    def build(self) -> View:
        exists = bool(self.state["note"])
        return ui.screen(
            ui.toolbar(
                "Edit note" if exists else "New note",
                ui.icon_button("check", "Save", self.leave, id="action_save"),
                ui.icon_button("delete", "Delete", self.ask_to_delete, id="action_delete")
                if exists
                else None,
                on_up=self.leave,
            ),
            ui.field(
                "title",
                self.state["title"],
                self.sets("title"),
                hint="Title",
                ime_action="next",
                style=_EDITOR_TITLE,
            ),
            ui.field(
                "body",
                self.state["body"],
                self.sets("body"),
                hint="Note",
                multiline=True,
                ime_action="none",
                weight=1.0,
                style=_EDITOR_BODY,
            ),
        )

    def on_pause(self) -> None:
        """Android may never come back from here, so this is where notes are written."""
        if not self.state.get("dropped"):
            self._keep()

    def _keep(self) -> None:
        title, body = self.state["title"].strip(), self.state["body"].rstrip()
        if [title, body] == self.state["was"] or not (title or body):
            return
        now = self.phone.wall_ms()
        if self.state["note"]:
            self.store.change(self.state["note"], title, body, now)
        else:
            self.state["note"] = self.store.add(title, body, now)
        self.state["was"] = [title, body]

    def leave(self) -> None:
        self.back()
        self.finish()

    def back(self) -> bool:
        blank = not (self.state["title"].strip() or self.state["body"].strip())
        if blank and not self.state["note"]:
            self.toast("Empty note discarded")
        return False

    def ask_to_delete(self) -> None:
        self.dialog(
            "Delete note?", "You can undo this for a few seconds.", {"Cancel": None, "Delete": self.delete}
        )

    def delete(self) -> None:
        self.state["dropped"] = True
        self.finish({"delete": self.state["note"]})


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
        bar = (
            self._search_bar()
            if self.state["searching"]
            else ui.toolbar(
                "Notes",
                ui.icon_button("search", "Search", self.search, id="action_search"),
                ui.icon_button("sort", "Sort by", self.choose_order, id="action_sort"),
            )
        )
        return ui.frame(
            ui.screen(bar, self._list(notes) if notes else self._empty()),
            ui.fab("add", "New note", self.write_new, id="new_note"),
            height="fill",
        )

    def _search_bar(self) -> View:
        return ui.row(
            ui.icon_button("back", "Collapse", self.stop_searching),
            ui.field(
                "search_src_text",
                self.state["query"],
                self.look_for,
                hint="Search notes",
                ime_action="search",
                style=Style(kind="field", role="plain", size=18.0),
                weight=1.0,
            ),
            ui.icon_button("close", "Clear query", self.clear, id="search_close_btn"),
            height=56.0,
            padding=(4.0, 0.0),
            style=Style(kind="toolbar", background="surface"),
        )

    def _list(self, notes: list[Note]) -> View:
        return ui.lazy_list(notes, self._card, lambda note: f"note:{note.id}", id="notes_list", weight=1.0)

    def _card(self, note: Note) -> View:
        return ui.card(
            ui.text(note.title or "Untitled", id="note_title", style=_TITLE),
            ui.text(note.body, id="note_body", style=_BODY) if note.body else None,
            id="note_card",
            gap=4.0,
            on_click=partial(self.open, note.id),
            on_long_click=partial(self.ask_to_delete, note.id),
        )

    def _empty(self) -> View:
        words = "No notes match" if self.state["query"] else "No notes yet"
        return ui.message(ui.icon("note", size=96.0), ui.text(words, "subtitle", id="empty"))

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
        saved = [note.id, note.title, note.body, note.changed_ms]
        self.snackbar("Note deleted", "Undo", partial(self.put_back, saved))

    def put_back(self, saved: list[Any]) -> None:
        self.store.put_back(Note(*saved))

    def edited(self, result: Any) -> None:
        if isinstance(result, dict) and "delete" in result:
            self.delete(result["delete"])


_TITLE = Style(kind="text", role="subtitle", size=16.0, bold=True, max_lines=1)
_BODY = Style(kind="text", role="body", size=14.0, color="on_surface_variant", max_lines=3)


@declared
class Notes(App):
    """com.handrail.notes."""

    activities = {".MainActivity": Overview, ".EditActivity": Editor}

    def on_create(self) -> None:
        open_store(self)

    def fill(self, content: Any) -> None:
        """Notes with `title`, `body`, `hours_ago` (the later in the list, the newer)."""
        notes = entries(content, "notes", "title body hours_ago")
        store, now = open_store(self), self.phone.wall_ms()
        if not notes.adds:
            for note in store.all():
                store.delete(note.id)
        for number, entry in enumerate(notes.rows):
            at = now - int(float(entry.get("hours_ago", len(notes.rows) - number)) * HOUR_MS)
            store.add(str(entry.get("title", "")), str(entry.get("body", "")), at)

    def state(self) -> dict[str, Any]:
        notes = open_store(self).all("created")
        return {
            "sort": str(self.prefs("settings").get("sort", "changed")),
            "notes": [{"id": note.id, "title": note.title, "body": note.body} for note in notes],
        }


APP = Notes
