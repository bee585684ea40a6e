"""The clock itself: it ticks every second, so this screen is never twice the same; and a few cities."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, column, row, scroll, text

_BIG = Style(kind="text", role="display", size=56.0, align="center")
_SMALL = Style(kind="text", role="title", size=24.0)
_CENTRED = Style(kind="text", role="label", size=16.0, align="center", color="on_surface_variant")
# City and its hours ahead of UTC; none of them keeps summer time.
CITIES = (("Reykjavik", 0), ("Nairobi", 3), ("Tokyo", 9), ("Brisbane", 10))


class TimePanel(Activity):
    """Part of DeskClock."""

    def time_panel(self) -> View:
        now = self.phone.wall_ms()
        moment = self.phone.local(now)
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
                *(_city(name, hours, moment) for name, hours in CITIES),
                padding=(0.0, 0.0, 0.0, 24.0),
            ),
            id="cities",
        )


def _city(name: str, hours: int, here: datetime) -> View:
    there = here.astimezone(timezone(timedelta(hours=hours)))
    apart = hours - round((here.utcoffset() or timedelta()).total_seconds() / 3600)
    way = "ahead" if apart > 0 else "behind"
    ahead = f"{abs(apart)} {'hour' if abs(apart) == 1 else 'hours'} {way}" if apart else "Same time"
    words = column(
        text(name, "subtitle", id="city_name"),
        text(ahead, "label", id="city_day"),
        width="wrap",
        weight=1.0,
    )
    when = text(f"{there.hour % 12 or 12}:{there:%M %p}", id="digital_clock", style=_SMALL)
    return row(words, when, min_height=80.0, padding=(24.0, 8.0))
