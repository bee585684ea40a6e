"""Contacts as the app has them, kept in Android's contacts provider. Knows nothing of screens."""

# ruff: noqa: S608 - only names of our own columns

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.system.first_data import add_data, add_person

if TYPE_CHECKING:
    from handrail_sim.system.device import Device

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
        f"coalesce((SELECT {column} FROM data JOIN mimetypes AS m ON m._id = data.mimetype_id WHERE "
        f"raw_contact_id = r._id AND m.mimetype = 'vnd.android.cursor.item/{kind}' "
        f"ORDER BY data._id LIMIT 1), '') AS {name}"
        for name, (kind, column) in _PLACES.items()
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
        found = [contact for row in rows if matches(contact := _contact(row), query)]
        return sorted(found, key=lambda contact: (contact.name.casefold(), contact.id))

    def get(self, contact_id: int) -> Contact | None:
        row = self._database.execute(_SELECT + " WHERE c._id = ?", (contact_id,)).fetchone()
        return _contact(row) if row else None

    def save(self, contact: Contact) -> int:
        """Keep it, new or changed; the id it has."""
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
            found = self._database.execute(
                "SELECT data._id FROM data JOIN mimetypes AS m ON m._id = data.mimetype_id "
                "WHERE raw_contact_id = ? AND mimetype = ? ORDER BY data._id",
                (raw, f"vnd.android.cursor.item/{kind}"),
            ).fetchone()
            parts = (value, contact.first, contact.last) if kind == "name" else (value,)
            if found is None:
                if value:
                    add_data(self._database, raw, kind, *parts)
            elif value:
                columns = ", ".join(f"data{number} = ?" for number in range(1, len(parts) + 1))
                self._database.execute(f"UPDATE data SET {columns} WHERE _id = ?", (*parts, found[0]))
            else:
                self._database.execute("DELETE FROM data WHERE _id = ?", (found[0],))

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
    """The people that every app of this phone sees."""
    return Store(phone.providers.database("contacts2.db"))


def _contact(row: sqlite3.Row) -> Contact:
    """A name that came whole, by a shell for instance, is all first name."""
    given = {name: row[name] for name in _PLACES}
    if not given["first"] and not given["last"]:
        given["first"] = row["display_name"]
    given["label"] = given["label"] or MOBILE
    return Contact(row["_id"], **given, starred=bool(row["starred"]))


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
