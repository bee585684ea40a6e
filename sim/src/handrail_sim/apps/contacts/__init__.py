"""Contacts: people with search, create, edit, favourites and delete, kept in SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail_sim.apps.contacts.card import Card
from handrail_sim.apps.contacts.editor import Editor
from handrail_sim.apps.contacts.people import People
from handrail_sim.apps.contacts.store import Contact, open_store
from handrail_sim.apps.default_grants import grant_defaults
from handrail_sim.system.activities import App
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import entries, needed

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context


class Contacts(App):
    """com.google.android.contacts, with the activities AOSP's app has."""

    package = "com.google.android.contacts"
    label = "Contacts"
    labels = {"de": "Kontakte", "es": "Contactos", "zh": "通讯录"}
    icon = "contacts"
    color = "#1f7a6d"
    version = "1.7.36"
    system = True
    permissions = ("android.permission.READ_CONTACTS", "android.permission.WRITE_CONTACTS")
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

    @classmethod
    def on_boot(cls, phone: Context) -> None:
        grant_defaults(cls, phone)

    def fill(self, given: Any) -> None:
        """People with `name`, and `phone`, `email`, `company`, `starred` as they have them."""
        people = entries(given, "contacts", "name phone email company starred")
        store = open_store(self.phone)
        if not people.adds:
            for known in store.everybody():
                store.delete(known.id)
        for number, row in enumerate(people.rows):
            needed(row, ("name",), f"contacts[{number}]")
            first, _, last = str(row.pop("name")).partition(" ")
            starred = bool(row.pop("starred", False))
            store.save(
                Contact(0, first, last, **{key: str(one) for key, one in row.items()}, starred=starred)
            )

    def state(self) -> dict[str, Any]:
        """Everybody, by name."""
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
