"""Phone: keypad, recent calls, and the screen of a call: who it is, how long it lasts, how it ends."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import unquote

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.system import telephony
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import VIEW, Handles
from handrail_sim.system.world import HOUR_MS, entries, needed
from handrail_sim.view import View
from handrail_sim.view.view import Style

_CENTRED = Style(kind="text", role="headline", size=28.0, align="center")
_LINE = Style(kind="text", role="body", size=16.0, align="center")


class InCall(Activity):
    """What the phone's call is now; without one it goes away by itself."""

    title = "Phone"
    single_top = True
    interrupts = True

    def on_create(self) -> None:
        self.state.update(muted=False, speaker=False)
        self.every(1000.0, self.tick)

    def tick(self) -> None:
        if self.phone.call is None:
            self.finish()

    def build(self) -> View:
        call = self.phone.call or {"number": "", "name": "", "state": "ended"}
        name = call["name"]
        return ui.screen(
            ui.text(self.words(call), id="contactgrid_status_text", style=_LINE, width="fill"),
            ui.avatar(name, 96.0, align="center_h"),
            ui.text(name, id="contactgrid_contact_name", style=_CENTRED, width="fill"),
            ui.text(call["number"], id="contactgrid_bottom_text", style=_LINE, width="fill"),
            self.switches() if call["state"] == "active" else None,
            self.buttons(call["state"]),
            padding=(24.0, 64.0),
            gap=16.0,
        )

    def words(self, call: dict[str, Any]) -> str:
        if call["state"] == "active":
            seconds = (self.phone.wall_ms() - call["since_ms"]) // 1000
            return f"{seconds // 60:02d}:{seconds % 60:02d}"
        return {"ringing": "Incoming call", "dialing": "Calling…"}.get(call["state"], "Call ended")

    def switches(self) -> View:
        def switch(name: str, label: str) -> View:
            words = f"{label}, {'on' if self.state[name] else 'off'}"
            return ui.button(
                label, partial(self.flip, name), "tonal", id=name, desc=words, checked=self.state[name]
            )

        return ui.row(switch("muted", "Mute"), switch("speaker", "Speaker"), gap=16.0, gravity="center")

    def flip(self, name: str) -> None:
        self.state[name] = not self.state[name]

    def buttons(self, state: str) -> View:
        names = [telephony.DECLINE, telephony.ANSWER] if state == "ringing" else [telephony.HANG_UP]
        views = [
            ui.button(
                name,
                partial(telephony.press, self.phone, name),
                id=f"incall_{name.lower().replace(' ', '_')}",
            )
            for name in names
        ]
        return ui.row(*views, gap=32.0, gravity="center")


