"""Contacts: people with search, create, edit, favourites and delete, kept in SQLite."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.apps.searching import Searching
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.device import Device
from handrail_sim.system.first_data import add_data, add_person
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import entries, needed
from handrail_sim.view import Style, View
from handrail_sim.view.view import Handler

# ruff: noqa: S608 - only names of our own columns


# What the app shows of a person, and the kind and column of the provider's data where it stands.
_PLACES = {
    "first": ("name", "data2"),
    "last": ("name", "data3"),
    "phone": ("phone_v2", "data1"),
    "email": ("email_v2", "data1"),
    "company": ("organization", "data1"),
    "label": ("phone_v2", "data2"),
}
# Android's `type` of a number, as the app calls it.
LABELS = {"2": "Mobile", "1": "Home", "3": "Work", "12": "Main", "7": "Other"}
MOBILE = "2"
_SELECT = (
    "SELECT c._id, c.starred, coalesce(r.display_name, '') AS display_name, "
    + ", ".join(
        f"coalesce((SELECT {data_column} FROM data JOIN mimetypes AS m ON m._id = data.mimetype_id WHERE "
        f"raw_contact_id = r._id AND m.mimetype = 'vnd.android.cursor.item/{kind}' "
        f"ORDER BY data._id LIMIT 1), '') AS {name}"
        for name, (kind, data_column) in _PLACES.items()
    )
    + " FROM contacts AS c JOIN raw_contacts AS r ON r._id = c.name_raw_contact_id"
)


@dataclass(frozen=True, slots=True)
class Contact:
    """One person; `id` 0 is one that was not saved yet."""

    id: int = 0
    first: str = ""
    last: str = ""
    phone: str = ""
    email: str = ""
    company: str = ""
    starred: bool = False
    label: str = MOBILE

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()


class Store:
    """The people of the contacts provider."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def everybody(self, query: str = "") -> list[Contact]:
        """By name; with a query those whose name, company or number has it."""
        rows = self._database.execute(_SELECT)
        contacts = [contact for row in rows if matches(contact := _contact(row), query)]
        return sorted(contacts, key=lambda contact: (contact.name.casefold(), contact.id))

    def get(self, contact_id: int) -> Contact | None:
        row = self._database.execute(_SELECT + " WHERE c._id = ?", (contact_id,)).fetchone()
        return _contact(row) if row else None

    def save(self, contact: Contact) -> int:
        details: dict[str, str] = {
            "phone_v2": contact.phone,
            "email_v2": contact.email,
            "organization": contact.company,
        }
        saved = contact.id
        if saved:
            self._update(contact, {"name": contact.name, **details})
            self._set_label(contact, saved)
        else:
            saved = add_person(self._database, contact.first, contact.last, details, contact.starred)
            self._set_label(contact, saved)
        self._database.commit()
        return saved

    def _update(self, contact: Contact, wanted: dict[str, str]) -> None:
        """Row by row, so that what the app does not show stays as it is."""
        raw = int(
            self._database.execute(
                "SELECT name_raw_contact_id FROM contacts WHERE _id = ?", (contact.id,)
            ).fetchone()[0]
        )
        for kind, value in wanted.items():
            match = self._database.execute(
                "SELECT data._id FROM data JOIN mimetypes AS m ON m._id = data.mimetype_id "
                "WHERE raw_contact_id = ? AND mimetype = ? ORDER BY data._id",
                (raw, f"vnd.android.cursor.item/{kind}"),
            ).fetchone()
            parts = (value, contact.first, contact.last) if kind == "name" else (value,)
            if match is None:
                if value:
                    add_data(self._database, raw, kind, *parts)
            elif value:
                columns = ", ".join(f"data{number} = ?" for number in range(1, len(parts) + 1))
                self._database.execute(f"UPDATE data SET {columns} WHERE _id = ?", (*parts, match[0]))
            else:
                self._database.execute("DELETE FROM data WHERE _id = ?", (match[0],))

    def _set_label(self, contact: Contact, saved: int) -> None:
        self._database.execute(
            "UPDATE data SET data2 = ? WHERE raw_contact_id = "
            "(SELECT name_raw_contact_id FROM contacts WHERE _id = ?) AND mimetype_id = "
            "(SELECT _id FROM mimetypes WHERE mimetype = 'vnd.android.cursor.item/phone_v2')",
            (contact.label, saved),
        )

    def star(self, contact_id: int, starred: bool) -> None:
        self._database.execute("UPDATE contacts SET starred = ? WHERE _id = ?", (int(starred), contact_id))
        self._database.commit()

    def delete(self, contact_id: int) -> None:
        self._database.execute("DELETE FROM raw_contacts WHERE contact_id = ?", (contact_id,))
        self._database.commit()


