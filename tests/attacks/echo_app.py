"""An app that repeats what is typed into it everywhere an app can: what it is told, everybody hears."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import SEND, Intent
from handrail_sim.view import View, button, column, field, row, scroll, text, toolbar

PACKAGE = "com.example.echo"
PREFS, DATABASE = "said.xml", "said.db"


class Main(Activity):
    """Two fields, and everything that repeats the first one."""

    title = "Echo"
    starts_with = ""

    def build(self) -> View:
        word = self.field("word")
        return column(
            toolbar("Echo"),
            field("word", self.starts_with or None, hint="Word"),
            field("second", hint="Second"),
            scroll(
                column(
                    text(f"You said {word}", id="mirror"),
                    row(*(text(letter, key=f"l{n}", width="wrap") for n, letter in enumerate(word[:12]))),
                    text(f"Did you mean {word[:6]}?", id="suggestion") if word else None,
                    button("Again", lambda: None, id="again", desc=f"Say {word} again"),
                    row(
                        button("Toast", self.say_toast, id="toast"),
                        button("Notify", self.say_notice, id="notify"),
                        button("Log", self.say_log, id="log"),
                    ),
                    row(
                        button("Save", self.save, id="save"),
                        button("Share", self.say_share, id="share"),
                        button("Next", self.next, id="next"),
                    ),
                ),
                height="wrap",
                weight=1.0,
            ),
            height="fill",
        )

    def say_toast(self) -> None:
        self.toast(f"Said {self.field('word')}")

    def say_notice(self) -> None:
        self.app.notify("Echo", f"Said {self.field('word')}", key="said")

    def say_log(self) -> None:
        self.phone.logcat("I", "Echo", f"said {self.field('word')}", self.app.package)

    def save(self) -> None:
        word = self.field("word")
        self.app.prefs("said")["word"] = word
        with self.app.database(DATABASE, "CREATE TABLE said (word TEXT)") as db:
            db.execute("INSERT INTO said VALUES (?)", (word,))

    def say_share(self) -> None:
        self.start_intent(Intent(action=SEND, mime="text/plain", extras={"text": self.field("word")}))

    def next(self) -> None:
        self.start("Next", word=self.field("word"))


class Next(Activity):
    """A second window with a field of the same id, and what was said in its title."""

    def build(self) -> View:
        return column(
            toolbar(f"After {self.extras['word']}", on_up=self.finish),
            field("word", hint="Word"),
            text(self.extras["word"], id="copy"),
            button("Up", partial(self.finish, None), id="up"),
            height="fill",
        )


class Echo(App):
    """com.example.echo."""

    package = PACKAGE
    label = "Echo"
    icon = "note"
    debuggable = True
    activities = {"Main": Main, "Next": Next}

    def state(self) -> dict[str, Any]:
        return {}
