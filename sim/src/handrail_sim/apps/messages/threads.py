"""The list of threads, the newest on top; a long press deletes one after a question."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.messages.people import names, shown_name, shown_time
from handrail_sim.apps.messages.store import Message, open_store
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, avatar, column, fab, frame, icon, lazy_list, row, text, toolbar

_CONVERSATION = ".ui.conversation.ConversationActivity"


class Threads(Activity):
    """What opens from the launcher."""

    title = "Messaging"

    def build(self) -> View:
        threads = open_store(self.phone).threads()
        return frame(
            column(toolbar("Messaging"), self._list(threads) if threads else _empty(), height="fill"),
            fab("add", "Start new conversation", self.compose, id="start_new_conversation_button"),
            height="fill",
        )

    def _list(self, threads: list[list[Message]]) -> View:
        known = names(self.phone)
        return lazy_list(
            threads,
            lambda thread: self._row(thread, shown_name(known, thread[-1].address)),
            lambda thread: f"thread:{thread[0].id}",
            id="android:id/list",
            height="wrap",
            weight=1.0,
        )

    def _row(self, thread: list[Message], name: str) -> View:
        last = thread[-1]
        unread = not last.read
        snippet = last.body if last.incoming else f"You: {last.body}"
        words = column(
            text(name, id="conversation_name", style=_line(16.0, unread)),
            text(snippet, id="conversation_snippet", style=_line(14.0, unread, "on_surface_variant")),
            width="wrap",
            weight=1.0,
        )
        when = shown_time(self.phone, last.time_ms)
        return row(
            avatar(name, id="conversation_icon"),
            words,
            text(when, id="conversation_timestamp", style=_line(12.0, unread)),
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
    return column(
        icon("message", size=96.0),
        text(words, "body", id="empty_text_hint"),
        height="wrap",
        weight=1.0,
        gravity="center",
        gap=16.0,
        padding=32.0,
    )
