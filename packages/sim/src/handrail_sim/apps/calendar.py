"""Calendar: what is coming, a form for an event, all of it in the calendar provider."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.device import Device
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import clock_time, entries, needed
from handrail_sim.view import View

_EDIT = "com.android.calendar.event.EditEventActivity"
_INFO = "com.android.calendar.EventInfoActivity"
_EVENT = "vnd.android.cursor.dir/event"
_HOUR_MS = 3_600_000
# field, what it is called
_WORDS = (("title", "Title"), ("eventLocation", "Location"), ("description", "Description"))
_TIMES = (
    ("start_date", "Start date"),
    ("start_time", "Start time"),
    ("end_date", "End date"),
    ("end_time", "End time"),
)


def database(phone: Device) -> sqlite3.Connection:
    return phone.providers.database("calendar.db")


def events(phone: Device, since_ms: int = 0) -> list[dict[str, Any]]:
    """Those that are not over at this time, the earliest first."""
    rows = database(phone).execute(
        "SELECT view_events.*, begin, end FROM Instances JOIN view_events ON event_id = view_events._id "
        "WHERE end >= ? AND visible = 1 ORDER BY begin, view_events._id",
        (since_ms,),
    )
    return [dict(entry) for entry in rows]


class Agenda(Activity):
    """What is coming, day by day."""

    title = "Calendar"

    def build(self) -> View:
        now = self.phone.local()
        coming = events(self.phone, int(now.replace(hour=0, minute=0, second=0).timestamp() * 1000))
        listed = ui.lazy_list(
            coming, self._row, lambda event: f"{event['_id']}:{event['begin']}", id="agenda", weight=1.0
        )
        nothing = ui.text("Nothing planned", "subtitle", id="empty", margin=24.0)
        return ui.frame(
            ui.screen(ui.toolbar(f"{now:%B %Y}"), listed if coming else nothing),
            ui.fab("add", "Create new event", partial(self.start, _EDIT), id="floating_action_button"),
            height="fill",
        )

    def _row(self, event: dict[str, Any]) -> View:
        return ui.item(
            event["title"] or "(No title)",
            shown_when(self.phone, event),
            id="event",
            on_click=partial(self.start, _INFO, event=event["_id"]),
        )


class Info(Activity):
    """One event; `extras["event"]` is its id."""

    title = "Event"

    @property
    def event(self) -> dict[str, Any] | None:
        return next((entry for entry in events(self.phone) if entry["_id"] == self.extras.get("event")), None)

    def build(self) -> View:
        event = self.event
        if event is None:
            return ui.screen(ui.toolbar("Event not found", on_up=self.finish))
        lines = (shown_when(self.phone, event), event["eventLocation"], event["description"])
        return ui.screen(
            ui.toolbar(
                event["title"] or "(No title)",
                ui.icon_button(
                    "edit", "Edit", partial(self.start, _EDIT, event=event["_id"]), id="info_action_edit"
                ),
                ui.icon_button("delete", "Delete", self.ask, id="info_action_delete"),
                on_up=self.finish,
            ),
            *(ui.text(line, padding=(16.0, 8.0)) for line in lines if line),
        )

    def ask(self) -> None:
        self.dialog("", "Delete this event?", {"Cancel": None, "Delete": self.delete})

    def delete(self) -> None:
        with database(self.phone) as rows:
            rows.execute("DELETE FROM Events WHERE _id = ?", (self.extras["event"],))
        self.finish()


class Edit(Activity):
    """A new event, or with the extra `event` a known one. Dates are written YYYY-MM-DD, times HH:MM."""

    title = "Edit event"

    def on_create(self) -> None:
        existing = next(
            (event for event in events(self.phone) if event["_id"] == self.extras.get("event")), None
        )
        start = (
            existing["begin"]
            if existing
            else int(self.extras.get("beginTime", self.phone.wall_ms() // _HOUR_MS * _HOUR_MS + _HOUR_MS))
        )
        end = existing["end"] if existing else int(self.extras.get("endTime", start + _HOUR_MS))
        arguments = existing or self.extras
        self.state.update({name: str(arguments.get(name) or "") for name, _ in _WORDS}, error="")
        self.state["all_day"] = str(arguments.get("allDay", "")) in {"1", "true", "True"}
        for side, moment in (("start", self.phone.local(start)), ("end", self.phone.local(end))):
            self.state.update({f"{side}_date": f"{moment:%Y-%m-%d}", f"{side}_time": f"{moment:%H:%M}"})

    def build(self) -> View:
        entries = [self._field(name, label) for name, label in _WORDS]
        times = [
            ui.row(*(self._field(name, label) for name, label in pair), gap=8.0)
            for pair in (_TIMES[:2], _TIMES[2:])
        ]
        form = ui.column(
            entries[0],
            ui.switch("All day", self.state["all_day"], self.sets("all_day"), id="is_all_day"),
            *times,
            *entries[1:],
            ui.text(self.state["error"], "error", id="error") if self.state["error"] else None,
            padding=16.0,
            gap=8.0,
        )
        save = ui.button("Save", self.save, id="action_done")
        bar = ui.toolbar("Event", save, on_up=self.finish, up="Cancel", padding=(4.0, 0.0, 16.0, 0.0))
        return ui.screen(bar, ui.scroll(form, weight=1.0))

    def _field(self, name: str, label: str) -> View:
        change = partial(self.change, name)
        return ui.field(name, self.state[name], change, hint=label, weight=1.0, width="fill")

    def change(self, name: str, words: str) -> None:
        self.state[name] = words

    def _moment(self, side: str) -> datetime:
        clock = "00:00" if self.state["all_day"] else self.state[f"{side}_time"]
        text = f"{self.state[f'{side}_date']} {clock}"
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=self.phone.zone)
        return moment + timedelta(days=int(self.state["all_day"] and side == "end"))

    def save(self) -> None:
        try:
            start, end = self._moment("start"), self._moment("end")
        except ValueError:
            self.state["error"] = "Dates are written YYYY-MM-DD, times HH:MM"
            return
        if end < start:
            self.state["error"] = "The event ends before it starts"
            return
        values: dict[str, Any] = {name: self.state[name] for name, _ in _WORDS}
        values |= {"dtstart": int(start.timestamp() * 1000), "dtend": int(end.timestamp() * 1000)}
        values |= {
            "allDay": int(self.state["all_day"]),
            "eventTimezone": self.phone.props["persist.sys.timezone"],
        }
        save(self.phone, values, self.extras.get("event"))
        self.toast("Event saved")
        self.finish()


def save(phone: Device, values: dict[str, Any], current: int | None = None) -> None:
    with database(phone) as rows:
        if current:
            places = ", ".join(f"{name} = ?" for name in values)
            rows.execute(f"UPDATE Events SET {places} WHERE _id = ?", (*values.values(), current))  # noqa: S608
            return
        calendar = rows.execute(
            "SELECT min(_id) FROM Calendars WHERE calendar_access_level >= 500"
        ).fetchone()[0]
        if calendar is None:
            calendar = rows.execute(
                "INSERT INTO Calendars (account_name, account_type, name, calendar_displayName, "
                "calendar_access_level, sync_events) "
                "VALUES ('Phone', 'LOCAL', 'Personal', 'Personal', 700, 1)"
            ).lastrowid
        names, places = ", ".join(values), ", ".join("?" * len(values))
        text = f"INSERT INTO Events (calendar_id, {names}) VALUES (?, {places})"  # noqa: S608 - our own names
        rows.execute(text, (calendar, *values.values()))


def shown_when(phone: Device, event: dict[str, Any]) -> str:
    """`Tue, Mar 5, 14:00 – 15:00`, or the day alone."""
    start, end = phone.local(event["begin"]), phone.local(event["end"])
    day = f"{start:%a, %b} {start.day}"
    if event["allDay"]:
        return day
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%a, %b} {end.day}, {end:%H:%M}"
    return f"{day}, {start:%H:%M} – {until}"


@declared
class Calendar(App):
    """Google's calendar by its name; the screens are AOSP's."""

    activities = {"com.android.calendar.AllInOneActivity": Agenda, _EDIT: Edit, _INFO: Info}
    handles = (
        Handles(_EDIT, "android.intent.action.INSERT", mime=_EVENT),
        Handles(_EDIT, "android.intent.action.INSERT", scheme="content", mime=_EVENT),
        Handles(_EDIT, "android.intent.action.EDIT", mime="vnd.android.cursor.item/event"),
    )

    def fill(self, content: Any) -> None:
        """Events with `title`, `day` (from today), `from`, `to`, `location`, `description`, `all_day`."""
        planned = entries(content, "calendar", "title day from to location description all_day")
        if not planned.adds:
            with database(self.phone) as rows:
                rows.execute("DELETE FROM Events")
        midnight = self.phone.local().replace(hour=0, minute=0, second=0, microsecond=0)
        for number, event in enumerate(planned.rows):
            at = f"calendar[{number}]"
            needed(event, ("title",), at)
            day = midnight + timedelta(days=int(event.get("day", 1)))
            hour, minute = clock_time(event.get("from", "09:00"), at)
            last_hour, last_minute = clock_time(event.get("to", f"{min(hour + 1, 23):02d}:{minute:02d}"), at)
            start, end = (
                day.replace(hour=hour, minute=minute),
                day.replace(hour=last_hour, minute=last_minute),
            )
            if event.get("all_day"):
                start, end = day, day + timedelta(days=1)
            save(
                self.phone,
                {
                    "title": str(event["title"]),
                    "eventLocation": str(event.get("location", "")),
                    "description": str(event.get("description", "")),
                    "dtstart": int(start.timestamp() * 1000),
                    "dtend": int(end.timestamp() * 1000),
                    "allDay": int(bool(event.get("all_day"))),
                    "eventTimezone": self.phone.props["persist.sys.timezone"],
                },
            )

    def state(self) -> dict[str, Any]:
        return {
            "events": [
                {
                    "id": event["_id"],
                    "title": event["title"],
                    "location": event["eventLocation"] or "",
                    "description": event["description"] or "",
                    "all_day": bool(event["allDay"]),
                    "day": f"{self.phone.local(event['begin']):%Y-%m-%d}",
                    "from": f"{self.phone.local(event['begin']):%H:%M}",
                    "to": f"{self.phone.local(event['end']):%H:%M}",
                    "start_ms": event["dtstart"],
                    "end_ms": event["dtend"],
                }
                for event in events(self.phone)
            ]
        }


APP = Calendar
