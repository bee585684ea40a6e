"""The timer: a keypad to set it, then a countdown with pause, one more minute, reset and delete."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.clock.countdown import Countdown, clock_text, load_countdown, save
from handrail_sim.apps.clock.panel import Panel
from handrail_sim.apps.clock.ringing import arm
from handrail_sim.view import Style, View, button, column, fab, frame, grid, icon_button, row, text

_BIG = Style(kind="text", role="display", size=48.0, align="center")
_KEY = Style(kind="button", role="text", size=28.0, align="center")
_MINUTE_MS = 60_000


class TimerPanel(Panel):
    """Part of DeskClock. `state["entry"]` holds the digits typed so far, hhmmss from the right."""

    def timer_panel(self) -> View:
        countdown = load_countdown(self.app)
        return self._running(countdown) if countdown.length_ms else self._set_up()

    def _set_up(self) -> View:
        """On its side the screen has the keypad beside the time, not below it."""
        lies = self.phone.display.width > self.phone.display.height
        entry = self.state["entry"].zfill(6)
        shown = text(
            f"{entry[:2]}h {entry[2:4]}m {entry[4:]}s",
            id="timer_setup_time",
            width="wrap" if lies else "fill",
            weight=1.0 if lies else 0.0,
            style=_BIG,
            padding=(0.0, 24.0),
        )
        start = fab(
            "play", "Start", self.set_timer, id="fab", align="start bottom" if lies else "center_h bottom"
        )
        keypad = self._keypad(64.0 if lies else 72.0, 1.0 if lies else 0.0)
        return frame(
            row(shown, keypad) if lies else column(shown, keypad),
            start if int(entry) else None,
            height="fill",
        )

    def _keypad(self, height: float, weight: float) -> View:
        erase = icon_button(
            "backspace", "Delete", self.erase, id="timer_setup_delete", width="fill", height=height
        )
        keys = [self._key(digit, height) for digit in (*"123456789", "00", "0")]
        return grid(3, *keys, erase, padding=(24.0, 0.0), width="wrap" if weight else "fill", weight=weight)

    def _key(self, digit: str, height: float) -> View:
        return button(
            digit,
            partial(self.press, digit),
            id=f"timer_setup_digit_{digit}",
            style=_KEY,
            width="fill",
            height=height,
        )

    def _running(self, countdown: Countdown) -> View:
        left = countdown.remaining(self.phone.wall_ms())
        start_or_pause = (
            fab("pause", "Pause", self.pause_timer, id="fab", align="")
            if countdown.end_ms
            else fab("play", "Start", self.resume_timer, id="fab", align="")
        )
        return column(
            text(clock_text(left), id="timer_time_text", width="fill", style=_BIG, padding=(0.0, 48.0)),
            row(
                button("Reset", self.reset_timer, role="text", id="reset"),
                button("+1:00", self.one_more_minute, role="text", id="add_one_minute", desc="Add 1 minute"),
                gravity="center",
                gap=24.0,
            ),
            row(
                button("Delete", self.delete_timer, role="text", id="left_button"),
                start_or_pause,
                gravity="center",
                gap=24.0,
            ),
            height="fill",
            gravity="center_h",
            gap=24.0,
        )

    def press(self, digits: str) -> None:
        """Leading zeros are not typed, and six digits are all there is room for."""
        entry = (self.state["entry"] + digits).lstrip("0")
        if len(entry) <= 6:
            self.state["entry"] = entry

    def erase(self) -> None:
        self.state["entry"] = self.state["entry"][:-1]

    def set_timer(self) -> None:
        entry = self.state["entry"].zfill(6)
        length = (int(entry[:2]) * 3600 + int(entry[2:4]) * 60 + int(entry[4:])) * 1000
        self.state["entry"] = ""
        self.keep_timer(Countdown(length, length).start(self.phone.wall_ms()))

    def pause_timer(self) -> None:
        self.keep_timer(load_countdown(self.app).pause(self.phone.wall_ms()))

    def resume_timer(self) -> None:
        self.keep_timer(load_countdown(self.app).start(self.phone.wall_ms()))

    def one_more_minute(self) -> None:
        self.keep_timer(load_countdown(self.app).add(_MINUTE_MS))

    def reset_timer(self) -> None:
        self.keep_timer(load_countdown(self.app).reset())

    def delete_timer(self) -> None:
        self.keep_timer(Countdown())

    def keep_timer(self, countdown: Countdown) -> None:
        """Kept, rung when due, and shown while it runs."""
        save(self.app, countdown)
        arm(self.app)
        self.tick()
