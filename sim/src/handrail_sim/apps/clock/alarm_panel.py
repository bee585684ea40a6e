"""Alarms: a card each, with a switch; an open card also has days, vibration, label and delete."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from handrail_sim.apps.clock.alarms import DAYS, Alarm, days_text, open_store
from handrail_sim.apps.clock.ringing import arm
from handrail_sim.apps.clock.time_picker import TimePicker
from handrail_sim.view import (
    Style,
    View,
    button,
    card,
    checkbox,
    chip,
    column,
    fab,
    field,
    frame,
    icon,
    icon_button,
    lazy_list,
    row,
    switch,
    text,
)

_TIME = Style(kind="text", role="display", size=40.0)
_DAYS = Style(kind="text", role="label", size=14.0, color="on_surface_variant")


class AlarmPanel(TimePicker):
    """Part of DeskClock. `state["open"]` is the id of the card that is open."""

    def alarm_panel(self) -> View:
        alarms = open_store(self.app).all()
        listed = lazy_list(alarms, self._card, lambda alarm: f"alarm:{alarm.id}", id="alarms_recycler_view")
        return frame(
            listed if alarms else _empty(),
            fab("add", "Add alarm", self.add_alarm, id="fab", align="center_h bottom"),
            height="fill",
        )

    def _card(self, alarm: Alarm) -> View:
        is_open = self.state["open"] == alarm.id
        head = row(
            text(
                alarm.time,
                id="digital_clock",
                weight=1.0,
                style=_TIME,
                on_click=partial(self.edit_time, alarm.id),
            ),
            switch("", alarm.enabled, partial(self.switch_alarm, alarm.id), id="onoff"),
        )
        words = days_text(alarm.days) or ("Today or tomorrow" if alarm.enabled else "Not scheduled")
        arrow = icon_button(
            "expand_less" if is_open else "expand_more",
            "Collapse alarm" if is_open else "Expand alarm",
            partial(self.open_card, 0 if is_open else alarm.id),
            id="arrow",
        )
        foot = row(text(words, id="daysOfWeek", weight=1.0, style=_DAYS), arrow)
        label = text(alarm.label, "label", id="label") if alarm.label else None
        return card(label, head, *(self._details(alarm) if is_open else ()), foot, id="alarm_card")

    def _details(self, alarm: Alarm) -> list[View]:
        days = [
            chip(
                name[0],
                number in alarm.days,
                partial(self.set_day, alarm.id, number, number not in alarm.days),
                cls="android.widget.CheckBox",
                id=f"day_button_{number}",
                desc=name,
                padding=0.0,
                min_width=36.0,
                weight=1.0,
            )
            for number, name in enumerate(DAYS)
        ]
        return [
            row(*days, gap=4.0, id="repeat_days"),
            checkbox("Vibrate", alarm.vibrate, partial(self.set_vibrate, alarm.id), id="vibrate_onoff"),
            button("Label", partial(self.ask_for_label, alarm.id), role="text", id="edit_label"),
            button("Delete", partial(self.delete_alarm, alarm.id), role="text", id="delete"),
        ]

    def open_card(self, alarm_id: int) -> None:
        self.state["open"] = alarm_id

    def add_alarm(self) -> None:
        self.pick_time(0, 9, 0)

    def edit_time(self, alarm_id: int) -> None:
        alarm = open_store(self.app).get(alarm_id)
        if alarm is not None:
            self.pick_time(alarm_id, alarm.hour, alarm.minute)

    def time_picked(self, alarm_id: int, hour: int, minute: int) -> None:
        store = open_store(self.app)
        known = store.get(alarm_id)
        if known is None:
            self._announce(store.add(hour, minute))
        else:
            self._change(replace(known, hour=hour, minute=minute, enabled=True))

    def switch_alarm(self, alarm_id: int, on: bool) -> None:
        self._update(alarm_id, enabled=on)

    def set_vibrate(self, alarm_id: int, on: bool) -> None:
        self._update(alarm_id, vibrate=on)

    def set_day(self, alarm_id: int, day: int, on: bool) -> None:
        known = open_store(self.app).get(alarm_id)
        if known is not None:
            days = {*known.days, day} if on else {*known.days} - {day}
            self._update(alarm_id, days=tuple(sorted(days)))

    def ask_for_label(self, alarm_id: int) -> None:
        known = open_store(self.app).get(alarm_id)
        self.state["label"] = known.label if known else ""
        buttons = {"Cancel": None, "OK": partial(self.set_label, alarm_id)}
        self.dialog("Label", "", buttons, content=self.label_field)

    def label_field(self) -> View:
        return field("alarm_label", self.state["label"], self.type_label, hint="Label")

    def type_label(self, words: str) -> None:
        self.state["label"] = words

    def set_label(self, alarm_id: int) -> None:
        self._update(alarm_id, label=self.state["label"].strip())

    def delete_alarm(self, alarm_id: int) -> None:
        open_store(self.app).delete(alarm_id)
        arm(self.app)
        self.snackbar("Alarm deleted")

    def _update(self, alarm_id: int, **changes: bool | str | tuple[int, ...]) -> None:
        known = open_store(self.app).get(alarm_id)
        if known is not None:
            self._change(replace(known, **changes))  # type: ignore[arg-type]

    def _change(self, alarm: Alarm) -> None:
        was = open_store(self.app).get(alarm.id)
        open_store(self.app).change(alarm)
        if alarm.enabled and not (was and was.enabled):
            self._announce(alarm)
        else:
            arm(self.app)

    def _announce(self, alarm: Alarm) -> None:
        """How long it is until it rings, as AOSP's clock says in a toast."""
        arm(self.app)
        now = self.phone.wall_ms()
        minutes = -(-(alarm.next_ms(now, self.phone.zone) - now) // 60_000)
        self.toast(f"Alarm set for {_span(minutes)} from now.")


def _span(minutes: int) -> str:
    days, rest = divmod(minutes, 1440)
    parts = ((days, "day"), (rest // 60, "hour"), (rest % 60, "minute"))
    return " ".join(f"{count} {unit}{'s' if count != 1 else ''}" for count, unit in parts if count)


def _empty() -> View:
    return column(
        icon("alarm", size=96.0),
        text("No Alarms", "subtitle", id="alarms_empty_view"),
        height="fill",
        gravity="center",
        gap=16.0,
    )
