"""One note: a title and a body of many lines, kept when the person leaves."""

from __future__ import annotations

from handrail_sim.apps.notes.store import Store, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, column, field, icon_button, toolbar

_TITLE = Style(kind="field", role="plain", size=22.0, bold=True)
_BODY = Style(kind="field", role="plain", size=16.0)


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
        known = bool(self.state["note"])
        return column(
            toolbar(
                "Edit note" if known else "New note",
                icon_button("check", "Save", self.leave, id="action_save"),
                icon_button("delete", "Delete", self.ask_to_delete, id="action_delete") if known else None,
                on_up=self.leave,
            ),
            field(
                "title", self.state["title"], self.set_title, hint="Title", ime_action="next", style=_TITLE
            ),
            field(
                "body",
                self.state["body"],
                self.set_body,
                hint="Note",
                multiline=True,
                ime_action="none",
                height="wrap",
                weight=1.0,
                style=_BODY,
            ),
            height="fill",
        )

    def set_title(self, words: str) -> None:
        self.state["title"] = words

    def set_body(self, words: str) -> None:
        self.state["body"] = words

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
            "Delete note?",
            "You can undo this for a few seconds.",
            {"Cancel": None, "Delete": self.delete},
        )

    def delete(self) -> None:
        self.state["dropped"] = True
        self.finish({"delete": self.state["note"]})
