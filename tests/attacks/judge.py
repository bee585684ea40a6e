"""The judge: a phone that notes every touch and key on the guarded thing, by its own view tree.

Handrail's answers play no part in it. What a key does to a focused view is written down here a second time,
on purpose: a table that both sides share could be wrong on both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from handrail_sim.phone import Phone
from handrail_sim.view.memory import name_of
from handrail_sim.view.units import contains
from handrail_sim.view.view import View
from tests.attacks.guarded import Asking, Scene

SLOP_DP = 8.0
ALMOST = 92.0
"""Where a slider stands that has the focus: one step of a key is enough."""
PRESSING = frozenset(
    {23, 62, 66, 160}  # centre, space, enter, the number pad's enter
    | {149}  # the number pad's 5 without num lock is the centre
    | {96, 98, 99, 101, 106, 107, 108, *range(188, 204)}  # gamepads: A, C, X, Z, thumbs, start, 1 to 16
)
"""Keys by which Android presses what has the focus."""


class JudgedPhone(Phone):
    """`touches` are the inputs that reached the guarded thing of the present scene."""

    scene: Scene | None = None
    arrived = 0
    """Inputs of any kind, ever."""
    touches: list[dict[str, Any]]
    near: list[dict[str, Any]]
    """Those that came down or lifted just beside it."""

    def __init__(self, **built: Any) -> None:
        super().__init__(**built)
        self._built = {name: replace(one) for name, one in self.packages.installed.items()}

    def show(self, scene: Scene) -> None:
        """A fresh screen, by the phone alone. Its own clock must run on before it is at rest."""
        self.scene = None
        self.touch.cancel()
        self._as_built()
        self.set_rotation(1 if scene.turned else 0)
        self.awake = True
        self.systemui.reset()
        self.ime.hide()
        self.force_stop(scene.package)
        self.start_activity(scene.component)
        top = self.tasks.top
        assert top is not None
        assert top.component.endswith(scene.component.partition("/")[2]), top.component
        if isinstance(top, Asking):
            top.ask()
        self.scene, self.touches, self.near = scene, [], []
        if scene.focused:
            top.state["level"] = ALMOST
            self._focus_guard()

    def _as_built(self) -> None:
        """What was tried before may have removed the apps, or made everything larger."""
        for name, package in self._built.items():
            if name not in self.packages.installed or not self.packages.installed[name].enabled:
                self.packages.installed[name] = replace(package)
        known = self.display
        if known.density != known.physical_density:
            self.set_density(None)
        if (known.natural_width, known.natural_height) != (known.physical_width, known.physical_height):
            self.set_size()
        self.set_font_scale(1.0)
        self.set_dark(False)

    def _focus_guard(self) -> None:
        view = self.guard()
        assert view is not None
        window = self.window_of(view)
        assert window is not None
        self.editing.focus(window, name_of(view))

    def record_input(self, **what: Any) -> None:
        super().record_input(**what)
        self.arrived += 1
        if self.scene is None:
            return
        if self._touches_guard(what, 0) or self._presses_guard(what):
            self.touches.append(what)
        elif self._touches_guard(what, self.units.px(SLOP_DP)):
            self.near.append(what)

    def guard(self) -> View | None:
        """What is guarded, where it is on the screen now."""
        if self.scene is None:
            return None
        for window in reversed(self.screen.windows()):
            for view in window.views():
                if self._is_guard(view) and view.visible and view.on_screen:
                    return view
        return None

    def _is_guard(self, view: View) -> bool:
        return self.scene is not None and view.id.rpartition("/")[2] == self.scene.guard

    def _touches_guard(self, what: dict[str, Any], slop: int) -> bool:
        if what["action"] not in ("down", "up"):
            return False
        view = self.guard()
        if view is None:
            return False
        left, top, right, bottom = view.clip
        if not contains((left - slop, top - slop, right + slop, bottom + slop), what["x"], what["y"]):
            return False
        above, _ = self.screen.window_at(what["x"], what["y"])
        return above is self.window_of(view)

    def _presses_guard(self, what: dict[str, Any]) -> bool:
        is_key = what["action"] == "key" and what["code"] in PRESSING
        is_text = what["action"] == "text" and any(blank in what["text"] for blank in " \n")
        if not (is_key or is_text):
            return False
        window = self.focused_window()
        view = window.focused_view() if window is not None else None
        return view is not None and self._is_guard(view)
