"""Clock: alarms, the time, a timer and a stopwatch, all on the phone's own clock."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.clock.store import (
    DAYS,
    Alarm,
    Countdown,
    Panel,
    Stopwatch,
    arm,
    clock_text,
    days_text,
    load_countdown,
    load_stopwatch,
    open_store,
    rearm,
    save,
)
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App, Context
from handrail_sim.system.intents import Handles
from handrail_sim.system.world import clock_time, entries, needed
from handrail_sim.view import Style, View

_CHOSEN = Style(kind="text", role="display", size=44.0, color="primary", align="center")
_OTHER = Style(kind="text", role="display", size=44.0, align="center")
_COLON = Style(kind="text", role="display", size=44.0)
_ERROR = Style(kind="text", role="error", size=12.0, color="error")


class TimePicker(Activity):
    """`state["picker"]`: what it is `about`, hour, minute, the part being set, what was typed if anything."""

    def pick_time(self, about: int, hour: int, minute: int) -> None:
        """Opens the dialog; `time_picked(about, hour, minute)` follows on OK."""
        self.state["picker"] = {
            "about": about,
            "hour": hour,
            "minute": minute,
            "part": "hour",
            "typed": None,
            "error": False,
        }
        self._open_picker()

    def time_picked(self, about: int, hour: int, minute: int) -> None:
        raise NotImplementedError

    def _open_picker(self) -> None:
        self.dialog("", "", {"Cancel": None, "OK": self.take_time}, content=self.picker)

    def picker(self) -> View:
        typing = self.state["picker"]["typed"] is not None
        words = "clock mode" if typing else "text input mode"
        mode = ui.icon_button(
            "clock" if typing else "keyboard",
            f"Switch to {words} for the time input.",
            self.switch_mode,
            id="android:id/toggle_mode",
        )
        if typing:
            return ui.column(self._typed(), mode, padding=(0.0, 16.0, 0.0, 0.0), gap=8.0)
        if self._lies():
            return ui.column(ui.row(ui.frame(self._header(), weight=1.0), mode), self._face())
        return ui.column(self._header(), self._face(), mode, padding=(0.0, 16.0, 0.0, 0.0), gap=8.0)

    def _lies(self) -> bool:
        return self.phone.display.width > self.phone.display.height

    def _header(self) -> View:
        picker = self.state["picker"]
        hour, minute = picker["hour"], picker["minute"]
        return ui.row(
            self._part("hour", str(hour % 12 or 12), "android:id/hours"),
            ui.text(":", style=_COLON, id="android:id/separator"),
            self._part("minute", f"{minute:02d}", "android:id/minutes"),
            ui.column(
                ui.radio("AM", hour < 12, partial(self.set_half, 0), id="android:id/am_label"),
                ui.radio("PM", hour >= 12, partial(self.set_half, 1), id="android:id/pm_label"),
                width="wrap",
            ),
            gravity="center",
            gap=4.0,
            id="android:id/time_header",
            cls="android.widget.RelativeLayout",
        )

    def _part(self, part: str, words: str, view_id: str) -> View:
        style = _CHOSEN if self.state["picker"]["part"] == part else _OTHER
        return ui.text(words, style=style, id=view_id, min_width=64.0, on_click=partial(self.set_part, part))

    def _face(self) -> View:
        picker = self.state["picker"]
        hours = picker["part"] == "hour"
        present = (picker["hour"] % 12 or 12) if hours else picker["minute"]
        numbers = range(1, 13) if hours else range(0, 60, 5)
        faces = [_number(number, number == present, partial(self.set_number, number)) for number in numbers]
        return ui.grid(
            6 if self._lies() else 4,
            *faces,
            id="android:id/radial_picker",
            cls="android.widget.RadialTimePickerView",
            gap=4.0,
        )

    def _typed(self) -> View:
        picker = self.state["picker"]
        half = "AM" if picker["hour"] < 12 else "PM"
        entries = ui.row(
            _entry("android:id/input_hour", picker["typed"][0], partial(self.type_part, 0)),
            ui.text(":", style=_COLON, id="android:id/input_separator"),
            _entry("android:id/input_minute", picker["typed"][1], partial(self.type_part, 1)),
            ui.button(
                half,
                self.other_half,
                role="tonal",
                id="android:id/am_pm_spinner",
                cls="android.widget.Spinner",
            ),
            gap=8.0,
            gravity="center",
        )
        error = ui.text("Enter a valid time", id="android:id/label_error", style=_ERROR)
        return ui.column(
            ui.text("Type in time", "title"), entries, error if picker["error"] else None, gap=16.0
        )

    def set_part(self, part: str) -> None:
        self.state["picker"]["part"] = part

    def set_half(self, half: int, _: bool = True) -> None:
        self.state["picker"]["hour"] = self.state["picker"]["hour"] % 12 + 12 * half

    def other_half(self) -> None:
        self.set_half(0 if self.state["picker"]["hour"] >= 12 else 1)

    def set_number(self, number: int) -> None:
        """An hour leads on to the minutes, as the round face does."""
        picker = self.state["picker"]
        if picker["part"] == "minute":
            picker["minute"] = number
            return
        picker["hour"] = number % 12 + 12 * (picker["hour"] >= 12)
        picker["part"] = "minute"

    def switch_mode(self) -> None:
        picker = self.state["picker"]
        hour, minute = picker["hour"] % 12 or 12, picker["minute"]
        picker["typed"] = [str(hour), f"{minute:02d}"] if picker["typed"] is None else None

    def type_part(self, part: int, words: str) -> None:
        picker = self.state["picker"]
        picker["typed"][part] = words
        hour, minute = (int(each) if each.isdecimal() else -1 for each in picker["typed"])
        picker["error"] = not (1 <= hour <= 12 and 0 <= minute <= 59)
        if not picker["error"]:
            picker.update(hour=hour % 12 + 12 * (picker["hour"] >= 12), minute=minute)

    def take_time(self) -> None:
        picker = self.state["picker"]
        if picker["typed"] is not None and picker["error"]:
            self._open_picker()
            return
        self.time_picked(picker["about"], picker["hour"], picker["minute"])


def _number(number: int, chosen: bool, on_click: partial[None]) -> View:
    return ui.button(
        str(number),
        on_click,
        role="filled" if chosen else "text",
        cls="android.widget.RadialTimePickerView$RadialPickerTouchHelper",
        key=f"face:{number}",
        desc=str(number),
        selected=chosen,
        padding=4.0,
        width="fill",
    )


def _entry(view_id: str, words: str, on_change: partial[None]) -> View:
    return ui.field(
        view_id,
        words,
        on_change,
        key=view_id.rpartition("/")[2],
        input_type="number",
        width=72.0,
        padding=(8.0, 8.0),
    )


_TIME = Style(kind="text", role="display", size=40.0)
_DAYS = Style(kind="text", role="label", size=14.0, color="on_surface_variant")


class AlarmPanel(TimePicker):
    """Part of DeskClock. `state["open"]` is the id of the card that is open."""

    def alarm_panel(self) -> View:
        alarms = open_store(self.app).all()
        listed = ui.lazy_list(
            alarms, self._card, lambda alarm: f"alarm:{alarm.id}", id="alarms_recycler_view"
        )
        return ui.frame(
            listed if alarms else _empty(),
            ui.fab("add", "Add alarm", self.add_alarm, id="fab", align="center_h bottom"),
            height="fill",
        )

    def _card(self, alarm: Alarm) -> View:
        is_open = self.state["open"] == alarm.id
        head = ui.row(
            ui.text(
                alarm.time,
                id="digital_clock",
                weight=1.0,
                style=_TIME,
                on_click=partial(self.edit_time, alarm.id),
            ),
            ui.switch("", alarm.enabled, partial(self.switch_alarm, alarm.id), id="onoff"),
        )
        words = days_text(alarm.days) or ("Today or tomorrow" if alarm.enabled else "Not scheduled")
        arrow = ui.icon_button(
            "expand_less" if is_open else "expand_more",
            "Collapse alarm" if is_open else "Expand alarm",
            self.sets("open", 0 if is_open else alarm.id),
            id="arrow",
        )
        foot = ui.row(ui.text(words, id="daysOfWeek", weight=1.0, style=_DAYS), arrow)
        label = ui.text(alarm.label, "label", id="label") if alarm.label else None
        return ui.card(label, head, *(self._details(alarm) if is_open else ()), foot, id="alarm_card")

    def _details(self, alarm: Alarm) -> list[View]:
        days = [
            ui.chip(
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
            ui.row(*days, gap=4.0, id="repeat_days"),
            ui.checkbox("Vibrate", alarm.vibrate, partial(self.set_vibrate, alarm.id), id="vibrate_onoff"),
            ui.button("Label", partial(self.ask_for_label, alarm.id), role="text", id="edit_label"),
            ui.button("Delete", partial(self.delete_alarm, alarm.id), role="text", id="delete"),
        ]

    def add_alarm(self) -> None:
        self.pick_time(0, 9, 0)

    def edit_time(self, alarm_id: int) -> None:
        alarm = open_store(self.app).get(alarm_id)
        if alarm is not None:
            self.pick_time(alarm_id, alarm.hour, alarm.minute)

    def time_picked(self, alarm_id: int, hour: int, minute: int) -> None:
        store = open_store(self.app)
        alarm = store.get(alarm_id)
        if alarm is None:
            self._announce(store.add(hour, minute))
        else:
            self._change(replace(alarm, hour=hour, minute=minute, enabled=True))

    def switch_alarm(self, alarm_id: int, on: bool) -> None:
        self._update(alarm_id, enabled=on)

    def set_vibrate(self, alarm_id: int, on: bool) -> None:
        self._update(alarm_id, vibrate=on)

    def set_day(self, alarm_id: int, day: int, on: bool) -> None:
        alarm = open_store(self.app).get(alarm_id)
        if alarm is not None:
            days = {*alarm.days, day} if on else {*alarm.days} - {day}
            self._update(alarm_id, days=tuple(sorted(days)))

    def ask_for_label(self, alarm_id: int) -> None:
        alarm = open_store(self.app).get(alarm_id)
        self.state["label"] = alarm.label if alarm else ""
        buttons = {"Cancel": None, "OK": partial(self.set_label, alarm_id)}
        self.dialog("Label", "", buttons, content=self.label_field)

    def label_field(self) -> View:
        return ui.field("alarm_label", self.state["label"], self.sets("label"), hint="Label")

    def set_label(self, alarm_id: int) -> None:
        self._update(alarm_id, label=self.state["label"].strip())

    def delete_alarm(self, alarm_id: int) -> None:
        open_store(self.app).delete(alarm_id)
        arm(self.app)
        self.snackbar("Alarm deleted")

    def _update(self, alarm_id: int, **changes: bool | str | tuple[int, ...]) -> None:
        alarm = open_store(self.app).get(alarm_id)
        if alarm is not None:
            self._change(replace(alarm, **changes))  # type: ignore[arg-type]

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
    return ui.message(
        ui.icon("alarm", size=96.0), ui.text("No Alarms", "subtitle", id="alarms_empty_view"), height="fill"
    )


_STOPWATCH_DIGITS = Style(kind="text", role="display", size=56.0, align="center")


class StopwatchPanel(Panel):
    """Part of DeskClock."""

    def stopwatch_panel(self) -> View:
        watch = load_stopwatch(self.app)
        now = self.phone.wall_ms()
        total = watch.total(now)
        laps = list(enumerate(watch.laps, start=1))[::-1]
        return ui.screen(
            ui.text(
                stopwatch_text(total),
                id="stopwatch_time_text",
                width="fill",
                style=_STOPWATCH_DIGITS,
                padding=(0.0, 48.0),
            ),
            ui.lazy_list(
                laps,
                lambda lap: ui.item(f"# {lap[0]}", stopwatch_text(lap[1]), id="lap_row"),
                lambda lap: f"lap:{lap[0]}",
                id="laps_list",
                weight=1.0,
            ),
            self._buttons(watch, total),
        )

    def _buttons(self, watch: Stopwatch, total: int) -> View:
        running = bool(watch.since_ms)
        return ui.row(
            ui.button("Reset", self.reset_stopwatch, role="text", id="left_button") if total else None,
            ui.fab("pause", "Pause", self.pause_stopwatch, id="fab", align="")
            if running
            else ui.fab("play", "Start", self.start_stopwatch, id="fab", align=""),
            ui.button("Lap", self.lap, role="text", id="right_button", desc="Lap") if running else None,
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


_CLOCK_DIGITS = Style(kind="text", role="display", size=56.0, align="center")
_SMALL = Style(kind="text", role="title", size=24.0)
_CENTRED = Style(kind="text", role="label", size=16.0, align="center", color="on_surface_variant")
# City and its hours ahead of UTC; none of them keeps summer time.
CITIES = (("Reykjavik", 0), ("Nairobi", 3), ("Tokyo", 9), ("Brisbane", 10))


class TimePanel(Activity):
    """Part of DeskClock."""

    def time_panel(self) -> View:
        now = self.phone.wall_ms()
        moment = self.phone.local(now)
        return ui.scroll(
            ui.column(
                ui.text(
                    f"{moment.hour % 12 or 12}:{moment:%M:%S %p}",
                    id="digital_clock",
                    cls="android.widget.TextView",
                    width="fill",
                    style=_CLOCK_DIGITS,
                    padding=(0.0, 32.0, 0.0, 8.0),
                ),
                ui.text(f"{moment:%a, %b} {moment.day}", id="date", width="fill", style=_CENTRED),
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
    words = ui.column(
        ui.text(name, "subtitle", id="city_name"), ui.text(ahead, "label", id="city_day"), weight=1.0
    )
    when = ui.text(f"{there.hour % 12 or 12}:{there:%M %p}", id="digital_clock", style=_SMALL)
    return ui.row(words, when, min_height=80.0, padding=(24.0, 8.0))


_TIMER_DIGITS = Style(kind="text", role="display", size=48.0, align="center")
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
        shown = ui.text(
            f"{entry[:2]}h {entry[2:4]}m {entry[4:]}s",
            id="timer_setup_time",
            width="wrap" if lies else "fill",
            weight=1.0 if lies else 0.0,
            style=_TIMER_DIGITS,
            padding=(0.0, 24.0),
        )
        start = ui.fab(
            "play", "Start", self.set_timer, id="fab", align="start bottom" if lies else "center_h bottom"
        )
        height = 64.0 if lies else 72.0
        weight = 1.0 if lies else 0.0
        erase = ui.icon_button(
            "backspace", "Delete", self.erase, id="timer_setup_delete", width="fill", height=height
        )
        keys = [self._key(digit, height) for digit in (*"123456789", "00", "0")]
        keypad = ui.grid(
            3, *keys, erase, padding=(24.0, 0.0), width="wrap" if weight else "fill", weight=weight
        )
        return ui.frame(
            ui.row(shown, keypad) if lies else ui.column(shown, keypad),
            start if int(entry) else None,
            height="fill",
        )

    def _key(self, digit: str, height: float) -> View:
        return ui.button(
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
            ui.fab("pause", "Pause", self.pause_timer, id="fab", align="")
            if countdown.end_ms
            else ui.fab("play", "Start", self.resume_timer, id="fab", align="")
        )
        return ui.screen(
            ui.text(
                clock_text(left), id="timer_time_text", width="fill", style=_TIMER_DIGITS, padding=(0.0, 48.0)
            ),
            ui.row(
                ui.button("Reset", self.reset_timer, role="text", id="reset"),
                ui.button("+1:00", self.add_minute, role="text", id="add_one_minute", desc="Add 1 minute"),
                gravity="center",
                gap=24.0,
            ),
            ui.row(
                ui.button("Delete", self.delete_timer, role="text", id="left_button"),
                start_or_pause,
                gravity="center",
                gap=24.0,
            ),
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

    def add_minute(self) -> None:
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


_TABS = ("Alarm", "Clock", "Timer", "Stopwatch")
_SECOND_MS = 1000


class DeskClock(AlarmPanel, TimePanel, TimerPanel, StopwatchPanel):
    """Four panels behind four tabs; it ticks only while something on the screen moves."""

    title = "Clock"

    def on_create(self) -> None:
        shown = {"android.intent.action.SET_ALARM": 0, "android.intent.action.SET_TIMER": 2}
        self.state.update(tab=shown.get(self.intent.action, 1), open=0, entry="", picker=None, tick=0)

    def build(self) -> View:
        panels = (self.alarm_panel, self.time_panel, self.timer_panel, self.stopwatch_panel)
        return ui.screen(
            ui.tabs(_TABS, self.state["tab"], self.show, id="tabs"),
            ui.column(panels[self.state["tab"]](), id="desk_clock_pager", weight=1.0),
        )

    def show(self, tab: int) -> None:
        self.state["tab"] = tab
        self.tick()

    def pace_ms(self) -> int:
        match _TABS[self.state["tab"]]:
            case "Clock":
                return _SECOND_MS
            case "Timer":
                return _SECOND_MS if load_countdown(self.app).end_ms else 0
            case "Stopwatch":
                return 100 if load_stopwatch(self.app).since_ms else 0
        return 0


@declared
class Clock(App):
    """com.google.android.deskclock."""

    activities = {"com.android.deskclock.DeskClock": DeskClock}
    handles = (
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SHOW_ALARMS"),
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SET_ALARM"),
        Handles("com.android.deskclock.DeskClock", "android.intent.action.SET_TIMER"),
    )

    def on_create(self) -> None:
        arm(self)

    @classmethod
    def on_boot(cls, phone: Context) -> None:
        rearm(phone, cls.package)

    def fill(self, content: Any) -> None:
        """Alarms with `time` (07:30), `days` (0 is Sunday), `enabled`, `vibrate`, `label`."""
        alarms = entries(content, "clock", "time days enabled vibrate label")
        store = open_store(self)
        if not alarms.adds:
            for alarm in store.all():
                store.delete(alarm.id)
        for number, entry in enumerate(alarms.rows):
            needed(entry, ("time",), f"clock[{number}]")
            created = store.add(*clock_time(entry.pop("time"), f"clock[{number}]"))
            store.change(replace(created, **{**entry, "days": tuple(entry.get("days", ()))}))
        arm(self)

    def state(self) -> dict[str, Any]:
        """Alarms, timer and stopwatch as they stand now."""
        now = self.phone.wall_ms()
        countdown, watch = load_countdown(self), load_stopwatch(self)
        return {
            "alarms": [
                {**asdict(alarm), "days": list(alarm.days), "time": alarm.time}
                for alarm in open_store(self).all()
            ],
            "timer": {
                "set": bool(countdown.length_ms),
                "running": bool(countdown.end_ms),
                "length_ms": countdown.length_ms,
                "remaining_ms": countdown.remaining(now),
            },
            "stopwatch": {
                "running": bool(watch.since_ms),
                "total_ms": watch.total(now),
                "laps_ms": watch.laps,
            },
        }


APP = Clock