def open_store(phone: Device) -> Store:
    return Store(phone.providers.database("contacts2.db"))


def _contact(row: sqlite3.Row) -> Contact:
    arguments = {name: row[name] for name in _PLACES}
    if not arguments["first"] and not arguments["last"]:
        arguments["first"] = row["display_name"]
    arguments["label"] = arguments["label"] or MOBILE
    return Contact(row["_id"], **arguments, starred=bool(row["starred"]))


def matches(contact: Contact, query: str) -> bool:
    words = query.casefold().split()
    text = f"{contact.name} {contact.company} {contact.phone} {digits(contact.phone)}".casefold()
    return all(word in text for word in words)


def digits(phone: str) -> str:
    """A number without the spaces, dashes and brackets that people write."""
    return re.sub(r"[^\d+]", "", phone)


def problems(contact: Contact) -> dict[str, str]:
    matches = {}
    if not contact.name:
        matches["first"] = "Name is required"
    if contact.phone and not re.fullmatch(r"\+?[\d ()./-]+", contact.phone):
        matches["phone"] = "Not a phone number"
    elif contact.phone and len(digits(contact.phone)) < 3:
        matches["phone"] = "Phone number is too short"
    if contact.email and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", contact.email):
        matches["email"] = "Not an email address"
    return matches


_EDITOR = "com.android.contacts.activities.ContactEditorActivity"


class Card(Activity):
    """AOSP calls it the quick contact."""

    title = "Contact"

    @property
    def store(self) -> Store:
        return open_store(self.phone)

    def build(self) -> View:
        contact = self.store.get(self.extras["contact"])
        if contact is None:
            return ui.column(
                ui.toolbar("", on_up=self.finish), ui.text("The contact doesn't exist.", margin=16.0)
            )
        return ui.screen(self._bar(contact), ui.scroll(self._body(contact), weight=1.0))

    def _bar(self, contact: Contact) -> View:
        star = "Remove from favorites" if contact.starred else "Add to favorites"
        return ui.toolbar(
            "",
            ui.icon_button("star" if contact.starred else "star_outline", star, self.star, id="menu_star"),
            ui.icon_button("edit", "Edit contact", self.edit, id="menu_edit"),
            ui.icon_button("more", "More options", self.more, key="more"),
            on_up=self.finish,
        )

    def _body(self, contact: Contact) -> View:
        return ui.column(
            ui.column(
                ui.avatar(contact.name, 96.0, id="photo"),
                ui.text(contact.name, "headline", id="large_title"),
                ui.text(contact.company, "label", id="phonetic_name") if contact.company else None,
                gravity="center_h",
                gap=8.0,
                padding=16.0,
            ),
            ui.card(*self._ways(contact), id="communication_card", padding=(0.0, 8.0)),
        )

    def _ways(self, contact: Contact) -> list[View]:
        ways = []
        if contact.phone:
            write = ui.icon_button("message", f"Text mobile {contact.phone}", self.write, id="icon_alternate")
            ways.append(_way("call", contact.phone, "Mobile", self.call, write))
        if contact.email:
            ways.append(_way("mail", contact.email, "Home", self.mail, None))
        return ways or [ui.text("No phone number or email", "label", margin=16.0)]

    def star(self) -> None:
        contact = self.store.get(self.extras["contact"])
        if contact is not None:
            self.store.star(contact.id, not contact.starred)

    def edit(self) -> None:
        self.start(_EDITOR, contact=self.extras["contact"])

    def more(self) -> None:
        self.menu("more", {"Delete": self.ask_to_delete})

    def ask_to_delete(self) -> None:
        self.dialog("", "Delete this contact?", {"Cancel": None, "Delete": self.delete})

    def delete(self) -> None:
        contact = self.store.get(self.extras["contact"])
        self.store.delete(self.extras["contact"])
        self.toast(f"{contact.name if contact else 'Contact'} deleted")
        self.finish()

    def call(self) -> None:
        self._hand_over("android.intent.action.DIAL", "tel")

    def write(self) -> None:
        self._hand_over("android.intent.action.SENDTO", "smsto")

    def mail(self) -> None:
        self._hand_over("android.intent.action.SENDTO", "mailto")

    def _hand_over(self, action: str, scheme: str) -> None:
        """Another app's work; without one Android's apps say so in a toast."""
        contact = self.store.get(self.extras["contact"])
        if contact is None:
            return
        address = contact.email if scheme == "mailto" else digits(contact.phone)
        if not self.phone.start_activity(action=action, data=f"{scheme}:{address}").ok:
            self.toast("No app found to handle this action")


