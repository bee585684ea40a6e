"""What the databases of a new phone hold: thirty people, eight messages, a calendar. All of it is invented.

The numbers are from ranges kept free for fiction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from handrail_sim.resources import table

HOUR_MS = 3_600_000
BASE_MS = 1_700_000_000_000
"""Messages are made as if the phone were born then, and moved to its real birth when somebody reads them."""
RECEIVED, SENT, FAILED = 1, 2, 5  # Android's `type` column of an SMS

# first name, last name, company, starred
_TABLE = table("system/first_data.toml")
PEOPLE: list[tuple[str, str, str, bool]] = _TABLE["people"]


def number(index: int) -> str:
    """A number no exchange will ever connect: 07700 900000 to 900999 are reserved for drama."""
    return f"07700 900{100 + index * 7}"


# other side, text, type, hours before the phone was born
MESSAGES: list[tuple[str, str, int, int]] = _TABLE["messages"]


def add_person(
    database: sqlite3.Connection, first: str, last: str, details: dict[str, str], starred: bool = False
) -> int:
    """A raw contact with its rows of data, each under the last word of its kind; the contact's id."""
    cursor = database.execute("INSERT INTO raw_contacts (starred) VALUES (?)", (int(starred),))
    raw = int(cursor.lastrowid or 0)
    for kind, values in {"name": (f"{first} {last}".strip(), first, last), **_rows(details)}.items():
        add_data(database, raw, kind, *values)
    row = database.execute("SELECT contact_id FROM raw_contacts WHERE _id = ?", (raw,)).fetchone()
    return int(row[0])


def add_data(database: sqlite3.Connection, raw: int, kind: str, *values: str) -> None:
    """One row of data: data1, data2, …"""
    columns = "".join(f", data{number}" for number in range(1, len(values) + 1))
    places = ", ?" * len(values)
    database.execute(
        f"INSERT INTO data (raw_contact_id, mimetype_id{columns}) VALUES "  # noqa: S608 - our own names
        f"(?, (SELECT _id FROM mimetypes WHERE mimetype = ?){places})",
        (raw, f"vnd.android.cursor.item/{kind}", *values),
    )


def add_mimetype(database: sqlite3.Connection, kind: str) -> int:
    """The number of a kind of data; an app may bring kinds of its own."""
    database.execute("INSERT OR IGNORE INTO mimetypes (mimetype) VALUES (?)", (kind,))
    return int(database.execute("SELECT _id FROM mimetypes WHERE mimetype = ?", (kind,)).fetchone()[0])


def _rows(details: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """A number is a mobile (2), an address a home one (1), as the editor has them."""
    types = {"phone_v2": ("2",), "email_v2": ("1",), "organization": ("1",)}
    return {kind: (value, *types[kind]) for kind, value in details.items() if value}


def _people(database: sqlite3.Connection) -> None:
    for index, (first, last, company, starred) in enumerate(PEOPLE):
        email = f"{first}.{last}@example.org".lower()
        details = {"phone_v2": number(index), "email_v2": email, "organization": company}
        add_person(database, first, last, details, starred)


def _messages(database: sqlite3.Connection) -> None:
    for address, body, kind, hours in MESSAGES:
        database.execute(
            "INSERT INTO sms (address, body, date, type, read, seen) VALUES (?, ?, ?, ?, 1, 1)",
            (address, body, BASE_MS - hours * HOUR_MS, kind),
        )


def _calendar(database: sqlite3.Connection) -> None:
    database.execute(
        "INSERT INTO Calendars (account_name, account_type, name, calendar_displayName, calendar_color, "
        "calendar_access_level, sync_events, calendar_timezone, ownerAccount, isPrimary) VALUES "
        "('Phone', 'LOCAL', 'Personal', 'Personal', -14575885, 700, 1, 'UTC', 'Phone', 1)"
    )


FIRST: dict[str, Callable[[sqlite3.Connection], None]] = {
    "contacts2.db": _people,
    "mmssms.db": _messages,
    "calendar.db": _calendar,
}
