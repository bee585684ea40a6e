"""Messages: threads, writing to a person or a number, and what arrives by SMS. The default SMS app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail_sim.apps.default_grants import grant_defaults
from handrail_sim.apps.messages.conversation import Conversation
from handrail_sim.apps.messages.people import names, shown_name
from handrail_sim.apps.messages.store import Message, open_store, thread_key
from handrail_sim.apps.messages.threads import Threads
from handrail_sim.system.activities import App
from handrail_sim.system.first_data import FAILED, RECEIVED, SENT
from handrail_sim.system.intents import SEND, VIEW, Handles
from handrail_sim.system.world import HOUR_MS, entries, needed

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context

_CONVERSATION = ".ui.conversation.ConversationActivity"


class Messages(App):
    """com.google.android.apps.messaging, with the activities AOSP's app has."""

    package = "com.google.android.apps.messaging"
    label = "Messaging"
    labels = {"de": "Nachrichten", "es": "Mensajes", "zh": "短信"}
    icon = "message"
    color = "#2f7d32"
    version = "1.0.001"
    system = True
    permissions = (
        "android.permission.SEND_SMS",
        "android.permission.RECEIVE_SMS",
        "android.permission.READ_SMS",
        "android.permission.READ_CONTACTS",
    )
    activities = {
        ".ui.ConversationListActivity": Threads,
        _CONVERSATION: Conversation,
    }
    handles = (
        Handles(_CONVERSATION, "android.intent.action.SENDTO", "sms,smsto"),
        Handles(_CONVERSATION, VIEW, "sms,smsto"),
        Handles(_CONVERSATION, SEND, mime="text/plain"),
        Handles(_CONVERSATION, SEND, mime="image/*"),
    )

    @classmethod
    def on_boot(cls, phone: Context) -> None:
        grant_defaults(cls, phone)

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

    def fill(self, given: Any) -> None:
        """Messages with `from` or `to`, `text`, `hours_ago` (the later in the list, the newer), `unread`."""
        messages = entries(given, "messages", "from to text hours_ago unread")
        store, now = open_store(self.phone), self.phone.wall_ms()
        if not messages.adds:
            for thread in store.threads():
                store.delete_thread(thread[0].address)
        count = len(messages.rows)
        for number, row in enumerate(messages.rows):
            needed(row, ("text",), f"messages[{number}]")
            sent = "to" in row
            at = now - int(float(row.get("hours_ago", (count - number) / 10)) * HOUR_MS)
            store.add(
                str(row.get("to", row.get("from", ""))), str(row["text"]), at, SENT if sent else RECEIVED
            )
            if not row.get("unread"):
                store.mark_read(str(row.get("to", row.get("from", ""))))

    def state(self) -> dict[str, Any]:
        """Every thread, the newest first."""
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