def _way(name: str, words: str, kind: str, on_click: Handler, extra: View | None) -> View:
    return ui.row(
        ui.icon(name, id="icon"),
        ui.column(
            ui.text(words, "body", id="header"),
            ui.text(kind, "label", id="sub_header", style=_KIND),
            weight=1.0,
        ),
        extra,
        cls="android.widget.RelativeLayout",
        id="entry_view",
        min_height=64.0,
        padding=(16.0, 8.0),
        gap=16.0,
        on_click=on_click,
        style=Style(kind="item"),
    )


_KIND = Style(kind="text", role="label", size=14.0, color="on_surface_variant")


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
        contact = open_store(self.phone).get(self.extras.get("contact", 0)) or Contact(
            first=str(self.extras.get("name", "")), phone=str(self.extras.get("phone", ""))
        )
        self.state["fields"] = {name: getattr(contact, name) for name, *_ in _FIELDS}
        self.state["fields"]["label"] = contact.label
        self.state["was"] = dict(self.state["fields"])
        self.state["errors"] = {}

    def build(self) -> View:
        title = "Edit contact" if self.extras.get("contact") else "Create contact"
        save = ui.button("Save", self.save, id="editor_menu_save_button")
        form = ui.column(*(self._field(*each) for each in _FIELDS), padding=16.0, gap=8.0)
        return ui.screen(
            ui.toolbar(title, save, on_up=self.leave, up="Cancel", padding=(4.0, 0.0, 16.0, 0.0)),
            ui.scroll(form, id="contact_editor_fragment", weight=1.0),
        )

    def _field(self, name: str, label: str, picture: str, keyboard: str) -> View:
        error = self.state["errors"].get(name, "")
        style = Style(kind="field", role="outlined", size=16.0, error=error)
        entry = ui.field(
            name,
            self.state["fields"][name],
            partial(self.change, name),
            hint=label,
            input_type=keyboard,
            ime_action="done" if name == "email" else "next",
            style=style,
        )
        return ui.row(
            ui.icon(picture, margin=(0.0, 16.0)) if picture else ui.column(width=24.0, height=24.0),
            ui.column(
                entry,
                self._label() if name == "phone" else None,
                ui.text(error, "error", id="textinput_error", style=_ERROR) if error else None,
                weight=1.0,
            ),
            gap=16.0,
            gravity="top",
        )

    def _label(self) -> View:
        words = LABELS.get(self.state["fields"]["label"], "Other")
        return ui.button(words, self.ask_label, "text", id="phone_label", desc=f"{words} Phone")

    def ask_label(self) -> None:
        existing = list(LABELS)
        chosen = self.state["fields"]["label"]
        at = existing.index(chosen) if chosen in existing else -1
        self.choose("Phone label", list(LABELS.values()), self.set_label, at)

    def set_label(self, number: int) -> None:
        self.state["fields"]["label"] = list(LABELS)[number]

    def change(self, name: str, words: str) -> None:
        self.state["fields"][name] = words
        self.state["errors"].pop(name, None)

    def save(self) -> None:
        arguments = {name: words.strip() for name, words in self.state["fields"].items()}
        contact = Contact(id=self.extras.get("contact", 0), **arguments)
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


_BAR = Style(kind="toolbar", background="surface")
_PLAIN_FIELD = Style(kind="field", role="plain", size=18.0)


