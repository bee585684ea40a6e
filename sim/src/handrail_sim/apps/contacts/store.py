"""Where contacts are kept: one SQLite table in the app's own data. Knows nothing of screens."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.apps.contacts.seed import PEOPLE, number

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

_SELECT = "SELECT _id, first, last, phone, email, company, starred FROM contacts"


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

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()


class Store:
    """The table of contacts. Seeded once, marked by `user_version`: deleting everybody keeps it empty."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create()

    def _create(self) -> None:
        self._database.execute(
            "CREATE TABLE contacts (_id INTEGER PRIMARY KEY AUTOINCREMENT, first TEXT NOT NULL, "
            "last TEXT NOT NULL, phone TEXT NOT NULL, email TEXT NOT NULL, company TEXT NOT NULL, "
            "starred INTEGER NOT NULL)"
        )
        for index, (first, last, company, starred) in enumerate(PEOPLE):
            email = f"{first}.{last}@example.org".lower()
            self._insert(Contact(0, first, last, number(index), email, company, starred))
        self._database.execute("PRAGMA user_version = 1")
        self._database.commit()

    def _insert(self, contact: Contact) -> int:
        cursor = self._database.execute(
            "INSERT INTO contacts (first, last, phone, email, company, starred) VALUES (?, ?, ?, ?, ?, ?)",
            (
                contact.first,
                contact.last,
                contact.phone,
                contact.email,
                contact.company,
                int(contact.starred),
            ),
        )
        return int(cursor.lastrowid or 0)

    def everybody(self, query: str = "") -> list[Contact]:
        """By name; with a query those whose name, company or number has it."""
        rows = self._database.execute(_SELECT)
        found = [contact for row in rows if matches(contact := _contact(row), query)]
        return sorted(found, key=lambda contact: (contact.name.casefold(), contact.id))

    def get(self, contact_id: int) -> Contact | None:
        row = self._database.execute(_SELECT + " WHERE _id = ?", (contact_id,)).fetchone()
        return _contact(row) if row else None

    def save(self, contact: Contact) -> int:
        """Keep it, new or changed; the id it has."""
        saved = self._update(contact) if contact.id else self._insert(contact)
        self._database.commit()
        return saved

    def _update(self, contact: Contact) -> int:
        self._database.execute(
            "UPDATE contacts SET first = ?, last = ?, phone = ?, email = ?, company = ? WHERE _id = ?",
            (contact.first, contact.last, contact.phone, contact.email, contact.company, contact.id),
        )
        return contact.id

    def star(self, contact_id: int, starred: bool) -> None:
        self._database.execute("UPDATE contacts SET starred = ? WHERE _id = ?", (int(starred), contact_id))
        self._database.commit()

    def delete(self, contact_id: int) -> None:
        self._database.execute("DELETE FROM contacts WHERE _id = ?", (contact_id,))
        self._database.commit()


def open_store(app: App) -> Store:
    """The contacts of this app; the file is named as Android's provider names it."""
    return Store(app.database("contacts2.db"))


def _contact(row: tuple[int, str, str, str, str, str, int]) -> Contact:
    return Contact(*row[:6], starred=bool(row[6]))


def matches(contact: Contact, query: str) -> bool:
    """Every word of the query is somewhere in what the person is known by."""
    words = query.casefold().split()
    text = f"{contact.name} {contact.company} {contact.phone} {digits(contact.phone)}".casefold()
    return all(word in text for word in words)


def digits(phone: str) -> str:
    """A number without the spaces, dashes and brackets that people write."""
    return re.sub(r"[^\d+]", "", phone)


def problems(contact: Contact) -> dict[str, str]:
    """What stands against saving, by field."""
    found = {}
    if not contact.name:
        found["first"] = "Name is required"
    if contact.phone and not re.fullmatch(r"\+?[\d ()./-]+", contact.phone):
        found["phone"] = "Not a phone number"
    elif contact.phone and len(digits(contact.phone)) < 3:
        found["phone"] = "Phone number is too short"
    if contact.email and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", contact.email):
        found["email"] = "Not an email address"
    return found
