"""Messages: threads, writing to a person or a number, and what arrives by SMS. The default SMS app."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from handrail_sim import view as ui
from handrail_sim.apps.contacts import Contact, digits
from handrail_sim.apps.contacts import open_store as open_contacts
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.device import Device
from handrail_sim.system.first_data import FAILED, RECEIVED, SENT
from handrail_sim.system.intents import SEND, VIEW, Handles
from handrail_sim.system.world import HOUR_MS, entries, needed
from handrail_sim.view import Style, View

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS


def contacts(phone: Device, query: str = "") -> list[Contact]:
    return [contact for contact in open_contacts(phone).everybody(query) if contact.phone]


def names(phone: Device) -> dict[str, str]:
    """Who has which number; of two the first by name."""
    return {digits(contact.phone): contact.name for contact in reversed(contacts(phone))}


def shown_name(existing: Mapping[str, str], address: str) -> str:
    """What stands above a thread: the person's name, else the number or sender as it came."""
    return existing.get(digits(address) or address, address)


def shown_time(phone: Device, time_ms: int) -> str:
    """Coarser with age: Now, 5 min, 3:07 PM, Tue, Mar 9."""
    age = phone.wall_ms() - time_ms
    if age < _MINUTE_MS:
        return "Now"
    if age < _HOUR_MS:
        return f"{age // _MINUTE_MS} min"
    moment = phone.local(time_ms)
    if age < _DAY_MS:
        return f"{moment.hour % 12 or 12}:{moment:%M %p}"
    return f"{moment:%a}" if age < 7 * _DAY_MS else f"{moment:%b} {moment.day}"


@dataclass(frozen=True, slots=True)
class Message:
    """One text message; `address` is the other side's number or sender name, `time_ms` the wall clock."""

    id: int
    address: str
    body: str
    time_ms: int
    type: int
    read: int

    @property
    def incoming(self) -> bool:
        return self.type == RECEIVED


