"""One person: the ways to reach them, the star, edit, delete with a question."""

from __future__ import annotations

from handrail_sim.apps.contacts.store import Contact, Store, digits, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, avatar, card, column, icon, icon_button, row, scroll, text, toolbar
from handrail_sim.view.view import Handler

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
            return column(toolbar("", on_up=self.finish), text("The contact doesn't exist.", margin=16.0))
        return column(
            self._bar(contact), scroll(self._body(contact), height="wrap", weight=1.0), height="fill"
        )

    def _bar(self, contact: Contact) -> View:
        star = "Remove from favorites" if contact.starred else "Add to favorites"
        return toolbar(
            "",
            icon_button("star" if contact.starred else "star_outline", star, self.star, id="menu_star"),
            icon_button("edit", "Edit contact", self.edit, id="menu_edit"),
            icon_button("more", "More options", self.more, key="more"),
            on_up=self.finish,
        )

    def _body(self, contact: Contact) -> View:
        return column(
            column(
                avatar(contact.name, 96.0, id="photo"),
                text(contact.name, "headline", id="large_title"),
                text(contact.company, "label", id="phonetic_name") if contact.company else None,
                gravity="center_h",
                gap=8.0,
                padding=16.0,
            ),
            card(*self._ways(contact), id="communication_card", padding=(0.0, 8.0)),
        )

    def _ways(self, contact: Contact) -> list[View]:
        ways = []
        if contact.phone:
            write = icon_button("message", f"Text mobile {contact.phone}", self.write, id="icon_alternate")
            ways.append(_way("call", contact.phone, "Mobile", self.call, write))
        if contact.email:
            ways.append(_way("mail", contact.email, "Home", self.mail, None))
        return ways or [text("No phone number or email", "label", margin=16.0)]

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
    return row(
        icon(name, id="icon"),
        column(
            text(words, "body", id="header"),
            text(kind, "label", id="sub_header", style=_KIND),
            width="wrap",
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
