"""Settings: pages of preferences over the phone's real settings, packages and apps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.apps.settings import device
from handrail_sim.apps.settings.page import ACTIVITIES, PAGES, Page, group, link, listed_page, note, toggle
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.device import Device
from handrail_sim.system.intents import Handles
from handrail_sim.system.packages import DANGEROUS, Package
from handrail_sim.system.world import mapping
from handrail_sim.view import Style, View, field, icon, item, spinner

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
        # What a secured network asks for; empty where any that is long enough will do.
        content = self.phone.world.get("com.android.settings", {}).get("wifi") or []
        wanted = next((str(row.get("password", "")) for row in content if row["name"] == ssid), "")
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


class AppPage(Page):
    """A page about one package: the extra `package`, or the intent's `package:` URI."""

    @property
    def package(self) -> str:
        return str(self.extras.get("package") or self.intent.data.partition(":")[2])

    @property
    def installed(self) -> Package | None:
        return self.phone.packages.installed.get(self.package)

    def go(self, page: str, **extras: Any) -> None:
        self.start(ACTIVITIES[page], package=self.package, **extras)

    def header(self, package: Package) -> View:
        return ui.column(
            ui.icon("", id="entity_header_icon", size=64.0, style=picture_of(self, package.name)),
            ui.text(package.label or package.name, "headline", id="entity_header_title"),
            gravity="center_h",
            gap=8.0,
            padding=16.0,
            id="entity_header",
            key="header",
        )

    def dangerous(self) -> list[str]:
        package = self.installed
        return [name for name in package.requested if name in DANGEROUS] if package else []


def picture_of(page: Page, package: str) -> Style:
    """An app's icon; packages that came as a file have none."""
    app = page.phone.packages.classes.get(package)
    return Style(kind="app_icon", icon=app.icon if app else "", background=app.color if app else "")


# Permissions as the settings group them: what a person reads, icon.
_GROUPS = {
    "CAMERA": ("Camera", "camera"),
    "RECORD_AUDIO": ("Microphone", "mic"),
    "READ_CONTACTS": ("Contacts", "contacts"),
    "WRITE_CONTACTS": ("Contacts", "contacts"),
    "SEND_SMS": ("SMS", "sms"),
    "READ_SMS": ("SMS", "sms"),
    "RECEIVE_SMS": ("SMS", "sms"),
    "ACCESS_FINE_LOCATION": ("Location", "location"),
    "ACCESS_COARSE_LOCATION": ("Location", "location"),
    "POST_NOTIFICATIONS": ("Notifications", "notifications"),
    "READ_MEDIA_IMAGES": ("Photos and videos", "image"),
    "READ_MEDIA_VIDEO": ("Photos and videos", "image"),
    "READ_CALENDAR": ("Calendar", "calendar"),
    "WRITE_CALENDAR": ("Calendar", "calendar"),
    "CALL_PHONE": ("Phone", "phone"),
}


def group_of(permission: str) -> tuple[str, str]:
    bare = permission.rpartition(".")[2]
    return _GROUPS.get(bare, (bare.replace("_", " ").capitalize(), "shield"))


class AppPermissions(AppPage):
    """What is allowed and what is not."""

    title = "App permissions"

    def rows(self) -> Sequence[View | None]:
        groups = dict.fromkeys(group_of(name) for name in self.dangerous())
        allowed = [each for each in groups if self._is_allowed(each[0])]
        denied = [each for each in groups if each not in allowed]
        return [
            group("Allowed"),
            *(self._group(*each) for each in allowed),
            None if allowed else link("No permissions allowed", None),
            group("Not allowed"),
            *(self._group(*each) for each in denied),
            None if denied else link("No permissions denied", None),
        ]

    def _is_allowed(self, name: str) -> bool:
        own = [each for each in self.dangerous() if group_of(each)[0] == name]
        return any(self.phone.packages.is_granted(self.package, each) for each in own)

    def _group(self, name: str, picture: str) -> View:
        return link(name, partial(self.go, "app_permission", group=name), picture=picture)


class AppPermission(AppPage):
    """One group of permissions for one app, decided."""

    title = "App permission"

    def rows(self) -> Sequence[View | None]:
        name = str(self.extras["group"])
        own = self._group_permissions()
        allowed = any(self.phone.packages.is_granted(self.package, each) for each in own)
        return [
            ui.text(f"{name} access for this app", "label", padding=16.0, key="question"),
            ui.radio(
                "Allow",
                allowed,
                self.allow,
                id="allow_radio_button",
                width="fill",
                margin=(16.0, 0.0),
                key="allow",
            ),
            ui.radio(
                "Don't allow",
                not allowed,
                self.deny,
                id="deny_radio_button",
                width="fill",
                margin=(16.0, 0.0),
                key="deny",
            ),
        ]

    def _group_permissions(self) -> list[str]:
        return [each for each in self.dangerous() if group_of(each)[0] == self.extras["group"]]

    def allow(self, _: bool = True) -> None:
        for each in self._group_permissions():
            self.phone.packages.set_granted(self.package, each, True)

    def deny(self, _: bool = True) -> None:
        """Android ends a running app whose permission is taken away."""
        had = any(self.phone.packages.is_granted(self.package, each) for each in self._group_permissions())
        for each in self._group_permissions():
            self.phone.packages.set_granted(self.package, each, False)
        if had:
            self.phone.kill_process(self.package)


