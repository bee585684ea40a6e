"""The recents screen: a card per task, drawn over everything by the launcher."""

from __future__ import annotations

from handrail_sim.screen.bars import Bars
from handrail_sim.system.tasks import Task
from handrail_sim.view import View, button, column, hscroll, icon, row, text
from handrail_sim.view.view import Style


def build(ui: Bars) -> View:
    """The whole screen."""
    tasks = ui.phone.tasks.recent()
    cards = [_card(ui, task) for task in tasks]
    clear = button("Clear all", lambda: clear_all(ui), "text", id="clear_all")
    body = [
        hscroll(row(*cards, width="wrap", gap=16.0, padding=(40.0, 0.0)), id="overview_panel", weight=1.0),
        clear,
    ]
    empty = text("No recent items", "body", id="empty_message")
    return column(
        *(body if cards else [empty]),
        cls="android.widget.FrameLayout",
        height="fill",
        padding=(0.0, 80.0, 0.0, 80.0),
        gravity="center",
        style=Style(kind="recents", background="surface_dim"),
    )


def _card(ui: Bars, task: Task) -> View:
    app = ui.phone.packages.classes[task.package]
    top = task.top
    picture = View(
        cls="android.view.View",
        id="snapshot",
        width=220.0,
        height=220.0 * ui.phone.display.height / ui.phone.display.width,
        style=Style(kind="thumbnail", background="surface", radius=24.0, elevation=4.0),
        tag=top.window if top is not None else None,
    )
    return column(
        row(icon(app.icon, id="icon"), text(app.label, "label"), width="wrap", gap=8.0, align="center_h"),
        picture,
        cls="android.widget.FrameLayout",
        id="task",
        key=f"task:{task.number}",
        desc=(top.title if top is not None and top.title else app.label),
        width="wrap",
        gap=8.0,
        on_click=lambda: open_task(ui, task),
        on_swipe=lambda way: close_task(ui, task) if way == "up" else None,
    )


def open_task(ui: Bars, task: Task) -> None:
    """A tap on a card."""
    ui.close_recents()
    ui.phone.tasks.to_front(task)


def close_task(ui: Bars, task: Task) -> None:
    """A card that is swiped up."""
    ui.phone.tasks.remove(task)
    ui.recents.invalidate()


def clear_all(ui: Bars) -> None:
    """Every task goes; home comes."""
    for task in ui.phone.tasks.recent():
        close_task(ui, task)
    ui.phone.key(3)
