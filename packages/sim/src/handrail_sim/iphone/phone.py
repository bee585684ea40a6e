"""One iPhone: the phone's apps on a panel in points, a home screen, and the gestures of its edges.

Bundle identifiers exist at the doors alone: inside, an app keeps the package name that it has on Android.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import NAMESPACE_OID, uuid5

from handrail_sim import view as ui
from handrail_sim.apps.launcher import Home, Launcher
from handrail_sim.clock import Clock
from handrail_sim.input.keys import BACK, HOME
from handrail_sim.phone import Phone
from handrail_sim.resources import table
from handrail_sim.screen.dialogs import Question
from handrail_sim.system.activities import App
from handrail_sim.system.display import Display
from handrail_sim.system.intents import StartResult
from handrail_sim.view.view import Style, View

SCALE = 3
WIDTH, HEIGHT = 390, 844
STATUS_PT, HOME_INDICATOR_PT, LYING_INDICATOR_PT = 47.0, 34.0, 21.0
EDGE_PT = 12.0
"""A finger that goes down this near to the left or the lower edge may mean the system."""
BACK_SHARE, HOME_SHARE = 0.35, 0.12
"""How much of the screen such a finger must cross."""
SPRINGBOARD = "com.apple.springboard"
_NAMES = table("iphone/names.toml")
BUNDLES: Mapping[str, str] = _NAMES["bundles"]
PACKAGES = {bundle: package for package, bundle in BUNDLES.items()}
DOCK = (
    "com.google.android.dialer",
    "com.handrail.browser",
    "com.google.android.apps.messaging",
    "com.handrail.gallery",
)


@dataclass(slots=True)
class Panel(Display):
    """An iPhone's screen: a dp is a point. The status bar goes when the phone lies."""

    @property
    def status_px(self) -> int:
        return 0 if self.rotation % 2 else self.units.px(STATUS_PT)

    @property
    def navigation_px(self) -> int:
        return self.units.px(LYING_INDICATOR_PT if self.rotation % 2 else HOME_INDICATOR_PT)


def bundle_of(package: str) -> str:
    return BUNDLES.get(package, package)


def package_of(bundle: str) -> str:
    return PACKAGES.get(bundle, bundle)


class IPhone(Phone):
    """A simulated iPhone 14; `phone.input_log` and `phone.state()` say what was done to it."""

    display_class = Panel
    theme = "ios"
    ios_version = "17.5.1"
    wifi_address = "192.168.1.17"
    is_ipad = False
    """Tablets say so, and take the keys of a hardware keyboard; nothing else is another here."""

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 1,
        udid: str = "",
        apps: Sequence[str | type[App]] | None = None,
        world: Mapping[str, Any] | None = None,
    ) -> None:
        self.udid = udid or udid_of(seed)
        size = {"width": WIDTH * SCALE, "height": HEIGHT * SCALE, "density": 160 * SCALE}
        super().__init__(clock=clock, seed=seed, serial=self.udid, apps=apps, world=world, **size)
        self._edge: Literal["", "left", "foot"] = ""
        self._went_down = (0.0, 0.0)
        self._taken = False
        self.launch_arguments: dict[str, tuple[list[str], dict[str, str]]] = {}
        self.systemui.navigation.build = _home_indicator
        self.systemui.navigation.touchable = False
        self.dialogs.question = _question

    def _install(self, apps: Sequence[str | type[App]] | None) -> None:
        super()._install(apps)
        self.packages.classes[Launcher.package] = SpringBoard

    # apps, by bundle identifier

    @property
    def front(self) -> str:
        top = self.tasks.top
        return bundle_of(top.app.package) if top is not None else SPRINGBOARD

    @property
    def bundles(self) -> list[str]:
        return [bundle_of(app.package) for app in self.apps]

    def label_of(self, bundle: str) -> str:
        cls = self.packages.classes.get(package_of(bundle))
        return " " if bundle == SPRINGBOARD else cls.label if cls is not None else bundle

    def pid_of(self, bundle: str) -> int:
        return self.packages.pid_of(package_of(bundle)) or 0

    def is_installed(self, bundle: str) -> bool:
        return package_of(bundle) in self.packages.installed

    def app_state(self, bundle: str) -> int:
        """As XCUIApplicationState: 1 not running, 3 in the background, 4 in front."""
        if not self.packages.pid_of(package_of(bundle)):
            return 1
        return 4 if self.front == bundle else 3

    def launch(self, bundle: str, arguments: list[str], environment: dict[str, str]) -> StartResult:
        """Start an app, or bring one that runs to the front as it is."""
        if self.app_state(bundle) == 1:
            self.launch_arguments[bundle] = (arguments, environment)
        if bundle == SPRINGBOARD:
            self.go_home()
            return StartResult("started")
        return self.start_activity(package=package_of(bundle))

    def terminate(self, bundle: str) -> bool:
        """False if it did not run."""
        if self.app_state(bundle) == 1 or bundle == SPRINGBOARD:
            return False
        self.force_stop(package_of(bundle))
        return True

    # what iOS does otherwise

    def app_crashed(self, package: str, again: bool) -> None:
        """The app is gone and its home screen is there: iOS shows no dialog."""

    def app_not_responding(self, package: str) -> None:
        """An app that hangs stays in front, and nobody says so."""

    def pointer(
        self, action: Literal["down", "move", "up", "cancel"], x: float, y: float, pointer: int = 0
    ) -> None:
        """A finger. One that comes in over the left edge goes back, over the lower edge goes home."""
        if action == "down":
            self._edge = self._edge_at(x, y) if not self.touch.fingers else ""
            self._went_down, self._taken = (x, y), False
        across, up = x - self._went_down[0], self._went_down[1] - y
        slop = self.units.px(EDGE_PT)
        if self._edge and action == "move" and (across if self._edge == "left" else up) > slop:
            if not self._taken:
                self.touch.cancel()
            self._taken = True
        if not self._taken:
            super().pointer(action, x, y, pointer)
            return
        self.catch_up()
        self.record_input(action=action, x=x, y=y, pointer=pointer)
        if action == "up":
            edge, self._edge, self._taken = self._edge, "", False
            if edge == "left" and across >= self.display.width * BACK_SHARE and self.front != SPRINGBOARD:
                self.key(BACK)
            elif edge == "foot" and up >= self.display.height * HOME_SHARE:
                self.key(HOME)

    def _edge_at(self, x: float, y: float) -> Literal["", "left", "foot"]:
        near = self.units.px(EDGE_PT)
        if not self.awake:
            return ""
        return "foot" if y >= self.display.height - near else "left" if x <= near else ""

    # the settings of a device

    def set_awake(self, awake: bool) -> None:
        super().set_awake(awake)
        self.record_input(action="unlock" if awake else "lock")


