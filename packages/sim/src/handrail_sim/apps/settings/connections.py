"""Settings > Network & internet, Wi-Fi, mobile data, Bluetooth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from handrail_sim.apps.settings.page import Page, group, link, note, toggle
from handrail_sim.system.device import Device
from handrail_sim.view import View, field, icon, item, spinner

# What is in the air: name, secured.
NETWORKS = (
    ("HandrailNet", True),
    ("Lighthouse Cafe", False),
    ("Marmalade 5G", True),
    ("Library Guest", False),
    ("Quiet Neighbour", True),
    ("TowerB-2.4GHz", True),
)


def networks(phone: Device) -> dict[str, bool]:
    """What is in the air around this phone: names, and whether they are secured."""
    content = phone.world.get("com.android.settings", {}).get("wifi")
    return dict(NETWORKS) if content is None else {row["name"]: bool(row.get("secured")) for row in content}


def password_of(phone: Device, ssid: str) -> str:
    """What a secured network asks for; empty where any that is long enough will do."""
    content = phone.world.get("com.android.settings", {}).get("wifi") or []
    return next((str(row.get("password", "")) for row in content if row["name"] == ssid), "")


def first_network(phone: Device) -> str:
    return next(iter(networks(phone)), "")


_SCAN_MS = 1200
_CONNECT_MS = 1500
_SHORTEST_PASSWORD = 8


class Network(Page):
    """Where radios are switched."""

    title = "Network & internet"

    def rows(self) -> Sequence[View | None]:
        wifi = self.get("global", "wifi_on") == "1"
        ssid = str(self.app.prefs("wifi").get("connected", first_network(self.phone)))
        return [
            self.link("Internet", "internet", (ssid if wifi and ssid else "Off"), "wifi"),
            link("SIMs", None, "Simulated", "sim"),
            toggle(
                "Airplane mode",
                self.get("global", "airplane_mode_on") == "1",
                self.set_airplane,
                picture="airplane",
            ),
            *self.listed("network"),
        ]

    def set_airplane(self, on: bool) -> None:
        """Radios go off with it, and come back as they were."""
        prefs = self.app.prefs("radios")
        self.put("global", "airplane_mode_on", "1" if on else "0")
        for name in ("wifi_on", "bluetooth_on"):
            if on:
                prefs[name] = self.get("global", name)
            self.put("global", name, "0" if on else str(prefs.get(name, "1")))


class Internet(Page):
    """Android 14 calls the Wi-Fi page so. `state`: whether the scan is through, who is being connected to."""

    title = "Internet"

    def on_create(self) -> None:
        self.state.update(scanned=True, connecting="", asked="", password="", refused="")

    @property
    def connected(self) -> str:
        return str(self.app.prefs("wifi").get("connected", first_network(self.phone)))

    def rows(self) -> Sequence[View | None]:
        on = self.get("global", "wifi_on") == "1"
        main = toggle("Wi‑Fi", on, self.set_wifi)
        if not on:
            return [main, note("To see available networks, turn Wi‑Fi on")]
        if not self.state["scanned"]:
            return [main, note("Searching for networks…")]
        ordered = sorted(networks(self.phone).items(), key=lambda network: network[0] != self.connected)
        return [
            main,
            *(self._network(*each) for each in ordered),
            link("Add network", None, picture="add"),
            group("Preferences"),
            link("Network preferences", None, "Wi‑Fi turns back on automatically"),
            link("Saved networks", None, _count(len(self._saved()), "network")),
        ]

    def _network(self, ssid: str, secured: bool) -> View:
        if ssid == self.state["connecting"]:
            summary = "Connecting…"
        elif ssid == self.connected:
            summary = "Connected"
        elif ssid == self.state["refused"]:
            summary = "Check password and try again"
        else:
            summary = "Saved" if ssid in self._saved() else ""
        lock = icon("lock", "Secure network") if secured else None
        choose = partial(self.choose_network, ssid)
        return item(ssid, summary, icon("wifi"), lock, key=f"row:{ssid}", on_click=choose)

    def _saved(self) -> list[str]:
        return str(self.app.prefs("wifi").get("saved", first_network(self.phone))).split("\n")

    def set_wifi(self, on: bool) -> None:
        self.put("global", "wifi_on", "1" if on else "0")
        self.state.update(scanned=False, connecting="")
        if on:
            self.later(_SCAN_MS, self.scan_finished)

    def scan_finished(self) -> None:
        self.state["scanned"] = True

    def choose_network(self, ssid: str) -> None:
        if ssid == self.connected:
            self.dialog(ssid, "Connected", {"Forget": partial(self.forget, ssid), "Done": None})
        elif networks(self.phone)[ssid] and ssid not in self._saved():
            self.state.update(asked=ssid, password="")
            self.dialog(
                ssid, "", {"Cancel": None, "Connect": self.check_password}, content=self.password_field
            )
        else:
            self.connect(ssid)

    def password_field(self) -> View:
        return field(
            "password",
            self.state["password"],
            self.sets("password"),
            hint="Password",
            password=True,
            input_type="password",
        )

    def check_password(self) -> None:
        if len(self.state["password"]) < _SHORTEST_PASSWORD:
            self.toast("Password must have at least 8 characters")
            return
        self.connect(self.state["asked"], self.state["password"])

    def connect(self, ssid: str, password: str = "") -> None:
        self.state.update(connecting=ssid, refused="")
        wanted = password_of(self.phone, ssid)
        is_right = ssid in self._saved() or wanted in ("", password)
        self.later(_CONNECT_MS, self.joined if is_right else self.turned_away, ssid)

    def turned_away(self, ssid: str) -> None:
        if self.state["connecting"] == ssid:
            self.state.update(connecting="", refused=ssid)

    def joined(self, ssid: str) -> None:
        if self.state["connecting"] != ssid:
            return
        self.state["connecting"] = ""
        saved = dict.fromkeys((*self._saved(), ssid))
        self.app.prefs("wifi").update(connected=ssid, saved="\n".join(name for name in saved if name))

    def forget(self, ssid: str) -> None:
        saved = [name for name in self._saved() if name != ssid]
        self.app.prefs("wifi").update(connected="", saved="\n".join(saved))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


PAIRED = ("Kitchen Speaker",)
NEARBY = ("Blue Headset", "Garden Thermometer", "Old Tablet")
_SEARCH_MS = 3000


def paired(page: Page) -> list[str]:
    saved = str(page.app.prefs("bluetooth").get("paired", "\n".join(first_paired(page.phone))))
    return [name for name in saved.split("\n") if name]


def first_paired(phone: Device) -> list[str]:
    return list(phone.world.get("com.android.settings", {}).get("paired", PAIRED))


class Devices(Page):
    """The page one level above Bluetooth."""

    title = "Connected devices"

    def rows(self) -> Sequence[View | None]:
        on = self.get("global", "bluetooth_on") == "1"
        return [
            self.link("Pair new device", "pairing", "" if on else "Bluetooth will turn on to pair", "add"),
            group("Saved devices") if on else None,
            *(item(name, "Saved", icon("bluetooth"), key=f"row:{name}") for name in paired(self) if on),
            self.link("Connection preferences", "bluetooth", "Bluetooth, printing, Quick Share"),
        ]


class Bluetooth(Page):
    """The switch itself."""

    title = "Bluetooth"

    def rows(self) -> Sequence[View | None]:
        on = self.get("global", "bluetooth_on") == "1"
        return [
            toggle("Use Bluetooth", on, self.set_bluetooth),
            self.link("Pair new device", "pairing", picture="add") if on else None,
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
        left = [current for current in paired(self) if current != name]
        self.app.prefs("bluetooth")["paired"] = "\n".join(left)


class Pairing(Page):
    """Looks around for a while, then lists what answered. Turns Bluetooth on, as Android does."""

    title = "Pair new device"

    def on_create(self) -> None:
        self.state["searching"] = True
        self.put("global", "bluetooth_on", "1")
        self.later(_SEARCH_MS, self.scan_finished)

    def scan_finished(self) -> None:
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
