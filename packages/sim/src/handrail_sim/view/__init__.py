"""Views: built from functions, laid out in px, touched, scrolled, typed into.

A complete tiny app::

    from handrail_sim.system.activities import Activity, App
    from handrail_sim.view import Style, View, button, column, field, item, lazy_list, text, toolbar

    class Main(Activity):
        title = "Groceries"

        def on_create(self) -> None:                 # first start only; `state` survives rotation, snapshots
            self.state["things"] = ["Bread", "Milk"]

        def build(self) -> View:                     # called after every change; throw-away views
            return column(
                toolbar("Groceries"),
                field("name", hint="What to buy", on_submit=self.add),
                button("Add", self.add, id="add"),
                lazy_list(self.state["things"], self.thing, item_key=str, id="list", height="wrap", weight=1),
                height="fill",
            )

        def thing(self, name: str) -> View:
            return item(name, on_click=lambda: self.start("Detail", name=name),
                        on_long_click=lambda: self.dialog("Delete?", name,
                            {"Cancel": None, "Delete": partial(self.remove, name)}))

        def add(self) -> None:
            name = self.field("name").strip()        # what is typed in the field with this id
            if not name:
                self.toast("Type something")
                return
            self.state["things"].append(name)
            self.set_field("name", "")

        def remove(self, name: str) -> None:         # dialogs keep a method's name: they survive a snapshot
            self.state["things"].remove(name)

    class Detail(Activity):
        def build(self) -> View:
            return column(toolbar(self.extras["name"], on_up=self.finish), text("One of many", "headline"))

    class Groceries(App):
        package = "com.example.groceries"
        label = "Groceries"
        icon = "cart"
        activities = {"Main": Main, "Detail": Detail}   # the first is the launcher's

Handlers take no arguments; after any handler, timer or callback the screen is built again, so `changed()`
is needed only for changes from elsewhere. Sizes are dp (text: sp), "fill" or "wrap"; `weight` shares what is
left in a row or column. Ids without a colon get the app's package; "=tag" is written as it is.
Fields, scroll positions and focus are remembered by `key`, else by id, else by place in the tree.
Overlays: `activity.dialog`, `.sheet`, `.menu`, `.toast`, `.snackbar`. Time: `activity.later(ms, run)`,
`activity.every(ms, self.method)`; the phone's time is `phone.now_ms()`, the date `phone.wall_ms()`.
"""

from handrail_sim.view.view import PLAIN, SCROLLING, Style, View
from handrail_sim.view.widgets import (
    absolute,
    avatar,
    bottom_bar,
    button,
    card,
    checkbox,
    chip,
    column,
    divider,
    fab,
    field,
    frame,
    grid,
    header,
    hscroll,
    icon,
    icon_button,
    image,
    item,
    lazy_list,
    pager,
    progress,
    radio,
    row,
    scroll,
    slider,
    spacer,
    spinner,
    switch,
    tabs,
    text,
    toolbar,
    web,
)

__all__ = [
    "PLAIN",
    "SCROLLING",
    "Style",
    "View",
    "absolute",
    "avatar",
    "bottom_bar",
    "button",
    "card",
    "checkbox",
    "chip",
    "column",
    "divider",
    "fab",
    "field",
    "frame",
    "grid",
    "header",
    "hscroll",
    "icon",
    "icon_button",
    "image",
    "item",
    "lazy_list",
    "pager",
    "progress",
    "radio",
    "row",
    "scroll",
    "slider",
    "spacer",
    "spinner",
    "switch",
    "tabs",
    "text",
    "toolbar",
    "web",
]
