"""The form for a new or a known person: what is wrong is said under the field; leaving asks first."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.contacts.store import LABELS, Contact, open_store, problems
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, button, column, field, icon, row, scroll, text, toolbar

_CARD = "com.android.contacts.quickcontact.QuickContactActivity"
# field, what it is called, icon, kind of keyboard
_FIELDS = (
    ("first", "First name", "person", "text"),
    ("last", "Last name", "", "text"),
    ("company", "Company", "work", "text"),
    ("phone", "Phone", "call", "phone"),
    ("email", "Email", "mail", "email"),
)


class Editor(Activity):
    """Without the extra `contact` it makes a new one."""

    title = "Contact editor"

    def on_create(self) -> None:
        known = open_store(self.phone).get(self.extras.get("contact", 0)) or Contact(
            first=str(self.extras.get("name", "")), phone=str(self.extras.get("phone", ""))
        )
        self.state["fields"] = {name: getattr(known, name) for name, *_ in _FIELDS}
        self.state["fields"]["label"] = known.label
        self.state["was"] = dict(self.state["fields"])
        self.state["errors"] = {}

    def build(self) -> View:
        title = "Edit contact" if self.extras.get("contact") else "Create contact"
        save = button("Save", self.save, id="editor_menu_save_button")
        form = column(*(self._field(*each) for each in _FIELDS), padding=16.0, gap=8.0)
        return column(
            toolbar(title, save, on_up=self.leave, up="Cancel", padding=(4.0, 0.0, 16.0, 0.0)),
            scroll(form, id="contact_editor_fragment", height="wrap", weight=1.0),
            height="fill",
        )

    def _field(self, name: str, label: str, picture: str, keyboard: str) -> View:
        error = self.state["errors"].get(name, "")
        style = Style(kind="field", role="outlined", size=16.0, error=error)
        entry = field(
            name,
            self.state["fields"][name],
            partial(self.change, name),
            hint=label,
            input_type=keyboard,
            ime_action="done" if name == "email" else "next",
            style=style,
        )
        return row(
            icon(picture, margin=(0.0, 16.0)) if picture else column(width=24.0, height=24.0),
            column(
                entry,
                self._label() if name == "phone" else None,
                text(error, "error", id="textinput_error", style=_ERROR) if error else None,
                weight=1.0,
            ),
            gap=16.0,
            gravity="top",
        )

    def _label(self) -> View:
        words = LABELS.get(self.state["fields"]["label"], "Other")
        return button(words, self.ask_label, "text", id="phone_label", desc=f"{words} Phone")

    def ask_label(self) -> None:
        known = list(LABELS)
        chosen = self.state["fields"]["label"]
        at = known.index(chosen) if chosen in known else -1
        self.choose("Phone label", list(LABELS.values()), self.set_label, at)

    def set_label(self, number: int) -> None:
        self.state["fields"]["label"] = list(LABELS)[number]

    def change(self, name: str, words: str) -> None:
        self.state["fields"][name] = words
        self.state["errors"].pop(name, None)

    def save(self) -> None:
        given = {name: words.strip() for name, words in self.state["fields"].items()}
        contact = Contact(id=self.extras.get("contact", 0), **given)
        self.state["errors"] = problems(contact)
        if self.state["errors"]:
            return
        saved = open_store(self.phone).save(contact)
        self.toast("Contact saved")
        self.finish()
        if not contact.id:
            self.start(_CARD, contact=saved)

    def leave(self) -> None:
        if not self.back():
            self.finish()

    def back(self) -> bool:
        if self.state["fields"] == self.state["was"]:
            return False
        self.dialog("", "Discard your changes?", {"Keep editing": None, "Discard": self.finish})
        return True


_ERROR = Style(kind="text", role="error", size=12.0, color="error")
