"""One thread: what was said, and the line to write the next; without an address it first asks to whom."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import parse_qs, unquote, urlsplit

from handrail_sim.apps.contacts.store import Contact
from handrail_sim.apps.messages.people import contacts, names, shown_name, shown_time
from handrail_sim.apps.messages.store import Message, Store, open_store, thread_key
from handrail_sim.system.activities import Activity
from handrail_sim.system.first_data import FAILED, SENT
from handrail_sim.view import (
    Style,
    View,
    avatar,
    column,
    field,
    icon_button,
    item,
    lazy_list,
    row,
    text,
    toolbar,
)

_PLAIN_FIELD = Style(kind="field", role="plain", size=16.0)
_FIELD = Style(kind="field", role="filled", size=16.0, radius=24.0)


class Conversation(Activity):
    """Both the thread and, before there is one, the choice of the other side."""

    title = "Conversation"

    @property
    def store(self) -> Store:
        return open_store(self.phone)

    def on_create(self) -> None:
        """Started with an `address`, by a link such as smsto:07700900321?body=Hello, or by Share."""
        link = urlsplit(self.intent.data)
        given = ("sms_body", "android.intent.extra.TEXT", "android.intent.extra.STREAM")
        words = [str(self.extras[name]) for name in given if name in self.extras]
        words += parse_qs(link.query).get("body", [])
        address = self.extras.get("address") or unquote(link.path)
        self.state.update(address=address, to="", draft=words[0] if words else "")

    def on_resume(self) -> None:
        if self.state["address"]:
            self.store.mark_read(self.state["address"])
            self.phone.cancel_notification(self.app.package, thread_key(self.state["address"]))

    def build(self) -> View:
        return self._thread() if self.state["address"] else self._choice()

    def _thread(self) -> View:
        messages = self.store.thread(self.state["address"])
        name = shown_name(names(self.phone), self.state["address"])
        said = lazy_list(
            messages,
            lambda message: self._bubble(message, name),
            lambda message: f"message:{message.id}",
            id="android:id/list",
            height="wrap",
            weight=1.0,
            from_end=True,
        )
        return column(toolbar(name, on_up=self.finish), said, self._compose_line(), height="fill")

    def _bubble(self, message: Message, name: str) -> View:
        role = "bubble_in" if message.incoming else "bubble_out"
        failed = message.type == FAILED
        when = shown_time(self.phone, message.time_ms)
        words = column(
            text(
                message.body,
                id="message_text",
                style=Style(kind=role, role=role, size=16.0),
                padding=(12.0, 8.0),
            ),
            text("Not sent. Tap to try again." if failed else when, "caption", id="message_status"),
            width="wrap",
            gravity="start" if message.incoming else "end",
        )
        return row(
            avatar(name, 32.0) if message.incoming else None,
            words,
            id="message_content",
            padding=(16.0, 4.0),
            gap=8.0,
            gravity="start" if message.incoming else "end",
            on_click=partial(self.try_again, message.id) if failed else None,
        )

    def _compose_line(self) -> View:
        draft = self.state["draft"]
        entry = field(
            "compose_message_text",
            draft,
            self.write,
            hint="Send message",
            multiline=True,
            ime_action="none",
            width="wrap",
            weight=1.0,
            style=_FIELD,
        )
        send = icon_button(
            "send", "Send SMS", self.send, id="send_message_button", enabled=bool(draft.strip())
        )
        return row(entry, send, id="message_compose_view_container", padding=8.0, gap=4.0)

    def _choice(self) -> View:
        to = self.state["to"]
        bar = row(
            icon_button("back", "Navigate up", self.finish),
            field(
                "recipient_text_view",
                to,
                self.look_for,
                hint="Type a name or phone number",
                on_submit=self.choose_typed,
                style=_PLAIN_FIELD,
                width="wrap",
                weight=1.0,
            ),
            icon_button("check", "Continue", self.choose_typed, id="action_confirm_participants")
            if _is_number(to)
            else None,
            height=56.0,
            padding=(4.0, 0.0),
            style=Style(kind="toolbar", background="surface"),
        )
        people = contacts(self.phone, to)
        listed = lazy_list(
            people,
            self._person,
            lambda contact: f"contact:{contact.id}",
            id="all_contacts_list",
            cls="android.widget.ListView",
            height="wrap",
            weight=1.0,
        )
        return column(bar, listed if people else text("No contacts found", margin=24.0), height="fill")

    def _person(self, contact: Contact) -> View:
        choose = partial(self.talk_to, contact.phone)
        return item(contact.name, contact.phone, avatar(contact.name, id="contact_icon"), on_click=choose)

    def look_for(self, words: str) -> None:
        self.state["to"] = words

    def choose_typed(self) -> None:
        if _is_number(self.state["to"]):
            self.talk_to(self.state["to"].strip())

    def talk_to(self, address: str) -> None:
        self.state["address"] = address
        self.on_resume()
        self.focus("compose_message_text")

    def write(self, words: str) -> None:
        self.state["draft"] = words

    def send(self) -> None:
        body = self.state["draft"].strip()
        if body:
            self.store.add(self.state["address"], body, self.phone.wall_ms(), self._transmit(body))
            self.state["draft"] = ""

    def try_again(self, message_id: int) -> None:
        body = next(one.body for one in self.store.thread(self.state["address"]) if one.id == message_id)
        self.store.retype(message_id, self._transmit(body), self.phone.wall_ms())

    def _transmit(self, body: str) -> int:
        """In airplane mode nothing leaves the phone."""
        if self.phone.settings["global"].get("airplane_mode_on") == "1":
            return FAILED
        if self.phone.cell is not None:
            self.phone.cell.deliver(self.phone.number, self.state["address"], body)
        return SENT


def _is_number(words: str) -> bool:
    return re.fullmatch(r"\+?[\d ()./-]{3,}", words.strip()) is not None
