"""Connected devices: the Bluetooth switch, what is paired, and pairing something new."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.page import Page, group, link, note, toggle
from handrail_sim.system.device import Device
from handrail_sim.view import View, icon, item, spinner

PAIRED = ("Kitchen Speaker",)
NEARBY = ("Blue Headset", "Garden Thermometer", "Old Tablet")
_SEARCH_MS = 3000


def paired(page: Page) -> list[str]:
    """Devices the phone knows."""
    kept = str(page.app.prefs("bluetooth").get("paired", "\n".join(first_paired(page.phone))))
    return [name for name in kept.split("\n") if name]


def first_paired(phone: Device) -> list[str]:
    """What a new phone knows."""
    return list(phone.world.get("com.android.settings", {}).get("paired", PAIRED))


class Devices(Page):
    """The page one level above Bluetooth."""

    title = "Connected devices"

    def rows(self) -> Sequence[View | None]:
        on = self.get("global", "bluetooth_on") == "1"
        return [
            self.link(
                "Pair new device", places.PAIRING, "" if on else "Bluetooth will turn on to pair", "add"
            ),
            group("Saved devices") if on else None,
            *(item(name, "Saved", icon("bluetooth"), key=f"row:{name}") for name in paired(self) if on),
            self.link("Connection preferences", places.BLUETOOTH, "Bluetooth, printing, Quick Share"),
        ]


class Bluetooth(Page):
    """The switch itself."""

    title = "Bluetooth"

    def rows(self) -> Sequence[View | None]:
        on = self.get("global", "bluetooth_on") == "1"
        return [
            toggle("Use Bluetooth", on, self.set_bluetooth),
            self.link("Pair new device", places.PAIRING, picture="add") if on else None,
            link("Device name", None, self.get("global", "device_name")) if on else None,
            *(self._device(name) for name in paired(self) if on),
            None
            if on
            else note("When Bluetooth is turned on, your device can communicate with others nearby."),
        ]

    def _device(self, name: str) -> View:
        ask = partial(self.ask_to_forget, name)
        return item(name, "Saved", icon("bluetooth"), key=f"row:{name}", on_click=ask)

    def set_bluetooth(self, on: bool) -> None:
        self.put("global", "bluetooth_on", "1" if on else "0")

    def ask_to_forget(self, name: str) -> None:
        self.dialog(
            "Forget device?",
            f"Your phone will no longer be paired with {name}.",
            {"Cancel": None, "Forget device": partial(self.forget, name)},
        )

    def forget(self, name: str) -> None:
        left = [known for known in paired(self) if known != name]
        self.app.prefs("bluetooth")["paired"] = "\n".join(left)


class Pairing(Page):
    """Looks around for a while, then lists what answered. Turns Bluetooth on, as Android does."""

    title = "Pair new device"

    def on_create(self) -> None:
        self.state["searching"] = True
        self.put("global", "bluetooth_on", "1")
        self.later(_SEARCH_MS, self.found)

    def found(self) -> None:
        self.state["searching"] = False

    def rows(self) -> Sequence[View | None]:
        searching = self.state["searching"]
        shown = [
            name
            for name in self.phone.world.get("com.android.settings", {}).get("nearby", NEARBY)
            if name not in paired(self)
        ]
        return [
            link("Device name", None, self.get("global", "device_name")),
            group("Available devices"),
            spinner(key="searching", margin=16.0) if searching else None,
            *(self._nearby(name) for name in shown if not searching),
        ]

    def _nearby(self, name: str) -> View:
        ask = partial(self.ask_to_pair, name)
        return item(name, "", icon("bluetooth"), key=f"row:{name}", on_click=ask)

    def ask_to_pair(self, name: str) -> None:
        self.dialog(
            f"Pair with {name}?",
            "Bluetooth pairing code 493817",
            {"Cancel": None, "Pair": partial(self.pair, name)},
        )

    def pair(self, name: str) -> None:
        self.app.prefs("bluetooth")["paired"] = "\n".join([*paired(self), name])
        self.finish()
