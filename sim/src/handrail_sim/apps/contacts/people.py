"""The list of people: letters, stars, search, and the button that makes a new one."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.contacts.store import Contact, open_store
from handrail_sim.apps.searching import Searching
from handrail_sim.view import (
    Style,
    View,
    avatar,
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

_EDITOR = "com.android.contacts.activities.ContactEditorActivity"
_CARD = "com.android.contacts.quickcontact.QuickContactActivity"
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
        return frame(column(bar, body, height="fill"), None if searching else self._fab(), height="fill")

    def _title_bar(self) -> View:
        search = icon_button("search", "Search", self.search, id="menu_search")
        return toolbar("Contacts", search)

    def _search_bar(self) -> View:
        query = self.state["query"]
        clear = icon_button("close", "Clear search", self.clear, id="search_close_button")
        return row(
            icon_button("back", "stop searching", self.stop_searching, id="search_back_button"),
            field(
                "search_view",
                query,
                self.look_for,
                hint="Search contacts",
                ime_action="search",
                style=_PLAIN_FIELD,
                width="wrap",
                weight=1.0,
            ),
            clear if query else None,
            id="search_bar_expanded",
            height=56.0,
            padding=(4.0, 0.0),
            style=_BAR,
        )

    def _fab(self) -> View:
        return fab("add", "Create new contact", self.create, id="floating_action_button")

    def _empty(self) -> View:
        words = "No contacts" if self.state["searching"] else "Your contacts list is empty"
        return column(
            icon("contacts", size=96.0),
            text(words, "subtitle", id="message"),
            height="wrap",
            weight=1.0,
            gravity="center",
            gap=16.0,
        )

    def _list(self, people: list[Contact]) -> View:
        letters = {contact.id: _letter(contact) for contact in people}
        first = {letter: contact_id for contact_id, letter in reversed(letters.items())}
        leads = frozenset(first.values())
        return lazy_list(
            people,
            lambda contact: self._row(contact, letters[contact.id] if contact.id in leads else ""),
            lambda contact: f"contact:{contact.id}",
            id="android:id/list",
            cls="android.widget.ListView",
            height="wrap",
            weight=1.0,
        )

    def _row(self, contact: Contact, letter: str) -> View:
        return row(
            text(letter, "subtitle", width=40.0, style=_LETTER),
            avatar(contact.name, id="cliv_photo"),
            text(contact.name, "body", id="cliv_name_textview", weight=1.0, style=_NAME),
            icon("star", "Starred", style=_STAR) if contact.starred else None,
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
