"""Flutter lab: one canvas. What is on it becomes known only when somebody has asked for its semantics.

A debug build: its Dart VM service says in the log where it listens. Saving a task draws frames, and nothing
that accessibility sees moves until it is done.
"""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64encode
from functools import partial
from typing import Any, cast
from uuid import NAMESPACE_OID, uuid5

from handrail_sim.apps.manifests import declared
from handrail_sim.stream import Stream
from handrail_sim.system.activities import Activity, App, Context
from handrail_sim.view import Style, View, fab, field, frame, lazy_list, row, screen, slider, text

VIEW = "android.view.View"
CANVAS = "android.widget.FrameLayout"  # FlutterView, by the class that accessibility reports for it
_ADD = Style(kind="text", size=14.0, bold=True, color="on_primary")
SAVE_MS = 900.0
FIRST_PORT = 41000
_TASKS = ("Oil the hinge", "Return the book", "Buy stamps")


class Main(Activity):
    """A list of tasks. Touch works with or without semantics: the canvas knows where its own things are."""

    title = "Flutter lab"

    def on_create(self) -> None:
        self.state.update(
            tasks=[[name, False] for name in self.phone.world.get(self.app.package, _TASKS)],
            speed=30.0,
            counter=0,
            saving=0,
        )

    def build(self) -> View:
        content = frame(
            screen(self.bar(), self.composer(), self.tasks(), self.speed(), cls=VIEW),
            fab("add", "Increment", self.count, cls="android.widget.Button"),
            cls=VIEW,
            height="fill",
        )
        if not self.phone.accessibility_requested and not self.lab.semantics:
            content.accessible = False
        return frame(content, cls=CANVAS, height="fill", focusable=True)

    @property
    def lab(self) -> FlutterLab:
        return cast("FlutterLab", self.app)

    def changed(self) -> None:
        super().changed()
        self.lab.draw()

    def bar(self) -> View:
        """Flutter tells words as descriptions, not as text."""
        return semantic_text(
            f"Tasks, tapped {self.state['counter']} times", "title", height=56.0, padding=16.0
        )

    def composer(self) -> View:
        return row(
            field("=", hint="New task", key="task", weight=1.0, on_submit=self.add),
            frame(
                text("…" if self.state["saving"] else "Add", style=_ADD, align="center", accessible=False),
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
            list(enumerate(self.state["tasks"])), self.task, item_key=_key, key="tasks", cls=VIEW, weight=1.0
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
            on_change=self.sets("speed"),
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
            self.set_field("task", "")
            self.state["saving"] += 1
            self.lab.draw(SAVE_MS)
            self.later(SAVE_MS, partial(self.saved, words))

    def saved(self, words: str) -> None:
        self.state["saving"] -= 1
        self.state["tasks"].append([words, False])

    def set_done(self, number: int, done: bool) -> None:
        self.state["tasks"][number][1] = done

    def count(self) -> None:
        self.state["counter"] += 1


def semantic_text(words: str, role: str, **options: Any) -> View:
    return frame(text(words, role, accessible=False), cls=VIEW, desc=words, **options)


def _key(numbered: tuple[int, list[Any]]) -> str:
    return str(numbered[0])


@declared
class FlutterLab(App):
    """Tasks on a canvas."""

    activities = {"MainActivity": Main}

    def __init__(self, phone: Context) -> None:
        super().__init__(phone)
        self.semantics = False
        self.drawing_until_ms = 0.0
        self.viewers: set[asyncio.Event] = set()
        self.secret = self._port = ""
        self._debuggers: set[Stream] = set()

    def on_create(self) -> None:
        """As every debug build does: another port and another secret for each process."""
        pid = self.phone.packages.pid_of(self.package) or 0
        number = FIRST_PORT + pid % 1000
        self.secret = urlsafe_b64encode(
            uuid5(NAMESPACE_OID, f"{self.phone.boot_id} {pid}").bytes[:8]
        ).decode()
        self._port = f"tcp:{number}"
        self.phone.ports.setdefault(self._port, self._vm_service)
        address = f"http://127.0.0.1:{number}/{self.secret}/"
        self.phone.logcat("I", "flutter", f"The Dart VM service is listening on {address}", self.package)

    async def _vm_service(self, stream: Stream) -> None:
        from handrail_sim.channels.dart_vm import serve_app  # noqa: PLC0415 - only debugged phones pay for it

        self._debuggers.add(stream)
        try:
            await serve_app(self, stream)
        finally:
            self._debuggers.discard(stream)

    def draw(self, duration_ms: float = 0.0) -> None:
        self.drawing_until_ms = max(self.drawing_until_ms, self.phone.now_ms() + duration_ms)
        for viewer in self.viewers:
            viewer.set()

    def build_semantics(self) -> None:
        self.semantics = True
        self.phone.touched_app()

    def close(self) -> None:
        super().close()
        if self.phone.ports.get(self._port) == self._vm_service:
            del self.phone.ports[self._port]
        for stream in list(self._debuggers):
            stream.close()

    def fill(self, content: Any) -> None:
        self.phone.world[self.package] = [str(name) for name in content]

    def state(self) -> dict[str, Any]:
        screens = [activity for activity in self.phone.tasks.open_activities() if isinstance(activity, Main)]
        return {
            "tasks": [name for screen in screens for name, _ in screen.state["tasks"]],
            "done": [name for screen in screens for name, done in screen.state["tasks"] if done],
            "speed": [round(screen.state["speed"]) for screen in screens][-1:],
            "counter": sum(screen.state["counter"] for screen in screens),
            "saving": sum(screen.state["saving"] for screen in screens),
        }


APP = FlutterLab
