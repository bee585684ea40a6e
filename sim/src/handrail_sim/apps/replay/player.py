"""The one activity of a replay: shows a recorded screen, follows its steps, goes back the way it came."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from handrail_sim.apps.replay.recorded import Recorded
from handrail_sim.apps.replay.recording import Recording
from handrail_sim.apps.replay.screen_view import screen_view, told
from handrail_sim.apps.replay.steps import ANY, Steps, steps_from
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, column, text

if TYPE_CHECKING:
    from handrail_sim.apps.replay import Replay


_ADVICE = "Start the phone with --apps replay:FOLDER, where FOLDER holds UI dumps."


class Player(Activity):
    """`state["trail"]` is every screen on the way here, the present one last."""

    title = "Replay"
    bare = True

    def on_create(self) -> None:
        self.state["trail"] = []
        if self.replay.recording is not None:
            self.show(0)

    @property
    def replay(self) -> Replay:
        return cast("Replay", self.app)

    @property
    def recording(self) -> Recording:
        recording = self.replay.recording
        assert recording is not None  # noqa: S101
        return recording

    @property
    def number(self) -> int:
        return int(self.state["trail"][-1])

    @property
    def steps(self) -> Steps:
        known = self.replay.steps
        if self.number not in known:
            known[self.number] = steps_from(self.recording, self.number)
        return known[self.number]

    def build(self) -> View:
        if self.replay.recording is None:
            return column(text("Nothing recorded", "headline"), text(_ADVICE), padding=48.0, height="fill")
        shot = self.recording.shots[self.number]
        display = self.phone.display
        return screen_view(shot, (display.width, display.height), self.phone.units.sp, self.dress)

    def dress(self, node: Recorded, view: View) -> None:
        steps = self.steps
        tap = steps.taps.get(node.order, steps.taps.get(ANY) if node.clickable else None)
        if tap is not None:
            view.on_click = partial(self.show, tap)
            view.clickable = told(view, "clickable", node.clickable)
        hold = steps.long_presses.get(
            node.order, steps.long_presses.get(ANY) if node.long_clickable else None
        )
        if hold is not None:
            view.on_long_click = partial(self.show, hold)
            view.long_clickable = told(view, "long-clickable", node.long_clickable)
        if node.is_field:
            self.dress_field(node, view)
        if node.parent is None or not node.parent.class_name:
            view.on_swipe = self.swiped

    def dress_field(self, node: Recorded, view: View) -> None:
        """A recorded field can be typed into; what it held is its text, what was its hint stays one."""
        view.editable = True
        if node.text and node.text == node.says("hint"):
            view.text = ""
        typed = self.steps.typed.get(node.order) or self.steps.typed.get(ANY)
        if typed is not None:
            view.on_change = partial(self.typed, *typed)
            view.on_submit = partial(self.show, typed[1])

    def typed(self, wanted: str, goal: int, words: str) -> None:
        if words == wanted:
            self.show(goal)

    def swiped(self, way: str) -> None:
        goal = self.steps.swipes.get(way)
        if goal is not None:
            self.show(goal)

    def show(self, number: int) -> None:
        self.state["trail"].append(number)
        self.seen()

    def seen(self) -> None:
        kept = self.app.prefs("replay")
        name = self.recording.shots[self.number].name
        kept["screen"], kept["visited"] = name, f"{kept.get('visited', '')}\n{name}".strip()
        self.window.memory.clear()

    def back(self) -> bool:
        """The way it came, unless the recording knows better; from the first screen one leaves the app."""
        if not self.state["trail"]:
            return False
        if self.steps.back is not None:
            self.show(self.steps.back)
            return True
        if len(self.state["trail"]) < 2:
            return False
        self.state["trail"].pop()
        self.seen()
        return True