class People(Searching):
    """What opens from the launcher."""

    search_field = "search_view"

    title = "Contacts"

    def on_create(self) -> None:
        self.state.update(searching=False, query="")

    def build(self) -> View:
        people = open_store(self.phone).everybody(self.state["query"])
        searching = self.state["searching"]
        bar = self._search_bar() if searching else self._title_bar()
        body = self._list(people) if people else self._empty()
        return ui.frame(
            ui.screen(bar, body),
            None
            if searching
            else ui.fab("add", "Create new contact", self.create, id="floating_action_button"),
            height="fill",
        )

    def _title_bar(self) -> View:
        search = ui.icon_button("search", "Search", self.search, id="menu_search")
        return ui.toolbar("Contacts", search)

    def _search_bar(self) -> View:
        query = self.state["query"]
        clear = ui.icon_button("close", "Clear search", self.clear, id="search_close_button")
        return ui.row(
            ui.icon_button("back", "stop searching", self.stop_searching, id="search_back_button"),
            ui.field(
                "search_view",
                query,
                self.look_for,
                hint="Search contacts",
                ime_action="search",
                style=_PLAIN_FIELD,
                weight=1.0,
            ),
            clear if query else None,
            id="search_bar_expanded",
            height=56.0,
            padding=(4.0, 0.0),
            style=_BAR,
        )

    def _empty(self) -> View:
        words = "No contacts" if self.state["searching"] else "Your contacts list is empty"
        return ui.message(ui.icon("contacts", size=96.0), ui.text(words, "subtitle", id="message"))

    def _list(self, people: list[Contact]) -> View:
        letters = {contact.id: _letter(contact) for contact in people}
        first = {letter: contact_id for contact_id, letter in reversed(letters.items())}
        leads = frozenset(first.values())
        return ui.lazy_list(
            people,
            lambda contact: self._row(contact, letters[contact.id] if contact.id in leads else ""),
            lambda contact: f"contact:{contact.id}",
            id="android:id/list",
            cls="android.widget.ListView",
            weight=1.0,
        )

    def _row(self, contact: Contact, letter: str) -> View:
        return ui.row(
            ui.text(letter, "subtitle", width=40.0, style=_LETTER),
            ui.avatar(contact.name, id="cliv_photo"),
            ui.text(contact.name, "body", id="cliv_name_textview", weight=1.0, style=_NAME),
            ui.icon("star", "Starred", style=_STAR) if contact.starred else None,
            cls="android.view.ViewGroup",
            height=64.0,
            padding=(16.0, 8.0),
            gap=16.0,
            on_click=partial(self.start, _CARD, contact=contact.id),
            style=Style(kind="item"),
        )

    def create(self) -> None:
        self.start(_EDITOR)


_LETTER = Style(kind="text", role="subtitle", size=18.0, bold=True, color="primary", align="center")
_NAME = Style(kind="text", role="body", size=16.0, max_lines=1)
_STAR = Style(kind="icon", icon="star", color="star")


def _letter(contact: Contact) -> str:
    """The heading a person stands under; names that begin with no letter share one."""
    first = contact.name[:1].upper()
    return first if first.isalpha() else "#"


@declared
class Contacts(App):
    """com.google.android.contacts, with the activities AOSP's app has."""

    activities = {
        "com.android.contacts.activities.PeopleActivity": People,
        "com.android.contacts.quickcontact.QuickContactActivity": Card,
        "com.android.contacts.activities.ContactEditorActivity": Editor,
    }
    handles = (
        Handles(
            "com.android.contacts.activities.ContactEditorActivity",
            "android.intent.action.INSERT",
            mime="vnd.android.cursor.dir/contact",
        ),
        Handles(
            "com.android.contacts.activities.PeopleActivity",
            "android.intent.action.PICK",
            mime="vnd.android.cursor.dir/contact",
        ),
    )

    def fill(self, content: Any) -> None:
        """People with `name`, and `phone`, `email`, `company`, `starred` as they have them."""
        people = entries(content, "contacts", "name phone email company starred")
        store = open_store(self.phone)
        if not people.adds:
            for contact in store.everybody():
                store.delete(contact.id)
        for number, entry in enumerate(people.rows):
            needed(entry, ("name",), f"contacts[{number}]")
            first, _, last = str(entry.pop("name")).partition(" ")
            starred = bool(entry.pop("starred", False))
            store.save(
                Contact(
                    0, first, last, **{key: str(record) for key, record in entry.items()}, starred=starred
                )
            )

    def state(self) -> dict[str, Any]:
        return {
            "contacts": [
                {
                    "id": contact.id,
                    "name": contact.name,
                    "phone": contact.phone,
                    "email": contact.email,
                    "company": contact.company,
                    "starred": contact.starred,
                }
                for contact in open_store(self.phone).everybody()
            ]
        }


APP = Contacts