class Dialtacts(Activity):
    """`state["number"]` is what was typed on the keypad, or given by a tel: link."""

    title = "Phone"

    def on_create(self) -> None:
        argument = unquote(self.intent.data.partition(":")[2])
        self.state.update(number=argument, tab=int(bool(argument)))
        if self.intent.action == CALL and argument:
            self.finish()
            telephony.dial(self.phone, argument)

    def build(self) -> View:
        body = self._keypad() if self.state["tab"] else self._recents()
        return ui.screen(
            ui.toolbar("Phone"),
            body,
            ui.bottom_bar((("history", "Recents"), ("dial", "Keypad")), self.state["tab"], self.sets("tab")),
        )

    def _recents(self) -> View:
        calls = list(enumerate(reversed(telephony.call_log(self.phone))))
        if not calls:
            empty = ui.text("Your call history is empty", "subtitle", id="empty_list_view_message")
            return ui.column(empty, weight=1.0, gravity="center")
        return ui.lazy_list(calls, self._call, lambda pair: str(pair[0]), id="call_log_list", weight=1.0)

    def _call(self, numbered: tuple[int, dict[str, Any]]) -> View:
        call = numbered[1]
        when = self.phone.local(call["date"])
        words = f"{_KINDS.get(call['type'], 'Call')}, {when:%b} {when.day}, {when:%H:%M}"
        dial = partial(self.dial, call["number"])
        name = call["name"] or telephony.contact_name(self.phone, call["number"])
        back = ui.icon_button("call", f"Call {name}", dial, id="call_back")
        return ui.item(name, words, trailing=back, on_click=partial(self.take, call["number"]))

    def take(self, number: str) -> None:
        self.state.update(number=number, tab=1)

    def _keypad(self) -> View:
        entry = ui.row(
            ui.text(self.state["number"], "headline", id="digits", cls="android.widget.EditText", weight=1.0),
            ui.icon_button("backspace", "Backspace", self.erase, id="deleteButton")
            if self.state["number"]
            else None,
            padding=16.0,
            min_height=72.0,
        )
        keys = ui.grid(3, *(self._key(name) for name in "123456789*0#"), id="dialpad", weight=1.0)
        call = ui.fab("call", "Dial", self.call, id="dialpad_floating_action_button", align="center_h")
        return ui.column(entry, keys, call, weight=1.0, gap=8.0, padding=(16.0, 8.0))

    def _key(self, name: str) -> View:
        words = {"*": "star", "#": "pound"}.get(name, name)
        return ui.button(
            name, partial(self.press, name), "tonal", desc=words, id=f"key_{words}", width="fill", margin=4.0
        )

    def press(self, name: str) -> None:
        self.state["number"] += name

    def erase(self) -> None:
        self.state["number"] = self.state["number"][:-1]

    def call(self) -> None:
        if self.state["number"]:
            self.dial(self.state["number"])
            return
        created = [
            entry["number"] for entry in telephony.call_log(self.phone) if entry["type"] == telephony.OUTGOING
        ]
        self.state["number"] = created[-1] if created else ""

    def dial(self, number: str) -> None:
        if telephony.dial(self.phone, number):
            self.state["number"] = ""
        else:
            self.toast("Call not sent")


CALL, DIAL = "android.intent.action.CALL", "android.intent.action.DIAL"
_MAIN = "com.google.android.dialer.extensions.GoogleDialtactsActivity"
_KINDS = {1: "Incoming call", 2: "Outgoing call", 3: "Missed call", 5: "Declined call"}


@declared
class Dialer(App):
    """Google's phone app by its name; any phone can be called, so it is always there."""

    package = telephony.PACKAGE
    activities = {_MAIN: Dialtacts, telephony.SCREEN: InCall}
    handles = (
        Handles(_MAIN, DIAL),
        Handles(_MAIN, DIAL, "tel"),
        Handles(_MAIN, VIEW, "tel"),
        Handles(_MAIN, CALL, "tel"),
    )

    def on_action(self, action: str) -> None:
        telephony.press(self.phone, action)

    def fill(self, content: Any) -> None:
        """Calls with `number`, `kind` (incoming, outgoing, missed), `hours_ago`, `seconds`."""
        calls = entries(content, "dialer", "number kind hours_ago seconds")
        kinds, now = {"incoming": 1, "outgoing": 2, "missed": 3}, self.phone.wall_ms()
        with self.phone.providers.database("calllog.db") as rows:
            if not calls.adds:
                rows.execute("DELETE FROM calls")
            for at, row in enumerate(calls.rows):
                needed(row, ("number", "kind"), f"dialer[{at}]")
                when = now - int(float(row.get("hours_ago", len(calls.rows) - at)) * HOUR_MS)
                rows.execute(
                    "INSERT INTO calls (number, date, duration, type) VALUES (?, ?, ?, ?)",
                    (str(row["number"]), when, int(row.get("seconds", 0)), kinds[str(row["kind"])]),
                )

    def state(self) -> dict[str, Any]:
        return {"call": self.phone.call, "log": telephony.call_log(self.phone)}


APP = Dialer
