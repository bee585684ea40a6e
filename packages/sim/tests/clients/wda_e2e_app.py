"""A model of the app that facebook-wda's end-to-end suite runs on, after the Swift sources beside it."""

from __future__ import annotations

from handrail_sim import view as ui
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import Style, View

CHECK = Style(kind="icon", icon="check")
BLUE = Style(kind="text", background="#0a7aff", color="#ffffff", size=13.0, radius=8.0)


def label(words: str, **options: object) -> View:
    return ui.text(words, "label", style=BLUE, padding=8.0, **options)


class Home(Activity):
    """ContentView.swift."""

    title = "Home"

    def build(self) -> View:
        lies = self.phone.display.rotation % 2
        return ui.column(
            ui.toolbar("Home"),
            ui.scroll(
                ui.column(
                    self.alerts(),
                    self.buttons(),
                    ui.row(
                        ui.icon_button("check", "Selected", id="CHECKED_BTN", selected=True),
                        ui.icon_button("dot", "circle", id="UNCHECKED_BTN"),
                    ),
                    self.field_row(),
                    self.combined(),
                    ui.row(
                        label("LONG_TAP_ALERT", on_long_click=self.long_tapped, id="LONG_TAP_ALERT"),
                        label("DOUBLE_TAP_ALERT", on_double_tap=self.double_tapped, id="DOUBLE_TAP_ALERT"),
                        gap=8.0,
                    ),
                    ui.text("LANDSCAPE" if lies else "PORTRAIT", id="ORIGATATION_TEXT"),
                    ui.row(
                        label("ListView", on_click=lambda: self.start("ListView")),
                        label("DragView", on_click=lambda: self.start("DragView")),
                        gap=8.0,
                    ),
                )
            ),
            height="fill",
        )

    def alerts(self) -> View:
        return ui.row(
            ui.button(
                "ACCEPT_OR_REJECT_ALERT", self.confirm, "text", id="ACCEPT_OR_REJECT_ALERT", weight=1.0
            ),
            ui.button("INPUT_ALERT", self.ask, "text", id="INPUT_ALERT", weight=1.0),
        )

    def buttons(self) -> View:
        hidden = Style(kind="button", role="text", alpha=0.0)
        return ui.row(
            ui.button("ENABLED_BTN", None, "text", id="ENABLED_BTN", padding=4.0, weight=1.0),
            ui.button(
                "DISABLED_BTN", None, "text", id="DISABLED_BTN", enabled=False, padding=4.0, weight=1.0
            ),
            ui.image("landscape:3", "applogo", id="IMG_BTN", width=60.0, height=50.0),
            ui.button("HIDDEN_BTN", None, style=hidden, padding=4.0, weight=1.0),
        )

    def field_row(self) -> View:
        return ui.row(
            ui.field("INPUT_FIELD", desc="INPUT_FIELD", hint="INPUT_FIELD", width="wrap", weight=1.0),
            ui.button("CLEAR INPUT", self.clear, "text", desc="CLEAR_INPUT_BTN"),
        )

    def combined(self) -> View:
        words = "First line of text, Second line of text, Third line of text"
        return ui.text(words, id="COMBINED_TEXT_CONTAINER")

    def confirm(self) -> None:
        self.dialog("Confirmation", "Do you accept?", {"Reject": None, "Accept": None})

    def ask(self) -> None:
        self.dialog("Enter your input", "", {"Cancel": None, "Accept": None}, content=self.input)

    def input(self) -> View:
        return ui.field("input", "this value", hint="Enter text")

    def long_tapped(self) -> None:
        self.dialog("Long Tap Alert", "Long Tap Alert", {"LONG_TAP_ALERT_OK": None})

    def double_tapped(self) -> None:
        self.dialog("DOUBLE Tap Alert", "DOUBLE Tap Alert", {"DOUBLE_TAP_ALERT_OK": None})

    def clear(self) -> None:
        self.set_field("INPUT_FIELD", "")


class ListView(Activity):
    """ListView.swift: a hundred rows."""

    def build(self) -> View:
        rows = ui.lazy_list(
            range(1, 101),
            lambda number: ui.item(f"Row{number}", min_height=44.0),
            id="LIST_CONTAINER",
            item_key=str,
        )
        return ui.column(ui.toolbar("Numbers List", on_up=self.finish), rows, height="fill")


class DragView(Activity):
    """DragView.swift: a button that is held and dragged to another."""

    def build(self) -> View:
        return ui.column(
            ui.toolbar("", on_up=self.finish),
            ui.button(
                "按钮 A (长按并拖到B)", None, "text", on_drag=lambda _x, _y: None, on_drop=self.dropped
            ),
            ui.spacer(50.0),
            ui.button("按钮 B", None, "text", id="B"),
            height="fill",
        )

    def dropped(self, x: float, y: float) -> None:
        goal = self.window.find("B")
        if goal is not None and goal.x <= x < goal.x + goal.w and goal.y <= y < goal.y + goal.h:
            self.dialog("成功", "你已经成功长按并拖动到按钮 B！", {"好的": None})


class SuiteApp(App):
    package = "com.test.cert.TestCert"
    label = "facebookwdae2e"
    activities = {"Home": Home, "ListView": ListView, "DragView": DragView}
