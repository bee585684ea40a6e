"""Installed packages, their permissions and their processes, as PackageManager and ps see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from handrail_sim import resources
from handrail_sim.system.intents import MAIN, Intent, full_class
from handrail_sim.system.manifest import Manifest

HOME_CATEGORY = "android.intent.category.HOME"
FIRST_UID = 10100
FIRST_PID = 2400
INSTALLED_MS = 1_700_000_000_000

DANGEROUS = frozenset(
    f"android.permission.{name}" for name in resources.text("system/dangerous_permissions.txt").split()
)


@dataclass(slots=True)
class Package:
    """What PackageManager knows of one package."""

    name: str
    uid: int
    label: str = ""
    version_name: str = "1.0"
    version_code: int = 1
    path: str = ""
    system: bool = False
    debuggable: bool = False
    enabled: bool = True
    requested: list[str] = field(default_factory=list)
    granted: dict[str, bool] = field(default_factory=dict)  # dangerous ones that were decided
    one_time: list[str] = field(default_factory=list)  # granted until the process ends
    denials: dict[str, int] = field(default_factory=dict)  # twice denied: never asked again
    first_install_ms: int = INSTALLED_MS
    last_update_ms: int = INSTALLED_MS
    installer: str = ""
    size: int = 0
    activities: list[str] = field(default_factory=list)  # what an APK's manifest declares, whole class names
    launcher: str = ""
    splits: list[str] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    instrumentations: dict[str, str] = field(default_factory=dict)  # runner -> tested package


@dataclass(slots=True)
class Process:
    """One running process."""

    pid: int
    name: str
    uid: int
    started_ms: float = 0.0
    parent: int = 1


class Packages:
    """Packages by name; classes of apps that can really run; processes by name."""

    def __init__(self, apps: Iterable[type[Manifest]] = ()) -> None:
        self.classes: dict[str, type[Manifest]] = {}
        self.make_app: Callable[[Package], type[Manifest]] | None = None
        """The app class for an installed APK, whose code cannot run here."""
        self._from_apk: set[str] = set()
        self.installed: dict[str, Package] = {}
        self.processes: dict[str, Process] = {}
        self.running_services: dict[str, bool] = {}
        """Components of services that run, and whether in the foreground."""
        self.exits: dict[str, list[Callable[[], object]]] = {}
        """What is to be told once a process has ended, by its name."""
        self.watchers: list[Callable[[], object]] = []
        """Called whenever a process starts or ends."""
        self._next_pid = FIRST_PID
        for app in apps:
            self.add_app(app)

    def add_app(self, app: type[Manifest]) -> Package:
        self.classes[app.package] = app
        folder = "/system/app" if app.system else "/data/app"
        package = Package(
            app.package,
            FIRST_UID + len(self.installed),
            app.label,
            app.version,
            app.version_code,
            path=f"{folder}/{app.package}/base.apk",
            system=app.system,
            debuggable=app.debuggable,
            requested=list(app.permissions),
        )
        self.installed[app.package] = package
        return package

    def install(self, name: str, **facts: Any) -> Package:
        """Install, or replace, a package that came as a file; data and grants of an old one stay."""
        old = self.installed.get(name)
        uid = old.uid if old else FIRST_UID + 100 + len(self.installed)
        package = Package(name, uid, path=f"/data/app/{name}/base.apk", **facts)
        if old:
            package.granted, package.first_install_ms = old.granted, old.first_install_ms
        self.installed[name] = package
        self._give_app(package)
        return package

    def _give_app(self, package: Package) -> None:
        """An APK gets an app of its own; a name that the simulator has an app for keeps that one."""
        name = package.name
        if self.make_app is not None and (name not in self.classes or name in self._from_apk):
            self.classes[name] = self.make_app(package)
            self._from_apk.add(name)

    def uninstall(self, name: str) -> bool:
        package = self.installed.get(name)
        if package is None or package.system:
            return False
        del self.installed[name]
        self.processes.pop(name, None)
        return True

    def names(self) -> list[str]:
        return sorted(self.installed)

    # permissions

    def is_granted(self, package: str, permission: str) -> bool:
        existing = self.installed.get(package)
        if existing is None or permission not in existing.requested:
            return False
        return existing.granted.get(permission, False) if permission in DANGEROUS else True

    def set_granted(self, package: str, permission: str, granted: bool, one_time: bool = False) -> None:
        existing = self.installed[package]
        existing.granted[permission] = granted
        existing.one_time = [name for name in existing.one_time if name != permission]
        if granted and one_time:
            existing.one_time.append(permission)

    def grant(self, package: str, permission: str) -> None:
        self.set_granted(package, permission, True)

    def revoke(self, package: str, permission: str) -> None:
        self.set_granted(package, permission, False)

    def granted(self, package: str) -> set[str]:
        current = self.installed.get(package)
        return {word for word in current.requested if self.is_granted(package, word)} if current else set()

    def deny(self, package: str, permission: str) -> None:
        existing = self.installed[package]
        existing.granted[permission] = False
        existing.denials[permission] = existing.denials.get(permission, 0) + 1

    def may_ask(self, package: str, permission: str) -> bool:
        existing = self.installed[package]
        return existing.denials.get(permission, 0) < 2 and permission in existing.requested

    def reset_permissions(self, package: str) -> None:
        existing = self.installed[package]
        existing.granted, existing.denials, existing.one_time = {}, {}, []

    # activities

    def component(self, package: str, name: str = "") -> str:
        """The full component of an activity, "" if there is none; without a name the launcher's."""
        app = self.classes.get(package) if package in self.installed else None
        if app is None:
            return ""
        if not name:
            return app.launcher_component() if app.launchable else ""
        wanted = full_class(package, name)
        for own in app.activities:
            if full_class(package, own) == wanted:
                return f"{package}/{wanted}"
        return ""

    def resolve(self, intent: Intent) -> list[str]:
        if intent.action == MAIN and HOME_CATEGORY in intent.categories:
            return [
                cls.launcher_component()
                for name, cls in self.classes.items()
                if cls.home and name in self.installed
            ]
        if intent.action == MAIN:
            wanted = [intent.package] if intent.package else list(self.installed)
            return [component for name in wanted if (component := self.component(name))]
        names: list[str] = []
        for name, app in self.classes.items():
            if name not in self.installed or (intent.package and name != intent.package):
                continue
            names += [
                f"{name}/{full_class(name, handle.activity)}"
                for handle in app.handles
                if handle.matches(intent)
            ]
            if intent.action in app.intents:
                names.append(f"{name}/{full_class(name, app.intents[intent.action])}")
        return names

    # processes

    def start_process(self, name: str, now_ms: float) -> Process:
        process = self.processes.get(name)
        if process is None:
            self._next_pid += 37
            package = self.installed.get(name)
            process = Process(self._next_pid, name, package.uid if package else 1000, now_ms)
            self.processes[name] = process
            self._tell()
        return process

    def _tell(self) -> None:
        for watcher in list(self.watchers):
            watcher()

    def start_service(self, component: str, now_ms: float, *, foreground: bool) -> bool:
        """False if no installed package declares it."""
        package, name = component.partition("/")[::2]
        existing = self.installed.get(package)
        if existing is None or name not in existing.services:
            return False
        self.start_process(package, now_ms)
        self.running_services[component] = foreground or self.running_services.get(component, False)
        return True

    def end_process(self, name: str) -> bool:
        package = self.installed.get(name)
        if package:
            for permission in package.one_time:
                package.granted.pop(permission, None)
            package.one_time = []
        for component in [service for service in self.running_services if service.partition("/")[0] == name]:
            del self.running_services[component]
        for tell in self.exits.pop(name, []):
            tell()
        ran = self.processes.pop(name, None) is not None
        if ran:
            self._tell()
        return ran

    def end_all(self) -> None:
        for name in list(self.processes):
            self.end_process(name)

    def pid_of(self, name: str) -> int | None:
        process = self.processes.get(name)
        return process.pid if process else None

    # state

    def to_dict(self) -> dict[str, Any]:
        return {
            "installed": {name: asdict(package) for name, package in self.installed.items()},
            "processes": {name: asdict(process) for name, process in self.processes.items()},
            "next_pid": self._next_pid,
        }

    def load(self, data: dict[str, Any]) -> None:
        self.installed = {name: Package(**facts) for name, facts in data["installed"].items()}
        self.processes = {name: Process(**facts) for name, facts in data["processes"].items()}
        self._next_pid = data["next_pid"]
        for name in self._from_apk & self.installed.keys():
            self._give_app(self.installed[name])
