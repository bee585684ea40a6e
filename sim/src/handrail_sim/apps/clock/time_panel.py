"""The clock itself: it ticks every second, so this screen is never twice the same; and a few cities."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, column, row, scroll, text

_HOUR_MS = 3_600_000
_BIG = Style(kind="text", role="display", size=56.0, align="center")
_SMALL = Style(kind="text", role="title", size=24.0)
_CENTRED = Style(kind="text", role="label", size=16.0, align="center", color="on_surface_variant")
# City and its hours ahead of UTC; none of them keeps summer time.
CITIES = (("Reykjavik", 0), ("Nairobi", 3), ("Tokyo", 9), ("Brisbane", 10))


class TimePanel(Activity):
    """Part of DeskClock. The phone lives in UTC."""

    def time_panel(self) -> View:
        now = self.phone.wall_ms()
        moment = datetime.fromtimestamp(now // 1000, UTC)
        return scroll(
            column(
                text(
                    f"{moment.hour % 12 or 12}:{moment:%M:%S %p}",
                    id="digital_clock",
                    cls="android.widget.TextView",
                    width="fill",
                    style=_BIG,
                    padding=(0.0, 32.0, 0.0, 8.0),
                ),
                text(f"{moment:%a, %b} {moment.day}", id="date", width="fill", style=_CENTRED),
                *(_city(name, hours, now) for name, hours in CITIES),
                padding=(0.0, 0.0, 0.0, 24.0),
            ),
            id="cities",
        )


def _city(name: str, hours: int, now_ms: int) -> View:
    there = datetime.fromtimestamp((now_ms + hours * _HOUR_MS) // 1000, UTC)
    ahead = "Same time" if not hours else f"{hours} hours ahead"
    words = column(
        text(name, "subtitle", id="city_name"),
        text(ahead, "label", id="city_day"),
        width="wrap",
        weight=1.0,
    )
    when = text(f"{there.hour % 12 or 12}:{there:%M %p}", id="digital_clock", style=_SMALL)
    return row(words, when, min_height=80.0, padding=(24.0, 8.0))