class AllApps(Page):
    """By label, as Android lists them."""

    title = "All apps"

    def rows(self) -> Sequence[View | None]:
        packages = self.phone.packages
        ordered = sorted(
            packages.installed.values(),
            key=lambda package: ((package.label or package.name).casefold(), package.name),
        )
        return [self._app(package) for package in ordered]

    def _app(self, package: Package) -> View:
        return ui.item(
            package.label or package.name,
            "24 MB" if package.system else "11 MB",
            ui.icon("", id="android:id/icon", size=40.0, style=picture_of(self, package.name)),
            key=f"row:{package.name}",
            on_click=partial(self.start, ACTIVITIES["app_info"], package=package.name),
        )


class AppInfo(AppPage):
    """Open, stop, look into."""

    title = "App info"

    def rows(self) -> Sequence[View | None]:
        package = self.installed
        if package is None:
            return [link("App not found", None)]
        granted = [name for name in self.dangerous() if self.phone.packages.is_granted(package.name, name)]
        allowed = ", ".join(dict.fromkeys(group_of(name)[0] for name in granted)) or "No permissions granted"
        if not self.dangerous():
            allowed = "No permissions requested"
        return [
            self.header(package),
            self._buttons(package),
            self._link("Notifications", None, "On"),
            self._link("Permissions", "app_permissions", allowed),
            self._link("Storage & cache", "app_storage", "Internal storage"),
            self._link("Mobile data & Wi‑Fi", None, "No data used"),
            self._link("Battery", None, "0% use since last full charge"),
            group("Advanced"),
            self._link("Open by default", None, "No defaults set"),
            self._link("App details", None, f"Version {package.version_name}"),
            ui.text(
                f"version {package.version_name}",
                "label",
                id="android:id/summary",
                padding=16.0,
                key="version",
            ),
        ]

    def _link(self, title: str, page: str | None, summary: str) -> View:
        return link(title, partial(self.go, page) if page else None, summary)

    def _buttons(self, package: Package) -> View:
        running = package.name in self.phone.packages.processes
        removed = "Disable" if package.system else "Uninstall"
        can_open = bool(self.phone.packages.component(package.name))
        return ui.row(
            ui.button("Open", self.open, role="tonal", id="button1", enabled=can_open, weight=1.0),
            ui.button(
                removed,
                self.ask_to_remove,
                role="tonal",
                id="button2",
                enabled=not package.system,
                weight=1.0,
            ),
            ui.button(
                "Force stop", self.ask_to_stop, role="tonal", id="button3", enabled=running, weight=1.0
            ),
            padding=(16.0, 8.0),
            gap=8.0,
            key="buttons",
        )

    def open(self) -> None:
        self.phone.start_activity(package=self.package)

    def ask_to_stop(self) -> None:
        words = "If you force stop an app, it may misbehave."
        self.dialog("Force stop?", words, {"Cancel": None, "OK": self.stop})

    def stop(self) -> None:
        self.phone.force_stop(self.package)

    def ask_to_remove(self) -> None:
        words = "Do you want to uninstall this app?"
        label = self.installed.label if self.installed else self.package
        self.dialog(label, words, {"Cancel": None, "OK": self.remove})

    def remove(self) -> None:
        self.phone.force_stop(self.package)
        self.phone.packages.uninstall(self.package)
        self.phone.files.remove_tree(f"/data/data/{self.package}")
        self.finish()


class AppStorage(AppPage):
    """Clear what an app keeps."""

    title = "Storage & cache"

    def rows(self) -> Sequence[View | None]:
        package = self.installed
        if package is None:
            return [link("App not found", None)]
        folder = f"/data/data/{package.name}"
        size = sum(facts.size for _, facts in self.phone.files.walk(folder))
        return [
            self.header(package),
            ui.row(
                ui.button("Clear storage", self.ask_to_clear, role="tonal", id="button1", weight=1.0),
                ui.button("Clear cache", self.clear_cache, role="tonal", id="button2", weight=1.0),
                padding=(16.0, 8.0),
                gap=8.0,
                key="buttons",
            ),
            group("Space used"),
            link("App size", None, "24 MB" if package.system else "11 MB"),
            link("User data", None, f"{size / 1024:.1f} kB"),
            link("Cache", None, "0 B"),
        ]

    def ask_to_clear(self) -> None:
        words = "This app's data will be permanently deleted, including files, settings and accounts."
        self.dialog("Delete app data?", words, {"Cancel": None, "Delete": self.clear})

    def clear(self) -> None:
        self.phone.clear_data(self.package)

    def clear_cache(self) -> None:
        self.toast("Cache cleared")


_PILL = Style(kind="card", background="surface_container", radius=28.0)
_TITLE = Style(kind="text", role="display", size=36.0)


