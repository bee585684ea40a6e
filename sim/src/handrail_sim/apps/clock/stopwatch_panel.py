"""The stopwatch: start, pause, laps, reset."""

from __future__ import annotations

from handrail_sim.apps.clock.countdown import Stopwatch, load_stopwatch, save
from handrail_sim.apps.clock.panel import Panel
from handrail_sim.view import Style, View, button, column, fab, item, lazy_list, row, text

_BIG = Style(kind="text", role="display", size=56.0, align="center")


class StopwatchPanel(Panel):
    """Part of DeskClock."""

    def stopwatch_panel(self) -> View:
        watch = load_stopwatch(self.app)
        now = self.phone.wall_ms()
        total = watch.total(now)
        laps = list(enumerate(watch.laps, start=1))[::-1]
        return column(
            text(
                stopwatch_text(total), id="stopwatch_time_text", width="fill", style=_BIG, padding=(0.0, 48.0)
            ),
            lazy_list(
                laps,
                lambda lap: item(f"# {lap[0]}", stopwatch_text(lap[1]), id="lap_row"),
                lambda lap: f"lap:{lap[0]}",
                id="laps_list",
                height="wrap",
                weight=1.0,
            ),
            self._buttons(watch, total),
            height="fill",
        )

    def _buttons(self, watch: Stopwatch, total: int) -> View:
        running = bool(watch.since_ms)
        return row(
            button("Reset", self.reset_stopwatch, role="text", id="left_button") if total else None,
            fab("pause", "Pause", self.pause_stopwatch, id="fab", align="")
            if running
            else fab("play", "Start", self.start_stopwatch, id="fab", align=""),
            button("Lap", self.lap, role="text", id="right_button", desc="Lap") if running else None,
            gravity="center",
            gap=24.0,
            padding=(0.0, 16.0),
        )

    def start_stopwatch(self) -> None:
        self._keep(load_stopwatch(self.app).start(self.phone.wall_ms()))

    def pause_stopwatch(self) -> None:
        self._keep(load_stopwatch(self.app).pause(self.phone.wall_ms()))

    def lap(self) -> None:
        self._keep(load_stopwatch(self.app).lap(self.phone.wall_ms()))

    def reset_stopwatch(self) -> None:
        self._keep(Stopwatch())

    def _keep(self, watch: Stopwatch) -> None:
        save(self.app, watch)
        self.tick()


def stopwatch_text(duration_ms: int) -> str:
    """Minutes, seconds and tenths; hours once there are any."""
    tenths = duration_ms // 100
    minutes, rest = divmod(tenths, 600)
    words = f"{minutes % 60:02d}:{rest // 10:02d}.{rest % 10}"
    return f"{minutes // 60}:{words}" if minutes >= 60 else words
