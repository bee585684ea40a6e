"""One phone, ready: a handset with its apps, the servers that can be started on it, and its snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handrail_sim import state
from handrail_sim.apps import DEFAULT, OPTIONAL, from_apk, load
from handrail_sim.channels.attach import attach
from handrail_sim.clock import Clock
from handrail_sim.disk.files import Files
from handrail_sim.disk.image import fill_libraries
from handrail_sim.handset import Handset
from handrail_sim.shell.apk.packing import packed_apk
from handrail_sim.system.activities import App
from handrail_sim.system.display import Display
from handrail_sim.world import give


class Phone(Handset):
    """A simulated Android phone."""

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 1,
        serial: str = "handrail-sim",
        width: int = 1080,
        height: int = 2400,
        density: int = 420,
        apps: Sequence[str | type[App]] | None = None,
        world: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(clock, seed, serial, Display(width, height, density))
        self.packages.make_app = from_apk.make
        self._install(
            apps if apps is not None else [*DEFAULT, *(one for one in OPTIONAL if one in (world or {}))]
        )
        self.tasks.home()
        attach(self)
        if world:
            self.give(world)
        self.boot_apps()

    def _install(self, apps: Sequence[str | type[App]] | None) -> None:
        names = None if apps is None else [name for name in apps if isinstance(name, str)]
        classes = [one for one in apps or () if not isinstance(one, str)]
        made = [self.packages.add_app(app) for app in [*load(names), *classes]]
        key = tuple((one.name, one.uid, one.label, self.packages.classes[one.name].libraries) for one in made)
        self.files.fill_once(key, self._unpack)

    def _unpack(self, files: Files) -> None:
        for package in self.packages.installed.values():
            files.make_app_data(package.name, package.uid)
            app = self.packages.classes[package.name]
            fill_libraries(files, package.name, app.libraries)
            activity = app.launcher_component().partition("/")[2]
            files.mkdir(package.path.rpartition("/")[0], parents=True)
            files.write(package.path, packed_apk(package.name, package.label, activity, app.labels))

    def give(self, world: Mapping[str, Any]) -> None:
        """What its apps hold, by their short names: `{"notes": [{"title": "Oats"}]}`."""
        give(self, world)

    def state(self) -> dict[str, Any]:
        self.catch_up()
        return state.describe(self)

    def snapshot(self, name: str = "default") -> None:
        self.catch_up()
        self.snapshots[name] = state.take(self)

    def restore(self, name: str = "default") -> None:
        state.put_back(self, self.snapshots[name])

    def reboot(self) -> None:
        for hook in list(self.reboot_hooks):
            hook()
        state.reboot(self)