def udid_of(seed: int) -> str:
    """Eight and sixteen digits, as phones since 2018 have."""
    digits = uuid5(NAMESPACE_OID, f"iphone {seed}").hex.upper()
    return f"00008110-{digits[:16]}"


def _question(permission: str, app: str) -> Question:
    """In iOS's words and order: the button that refuses is the last of three and the first of two."""
    refuse = ("Don’t Allow", "", False, False)
    if "LOCATION" in permission:
        buttons = [("Allow Once", "", True, True), ("Allow While Using App", "", True, False), refuse]
        return Question("location", f"Allow “{app}” to use your location?", buttons)
    sign, words = _NAMES["permissions"].get(permission, ("lock", permission.replace("_", " ").title()))
    buttons = [refuse, ("Allow", "", True, False)]
    if permission == "READ_MEDIA_IMAGES":
        buttons = [("Limit Access…", "", True, False), ("Allow Full Access", "", True, False), refuse]
    return Question(sign, f"“{app}” Would Like to {words}", buttons)


def _home_indicator() -> View:
    bar = View(width=140.0, height=5.0, align="center_h bottom", margin=(0.0, 8.0))
    bar.style = Style(background="on_surface", radius=2.5)
    return ui.frame(bar, height="fill", accessible=False)


class SpringBoardHome(Home):
    """Icons on a page, Spotlight's button, a dock. There is no drawer: everything is on the page."""

    title = "Home screen icons"
    orientation = "portrait"

    def build(self) -> View:
        apps = self._apps()
        dock = [app for name in DOCK for app in apps if app.package == name]
        rest = [app for app in apps if app not in dock]
        page = ui.grid(4, *(self._icon(app) for app in rest), padding=(12.0, 8.0), height="wrap", weight=1.0)
        shelf = ui.row(*(self._icon(app) for app in dock), id="Dock", padding=(12.0, 4.0))
        shelf.style = Style(background="surface_container", radius=28.0)
        wallpaper = Style(kind="image", image="wallpaper")
        return ui.frame(ui.column(page, shelf, height="fill"), height="fill", style=wallpaper)


class SpringBoard(Launcher):
    """The home screen's app."""

    label = "SpringBoard"
    activities = {next(iter(Launcher.activities)): SpringBoardHome}
