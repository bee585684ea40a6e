"""An app in two versions: in the second one the button that saves has another name, id, place and company."""

from __future__ import annotations

from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, field, row, text, toolbar

PACKAGE = "com.example.form"


class First(Activity):
    """A form with its buttons below."""

    title = "Pets"

    def on_create(self) -> None:
        self.state["saved"] = []

    def build(self) -> View:
        return column(
            toolbar("New pet"),
            field("name", hint="Pet name"),
            field("kind", hint="Kind of animal"),
            row(button("Delete", self.nothing, id="delete"), button("Save", self.save, id="save")),
            *[text(one, id="pet") for one in self.state["saved"]],
            height="fill",
        )

    def save(self) -> None:
        self.state["saved"].append(f"Saved {self.field('name')} the {self.field('kind')}")

    def nothing(self) -> None:
        self.state["saved"].append("Deleted")


class Second(First):
    """The same form, redrawn."""

    def build(self) -> View:
        return column(
            toolbar("New pet", button("Store pet", self.save, id="action_store")),
            field("name", hint="Pet name"),
            field("kind", hint="Kind of animal"),
            button("Delete", self.nothing, id="delete"),
            *[text(one, id="pet") for one in self.state["saved"]],
            height="fill",
        )


class FormOne(App):
    package = PACKAGE
    label = "Pets"
    activities = {".MainActivity": First}


class FormTwo(App):
    package = PACKAGE
    label = "Pets"
    activities = {".MainActivity": Second}
