"""The dialog that asks for a time: a face of numbers, or typed, with the ids of Android's own picker."""

from __future__ import annotations

from functools import partial

from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, button, column, field, frame, grid, icon_button, radio, row, text

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
        """What the dialog was opened for."""
        raise NotImplementedError

    def _open_picker(self) -> None:
        self.dialog("", "", {"Cancel": None, "OK": self.take_time}, content=self.picker)

    def picker(self) -> View:
        typing = self.state["picker"]["typed"] is not None
        words = "clock mode" if typing else "text input mode"
        mode = icon_button(
            "clock" if typing else "keyboard",
            f"Switch to {words} for the time input.",
            self.switch_mode,
            id="android:id/toggle_mode",
        )
        if typing:
            return column(self._typed(), mode, padding=(0.0, 16.0, 0.0, 0.0), gap=8.0)
        if self._lies():
            return column(row(frame(self._header(), width="wrap", weight=1.0), mode), self._face())
        return column(self._header(), self._face(), mode, padding=(0.0, 16.0, 0.0, 0.0), gap=8.0)

    def _lies(self) -> bool:
        """On its side the screen has no room for three rows of numbers."""
        return self.phone.display.width > self.phone.display.height

    def _header(self) -> View:
        picker = self.state["picker"]
        hour, minute = picker["hour"], picker["minute"]
        return row(
            self._part("hour", str(hour % 12 or 12), "android:id/hours"),
            text(":", style=_COLON, id="android:id/separator"),
            self._part("minute", f"{minute:02d}", "android:id/minutes"),
            column(
                radio("AM", hour < 12, partial(self.set_half, 0), id="android:id/am_label"),
                radio("PM", hour >= 12, partial(self.set_half, 1), id="android:id/pm_label"),
                width="wrap",
            ),
            gravity="center",
            gap=4.0,
            id="android:id/time_header",
            cls="android.widget.RelativeLayout",
        )

    def _part(self, part: str, words: str, view_id: str) -> View:
        style = _CHOSEN if self.state["picker"]["part"] == part else _OTHER
        return text(words, style=style, id=view_id, min_width=64.0, on_click=partial(self.set_part, part))

    def _face(self) -> View:
        picker = self.state["picker"]
        hours = picker["part"] == "hour"
        present = (picker["hour"] % 12 or 12) if hours else picker["minute"]
        numbers = range(1, 13) if hours else range(0, 60, 5)
        faces = [_number(number, number == present, partial(self.set_number, number)) for number in numbers]
        return grid(
            6 if self._lies() else 4,
            *faces,
            id="android:id/radial_picker",
            cls="android.widget.RadialTimePickerView",
            gap=4.0,
        )

    def _typed(self) -> View:
        picker = self.state["picker"]
        half = "AM" if picker["hour"] < 12 else "PM"
        entries = row(
            _entry("android:id/input_hour", picker["typed"][0], partial(self.type_part, 0)),
            text(":", style=_COLON, id="android:id/input_separator"),
            _entry("android:id/input_minute", picker["typed"][1], partial(self.type_part, 1)),
            button(
                half,
                self.other_half,
                role="tonal",
                id="android:id/am_pm_spinner",
                cls="android.widget.Spinner",
            ),
            gap=8.0,
            gravity="center",
        )
        error = text("Enter a valid time", id="android:id/label_error", style=_ERROR)
        return column(text("Type in time", "title"), entries, error if picker["error"] else None, gap=16.0)

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
        """Keeps the time in step as far as what is typed is one."""
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
    return button(
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
    return field(
        view_id,
        words,
        on_change,
        key=view_id.rpartition("/")[2],
        input_type="number",
        width=72.0,
        padding=(8.0, 8.0),
    )
