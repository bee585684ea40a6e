"""What the clock's panels share: a screen that ticks only while it is in front and something on it moves."""

from __future__ import annotations

from handrail_sim.system.activities import Activity


class Panel(Activity):
    """`pace_ms` says how often the screen in front changes by itself; 0 is never.

    `state["tick"]` numbers the ticks: whatever was set before the last one is void.
    """

    def pace_ms(self) -> int:
        return 0

    def on_resume(self) -> None:
        self.tick()

    def on_pause(self) -> None:
        self.state["tick"] += 1

    def tick(self) -> None:
        """Sets the next tick, on a full second or tenth; those that nobody was there to see are left out."""
        pace = self.pace_ms()
        self.state["tick"] += 1
        if pace:
            late = self.phone.clock.monotonic_ms() - self.phone.now_ms()
            missed = late // pace * pace
            self.later(pace - self.phone.wall_ms() % pace + missed, self.next_tick, self.state["tick"])

    def next_tick(self, number: int) -> None:
        if number == self.state["tick"]:
            self.tick()
