"""Flutter lab: one canvas. What is on it becomes known only when an accessibility client has asked."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail.sim.system.activities import Activity, App
from handrail.sim.view import Style, View, column, fab, field, frame, lazy_list, row, slider, text

VIEW = "android.view.View"
CANVAS = "android.widget.FrameLayout"  # FlutterView, by the class that accessibility reports for it
_ADD = Style(kind="text", size=14.0, bold=True, color="on_primary")
_TASKS = ("Oil the hinge", "Return the book", "Buy stamps")


class Main(Activity):
    """A list of tasks. Touch works with or without semantics: the canvas knows where its own things are."""

    title = "Flutter lab"

    def on_create(self) -> None:
        self.state.update(tasks=[[name, False] for name in _TASKS], speed=30.0, counter=0)

    def build(self) -> View:
        content = frame(
            column(self.bar(), self.composer(), self.tasks(), self.speed(), cls=VIEW, height="fill"),
            fab("add", "Increment", self.count, cls="android.widget.Button"),
            cls=VIEW,
            height="fill",
        )
        if not self.phone.accessibility_requested:
            content.accessible = False
        return frame(content, cls=CANVAS, height="fill", focusable=True)

    def bar(self) -> View:
        """Flutter tells words as descriptions, not as text."""
        return said(f"Tasks, tapped {self.state['counter']} times", "title", height=56.0, padding=16.0)

    def composer(self) -> View:
        return row(
            field("=", hint="New task", key="task", width="wrap", weight=1.0, on_submit=self.add),
            frame(
                text("Add", style=_ADD, align="center", accessible=False),
                cls="android.widget.Button",
                desc="Add",
                key="add",
                width=88.0,
                height=48.0,
                style=Style(kind="button", role="filled", radius=20.0, background="primary"),
                on_click=self.add,
            ),
            cls=VIEW,
            gap=8.0,
            padding=(16.0, 4.0),
        )

    def tasks(self) -> View:
        return lazy_list(
            list(enumerate(self.state["tasks"])),
            self.task,
            item_key=_key,
            key="tasks",
            cls=VIEW,
            height="wrap",
            weight=1.0,
        )

    def task(self, numbered: tuple[int, list[Any]]) -> View:
        number, (name, done) = numbered
        return row(
            View(style=Style(kind="checkbox"), checked=done, width=24.0, height=24.0, accessible=False),
            text(name, weight=1.0, accessible=False),
            cls="android.widget.CheckBox",
            desc=name,
            checked=done,
            min_height=56.0,
            padding=(16.0, 8.0),
            gap=16.0,
            on_click=partial(self.set_done, number, not done),
        )

    def speed(self) -> View:
        value = round(self.state["speed"])
        return slider(
            self.state["speed"],
            on_change=self.set_speed,
            desc="Speed",
            state=f"{value}%",
            key="speed",
            padding=(16.0, 0.0),
            margin=(0.0, 0.0, 88.0, 24.0),
            width="fill",
        )

    def add(self) -> None:
        words = self.field("task").strip()
        if words:
            self.state["tasks"].append([words, False])
            self.set_field("task", "")

    def set_done(self, number: int, done: bool) -> None:
        self.state["tasks"][number][1] = done

    def set_speed(self, value: float) -> None:
        self.state["speed"] = value

    def count(self) -> None:
        self.state["counter"] += 1


def said(words: str, role: str, **options: Any) -> View:
    """Painted words whose node has a description and no text."""
    return frame(text(words, role, accessible=False), cls=VIEW, desc=words, **options)


def _key(numbered: tuple[int, list[Any]]) -> str:
    return str(numbered[0])


class FlutterLab(App):
    """Tasks on a canvas."""

    package = "com.handrail.flutterlab"
    label = "Flutter lab"
    icon = "flash"
    version = "3.22"
    libraries = ("libflutter.so", "libapp.so")
    activities = {"MainActivity": Main}


APP = FlutterLab