class Home(Activity):
    """What opens from the launcher."""

    title = "Settings"

    def build(self) -> View:
        entries = (partial(self._entry, title, *fields) for title, fields in PAGES["home"].items())
        builders: list[Callable[[], View]] = [self._title, self._search, *entries]
        return ui.screen(
            ui.lazy_list(builders, lambda build: build(), id="recycler_view"),
            id="settings_homepage_container",
        )

    def _title(self) -> View:
        return ui.text("Settings", id="homepage_title", style=_TITLE, padding=(24.0, 32.0, 24.0, 16.0))

    def _search(self) -> View:
        return ui.row(
            ui.icon("search"),
            ui.text("Search settings", "body", id="search_action_bar_title", weight=1.0),
            id="search_action_bar",
            height=56.0,
            padding=(16.0, 0.0),
            margin=(16.0, 8.0),
            gap=16.0,
            style=_PILL,
            on_click=self.search,
        )

    def _entry(self, title: str, summary: str, picture: str, page: str) -> View:
        return link(title, partial(self.start, ACTIVITIES[page]), self._live(page) or summary, picture)

    def _live(self, page: str) -> str:
        match page:
            case "battery":
                return f"{self.phone.battery}%"
            case "location":
                return "Off" if self.phone.settings["secure"].get("location_mode") == "0" else "On"
            case "about":
                return self.phone.settings["global"].get("device_name", "")
        return ""

    def search(self) -> None:
        self.start(ACTIVITIES["search"])


class Search(Activity):
    """Finds pages by their words."""

    title = "Search settings"

    def on_create(self) -> None:
        self.state["query"] = ""

    def on_resume(self) -> None:
        self.focus("search_src_text")

    def build(self) -> View:
        query = self.state["query"]
        bar = ui.row(
            ui.icon_button("back", "Navigate up", self.finish),
            ui.field(
                "search_src_text",
                query,
                self.sets("query"),
                hint="Search settings",
                ime_action="search",
                weight=1.0,
                style=Style(kind="field", role="plain", size=18.0),
            ),
            ui.icon_button("close", "Clear text", self.clear, id="search_close_btn") if query else None,
            height=56.0,
            padding=(4.0, 0.0),
        )
        return ui.screen(bar, *self._results(query))

    def _results(self, query: str) -> Sequence[View]:
        words = query.casefold().split()
        places = PAGES["search"].items()
        matches = [each for each in places if all(word in each[0].casefold() for word in words)]
        if not words:
            return []
        if not matches:
            return [note("No results")]
        rows = [link(title, partial(self.start, ACTIVITIES[page]), path) for title, (path, page) in matches]
        return [ui.lazy_list(rows, lambda view: view, id="list_results", weight=1.0)]

    def clear(self) -> None:
        self.state["query"] = ""


# ACTIVITIES' order stands: the first is the launcher's.
_CLASSES: dict[str, type[Activity]] = {
    "home": Home,
    "search": Search,
    "network": Network,
    "internet": Internet,
    "devices": Devices,
    "bluetooth": Bluetooth,
    "pairing": Pairing,
    "apps": AllApps,
    "app_info": AppInfo,
    "app_storage": AppStorage,
    "app_permissions": AppPermissions,
    "app_permission": AppPermission,
    "notifications": listed_page("notifications", "Notifications"),
    "battery": device.Battery,
    "storage": device.Storage,
    "sound": device.Sound,
    "display": device.Display,
    "text_size": device.TextSize,
    "wallpaper": listed_page("wallpaper", "Wallpaper & style"),
    "accessibility": listed_page("accessibility", "Accessibility"),
    "security": listed_page("security", "Security & privacy"),
    "location": device.Location,
    "safety": listed_page("safety", "Safety & emergency"),
    "accounts": listed_page("accounts", "Passwords & accounts"),
    "system": device.System,
    "date_time": device.DateTime,
    "developer": listed_page("developer", "Developer options"),
    "about": device.About,
    "android_version": listed_page("android_version", "Android version"),
}


@declared
class Settings(App):
    """com.android.settings."""

    activities = {component: _CLASSES[page] for page, component in ACTIVITIES.items()}
    handles = (
        *(Handles(ACTIVITIES[page], f"android.settings.{name}") for name, page in PAGES["actions"].items()),
        Handles(ACTIVITIES["app_info"], "android.settings.APPLICATION_DETAILS_SETTINGS", "package"),
    )

    def fill(self, content: Any) -> None:
        """The three tables by name; `wifi` with `name`, `secured`, `password`; `paired`; `nearby`."""
        fields = mapping(content, "settings", "global secure system wifi paired nearby")
        for table in ("global", "secure", "system"):
            for name, value in dict(fields.pop(table, {})).items():
                self.phone.settings[table][name] = str(value)
        self.phone.world[self.package] = self.phone.world.get(self.package, {}) | fields

    def state(self) -> dict[str, Any]:
        """Which network it is on and what is paired; the settings themselves are the phone's."""
        return {
            "wifi": str(self.prefs("wifi").get("connected", first_network(self.phone))),
            "paired": str(self.prefs("bluetooth").get("paired", "\n".join(first_paired(self.phone)))).split(
                "\n"
            ),
        }


APP = Settings
