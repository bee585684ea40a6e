"""The screen of a phone call: who it is, how long it lasts, the buttons that answer and end it."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim.system import telephony
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, avatar, button, column, row, text
from handrail_sim.view.view import Style

_CENTRED = Style(kind="text", role="headline", size=28.0, align="center")
_LINE = Style(kind="text", role="body", size=16.0, align="center")


class InCall(Activity):
    """What the phone's call is now; without one it goes away by itself."""

    title = "Phone"
    single_top = True

    def on_create(self) -> None:
        self.state.update(muted=False, speaker=False)
        self.every(1000.0, self.tick)

    def tick(self) -> None:
        if self.phone.call is None:
            self.finish()

    def build(self) -> View:
        call = self.phone.call or {"number": "", "name": "", "state": "ended"}
        name = call["name"]
        return column(
            text(self.words(call), id="contactgrid_status_text", style=_LINE, width="fill"),
            avatar(name, 96.0, align="center_h"),
            text(name, id="contactgrid_contact_name", style=_CENTRED, width="fill"),
            text(call["number"], id="contactgrid_bottom_text", style=_LINE, width="fill"),
            self.switches() if call["state"] == "active" else None,
            self.buttons(call["state"]),
            height="fill",
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
            return button(
                label, partial(self.flip, name), "tonal", id=name, desc=words, checked=self.state[name]
            )

        return row(switch("muted", "Mute"), switch("speaker", "Speaker"), gap=16.0, gravity="center")

    def flip(self, name: str) -> None:
        self.state[name] = not self.state[name]

    def buttons(self, state: str) -> View:
        names = [telephony.DECLINE, telephony.ANSWER] if state == "ringing" else [telephony.HANG_UP]
        made = [
            button(
                name,
                partial(telephony.press, self.phone, name),
                id=f"incall_{name.lower().replace(' ', '_')}",
            )
            for name in names
        ]
        return row(*made, gap=32.0, gravity="center")


class InCallUi(App):
    """Shown while there is a call; nobody launches it."""

    package = telephony.PACKAGE
    label = "Phone"
    icon = "phone"
    version = "14"
    version_code = 34
    system = True
    launchable = False
    interrupts = True
    activities = {telephony.SCREEN: InCall}

    def on_action(self, action: str) -> None:
        telephony.press(self.phone, action)

    def state(self) -> dict[str, Any]:
        return {"call": self.phone.call}


APP = InCallUi
