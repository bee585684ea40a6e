"""A small app that the tests of the core drive: a list, a form, a detail screen, and what pops up."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import SEND, Handles, Intent
from handrail_sim.view import (
    View,
    button,
    checkbox,
    column,
    field,
    frame,
    item,
    lazy_list,
    row,
    scroll,
    slider,
    text,
    toolbar,
)

PACKAGE = "com.example.grocer"


class Main(Activity):
    title = "Grocer"

    def on_create(self) -> None:
        self.state["things"] = [f"Thing {number}" for number in range(60)]
        self.state["log"] = []

    def build(self) -> View:
        return column(
            toolbar("Grocer"),
            field("name", hint="What to buy", on_submit=self.add, ime_action="done"),
            button("Add", self.add, id="add"),
            lazy_list(
                self.state["things"],
                self.thing,
                item_key=str,
                id="list",
                weight=1.0,
                on_end=lambda: self.note("end"),
            ),
            height="fill",
        )

    def thing(self, name: str) -> View:
        return item(
            name,
            key=f"row:{name}",
            on_click=lambda: self.start("Detail", then=self.came_back, name=name),
            on_long_click=partial(self.ask, name),
        )

    def ask(self, name: str) -> None:
        self.dialog("Delete?", name, {"Cancel": None, "Delete": partial(self.remove, name)})

    def add(self) -> None:
        name = self.field("name").strip()
        if not name:
            self.toast("Type something")
            return
        self.state["things"].insert(0, name)
        self.set_field("name", "")

    def remove(self, name: str) -> None:
        self.state["things"].remove(name)

    def came_back(self, result: Any) -> None:
        self.note(f"result {result}")

    def note(self, words: str) -> None:
        self.state["log"].append(words)


class Detail(Activity):
    def build(self) -> View:
        return column(
            toolbar(self.extras["name"], on_up=self.finish),
            button("Done", partial(self.finish, "fine"), id="done"),
            button("Menu", partial(self.menu, "menu", {"Rename": self.rename, "Nothing": None}), id="menu"),
            button("Sheet", partial(self.sheet, self.options), id="sheet"),
            button("Choose", partial(self.choose, "Colour", ["Red", "Green"], self.chosen, 0), id="choose"),
            button("Ask name", self.ask_name, id="ask"),
            button("Camera", partial(self.request_permission, "CAMERA", self.answered), id="camera"),
            button("Snack", partial(self.snackbar, "Gone", "Undo", self.undone), id="snack"),
            button("Share", self.share, id="share"),
            button("Off", self.rename, id="off", enabled=False),
            text(str(self.state.get("last", "")), id="last"),
            height="fill",
        )

    def options(self) -> View:
        return column(button("Pick me", self.picked, id="pick"), padding=16.0)

    def picked(self) -> None:
        self.state["last"] = "picked"
        self.dismiss()

    def rename(self) -> None:
        self.state["last"] = "renamed"

    def chosen(self, number: int) -> None:
        self.state["last"] = f"chosen {number}"

    def ask_name(self) -> None:
        self.dialog("Name", "", {"Cancel": None, "Save": self.save_name}, content=self.name_form)

    def name_form(self) -> View:
        return field("new_name", hint="New name")

    def save_name(self) -> None:
        self.state["last"] = f"name {self.field('new_name')}"

    def answered(self, granted: bool) -> None:
        self.state["last"] = f"camera {granted}"

    def undone(self) -> None:
        self.state["last"] = "undone"

    def share(self) -> None:
        self.start_intent(Intent(action=SEND, mime="text/plain"))


class Form(Activity):
    """Fields of several kinds, a slider, a checkbox, in something that scrolls."""

    def on_create(self) -> None:
        self.state.update(level=10.0, agreed=False, pinch=1.0, turned=0.0, taps=[])

    def build(self) -> View:
        return scroll(
            column(
                field("first", hint="First", ime_action="next"),
                field("second", "given", on_change=partial(self.put, "second")),
                field("secret", hint="Password", password=True),
                field("digits", input_type="number"),
                field("lines", multiline=True),
                slider(self.state["level"], 0, 100, partial(self.put, "level"), step=1, id="level"),
                checkbox("I agree", self.state["agreed"], partial(self.put, "agreed"), id="agreed"),
                frame(
                    id="pad",
                    height=200.0,
                    on_scale=lambda factor, _x, _y: self.put("pinch", self.state["pinch"] * factor),
                    on_rotate=lambda angle: self.put("turned", self.state["turned"] + angle),
                    on_double_tap=partial(self.put, "taps", ["double"]),
                ),
                row(*[button(str(n), partial(self.put, "pressed", n), id=f"b{n}") for n in range(3)]),
                *[text(f"Line {number}", padding=16.0) for number in range(30)],
            ),
            id="page",
        )

    def put(self, name: str, value: Any) -> None:
        self.state[name] = value


class Pay(Activity):
    dialog_style = "sheet"

    def build(self) -> View:
        return column(text("Pay 3.50?"), button("Pay", partial(self.finish, "paid"), id="pay"), padding=24.0)


class Grocer(App):
    package = PACKAGE
    label = "Grocer"
    icon = "cart"
    permissions = (
        "android.permission.CAMERA",
        "android.permission.READ_CONTACTS",
        "android.permission.INTERNET",
    )
    activities = {"Main": Main, "Detail": Detail, "Form": Form, "Pay": Pay}
    handles = (Handles("Form", SEND, mime="text/plain"),)

    def state(self) -> dict[str, Any]:
        return {"saved": dict(self.prefs())}


class Rival(App):
    package = "com.example.rival"
    label = "Rival"
    activities = {"Form": Form}
    handles = (Handles("Form", SEND, mime="text/*"),)