class Store:
    """The table of messages."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, address: str, body: str, time_ms: int, kind: int) -> int:
        """Keep a message; received ones are unread."""
        current = int(kind != RECEIVED)
        cursor = self._database.execute(
            "INSERT INTO sms (address, body, date, date_sent, type, read, seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (address, body, time_ms, time_ms if kind == RECEIVED else 0, kind, current, current),
        )
        self._database.commit()
        return int(cursor.lastrowid or 0)

    def retype(self, message_id: int, kind: int, time_ms: int) -> None:
        self._database.execute("UPDATE sms SET type = ?, date = ? WHERE _id = ?", (kind, time_ms, message_id))
        self._database.commit()

    def everything(self) -> list[Message]:
        rows = self._database.execute(
            "SELECT _id, coalesce(address, ''), coalesce(body, ''), coalesce(date, 0), type, read FROM sms "
            "WHERE type IN (1, 2, 5) ORDER BY date, _id"
        )
        return [Message(*row) for row in rows]

    def thread(self, address: str) -> list[Message]:
        key = thread_key(address)
        return [message for message in self.everything() if thread_key(message.address) == key]

    def threads(self) -> list[list[Message]]:
        """Each with its messages oldest first; the thread that moved last is on top."""
        threads: dict[str, list[Message]] = {}
        for message in self.everything():
            threads.setdefault(thread_key(message.address), []).append(message)
        return sorted(threads.values(), key=lambda thread: (-thread[-1].time_ms, -thread[-1].id))

    def mark_read(self, address: str) -> None:
        unread = [message.id for message in self.thread(address) if not message.read]
        for message_id in unread:
            self._database.execute("UPDATE sms SET read = 1 WHERE _id = ?", (message_id,))
        if unread:
            self._database.commit()

    def delete_thread(self, address: str) -> None:
        for message in self.thread(address):
            self._database.execute("DELETE FROM sms WHERE _id = ?", (message.id,))
        self._database.commit()


def open_store(phone: Device) -> Store:
    return Store(phone.providers.database("mmssms.db"))


def thread_key(address: str) -> str:
    """Numbers are one thread however they are spaced; sender names stay as they are."""
    bare = re.sub(r"[\s()./-]", "", address)
    return bare if re.fullmatch(r"\+?\d+", bare) else address


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
        arguments = ("sms_body", "android.intent.extra.TEXT", "android.intent.extra.STREAM")
        words = [str(self.extras[name]) for name in arguments if name in self.extras]
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
        view = ui.lazy_list(
            messages,
            lambda message: self._bubble(message, name),
            lambda message: f"message:{message.id}",
            id="android:id/list",
            weight=1.0,
            from_end=True,
        )
        return ui.screen(ui.toolbar(name, on_up=self.finish), view, self._compose_line())

    def _bubble(self, message: Message, name: str) -> View:
        role = "bubble_in" if message.incoming else "bubble_out"
        failed = message.type == FAILED
        when = shown_time(self.phone, message.time_ms)
        words = ui.column(
            ui.text(
                message.body,
                id="message_text",
                style=Style(kind=role, role=role, size=16.0),
                padding=(12.0, 8.0),
            ),
            ui.text("Not sent. Tap to try again." if failed else when, "caption", id="message_status"),
            width="wrap",
            gravity="start" if message.incoming else "end",
        )
        return ui.row(
            ui.avatar(name, 32.0) if message.incoming else None,
            words,
            id="message_content",
            padding=(16.0, 4.0),
            gap=8.0,
            gravity="start" if message.incoming else "end",
            on_click=partial(self.try_again, message.id) if failed else None,
        )

    def _compose_line(self) -> View:
        draft = self.state["draft"]
        entry = ui.field(
            "compose_message_text",
            draft,
            self.write,
            hint="Send message",
            multiline=True,
            ime_action="none",
            weight=1.0,
            style=_FIELD,
        )
        send = ui.icon_button(
            "send", "Send SMS", self.send, id="send_message_button", enabled=bool(draft.strip())
        )
        return ui.row(entry, send, id="message_compose_view_container", padding=8.0, gap=4.0)

    def _choice(self) -> View:
        to = self.state["to"]
        bar = ui.row(
            ui.icon_button("back", "Navigate up", self.finish),
            ui.field(
                "recipient_text_view",
                to,
                self.sets("to"),
                hint="Type a name or phone number",
                on_submit=self.choose_typed,
                style=_PLAIN_FIELD,
                weight=1.0,
            ),
            ui.icon_button("check", "Continue", self.choose_typed, id="action_confirm_participants")
            if _is_number(to)
            else None,
            height=56.0,
            padding=(4.0, 0.0),
            style=Style(kind="toolbar", background="surface"),
        )
        people = contacts(self.phone, to)
        listed = ui.lazy_list(
            people,
            self._person,
            lambda contact: f"contact:{contact.id}",
            id="all_contacts_list",
            cls="android.widget.ListView",
            weight=1.0,
        )
        return ui.screen(bar, listed if people else ui.text("No contacts found", margin=24.0))

    def _person(self, contact: Contact) -> View:
        choose = partial(self.talk_to, contact.phone)
        return ui.item(
            contact.name, contact.phone, ui.avatar(contact.name, id="contact_icon"), on_click=choose
        )

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
        body = next(
            message.body for message in self.store.thread(self.state["address"]) if message.id == message_id
        )
        self.store.retype(message_id, self._transmit(body), self.phone.wall_ms())

    def _transmit(self, body: str) -> int:
        if self.phone.settings["global"].get("airplane_mode_on") == "1":
            return FAILED
        if self.phone.cell is not None:
            self.phone.cell.deliver(self.phone.number, self.state["address"], body)
        return SENT


def _is_number(words: str) -> bool:
    return re.fullmatch(r"\+?[\d ()./-]{3,}", words.strip()) is not None


_CONVERSATION = ".ui.conversation.ConversationActivity"


class Threads(Activity):
    """What opens from the launcher."""

    title = "Messaging"

    def build(self) -> View:
        threads = open_store(self.phone).threads()
        return ui.frame(
            ui.screen(ui.toolbar("Messaging"), self._list(threads) if threads else _empty()),
            ui.fab("add", "Start new conversation", self.compose, id="start_new_conversation_button"),
            height="fill",
        )

    def _list(self, threads: list[list[Message]]) -> View:
        existing = names(self.phone)
        return ui.lazy_list(
            threads,
            lambda thread: self._row(thread, shown_name(existing, thread[-1].address)),
            lambda thread: f"thread:{thread[0].id}",
            id="android:id/list",
            weight=1.0,
        )

    def _row(self, thread: list[Message], name: str) -> View:
        last = thread[-1]
        unread = not last.read
        snippet = last.body if last.incoming else f"You: {last.body}"
        words = ui.column(
            ui.text(name, id="conversation_name", style=_line(16.0, unread)),
            ui.text(snippet, id="conversation_snippet", style=_line(14.0, unread, "on_surface_variant")),
            weight=1.0,
        )
        when = shown_time(self.phone, last.time_ms)
        return ui.row(
            ui.avatar(name, id="conversation_icon"),
            words,
            ui.text(when, id="conversation_timestamp", style=_line(12.0, unread)),
            cls="android.widget.FrameLayout",
            id="swipeableContainer",
            min_height=72.0,
            padding=(16.0, 8.0),
            gap=16.0,
            on_click=partial(self.start, _CONVERSATION, address=last.address),
            on_long_click=partial(self.ask_to_delete, last.address),
            style=Style(kind="item"),
        )

    def compose(self) -> None:
        self.start(_CONVERSATION)

    def ask_to_delete(self, address: str) -> None:
        self.dialog(
            "Delete this conversation?",
            "It will be deleted from this device.",
            {"Cancel": None, "Delete": partial(self.delete, address)},
        )

    def delete(self, address: str) -> None:
        open_store(self.phone).delete_thread(address)
        self.toast("Conversation deleted")


def _line(size: float, bold: bool, color: str = "") -> Style:
    return Style(kind="text", size=size, bold=bold, color=color, max_lines=1)


def _empty() -> View:
    words = "Conversations you start or receive are listed here"
    return ui.message(
        ui.icon("message", size=96.0), ui.text(words, "body", id="empty_text_hint"), padding=32.0
    )


@declared
class Messages(App):
    """com.google.android.apps.messaging, with the activities AOSP's app has."""

    activities = {".ui.ConversationListActivity": Threads, _CONVERSATION: Conversation}
    handles = (
        Handles(_CONVERSATION, "android.intent.action.SENDTO", "sms,smsto"),
        Handles(_CONVERSATION, VIEW, "sms,smsto"),
        Handles(_CONVERSATION, SEND, mime="text/plain"),
        Handles(_CONVERSATION, SEND, mime="image/*"),
    )

    def on_sms(self, sender: str, text: str) -> None:
        """A message came in: kept always, announced unless its thread is in front of the person."""
        open_store(self.phone).add(sender, text, self.phone.wall_ms(), RECEIVED)
        front = self.phone.tasks.top
        if isinstance(front, Conversation) and thread_key(front.state["address"]) == thread_key(sender):
            front.on_resume()
            front.changed()
            return
        name = shown_name(names(self.phone), sender)
        self.phone.notify(
            self.package, name, text, tap=(_CONVERSATION, {"address": sender}), key=thread_key(sender)
        )

    def fill(self, content: Any) -> None:
        """Messages with `from` or `to`, `text`, `hours_ago` (the later in the list, the newer), `unread`."""
        messages = entries(content, "messages", "from to text hours_ago unread")
        store, now = open_store(self.phone), self.phone.wall_ms()
        if not messages.adds:
            for thread in store.threads():
                store.delete_thread(thread[0].address)
        count = len(messages.rows)
        for number, entry in enumerate(messages.rows):
            needed(entry, ("text",), f"messages[{number}]")
            sent = "to" in entry
            at = now - int(float(entry.get("hours_ago", (count - number) / 10)) * HOUR_MS)
            store.add(
                str(entry.get("to", entry.get("from", ""))),
                str(entry["text"]),
                at,
                SENT if sent else RECEIVED,
            )
            if not entry.get("unread"):
                store.mark_read(str(entry.get("to", entry.get("from", ""))))

    def state(self) -> dict[str, Any]:
        threads = open_store(self.phone).threads()
        return {
            "threads": [
                {"address": thread[0].address, "messages": [_plain(message) for message in thread]}
                for thread in threads
            ]
        }


def _plain(message: Message) -> dict[str, Any]:
    kind = {RECEIVED: "received", SENT: "sent", FAILED: "failed"}[message.type]
    return {"text": message.body, "time_ms": message.time_ms, "kind": kind, "read": bool(message.read)}


APP = Messages
