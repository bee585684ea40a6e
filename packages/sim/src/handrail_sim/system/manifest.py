"""What a package says of itself before it runs: names, permissions, activities, intent filters, providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from handrail_sim.system.intents import Handles, full_class


class Manifest:
    """Class attributes only: the phone reads them without starting anything."""

    package: ClassVar[str] = ""
    label: ClassVar[str] = ""
    labels: ClassVar[Mapping[str, str]] = {}  # in other languages
    icon: ClassVar[str] = "app"  # name of a vector icon
    color: ClassVar[str] = "#3f6bd8"  # behind the icon
    version: ClassVar[str] = "1.0"
    version_code: ClassVar[int] = 1
    permissions: ClassVar[tuple[str, ...]] = ()  # requested; dangerous ones are not granted at first
    system: ClassVar[bool] = False
    granted_at_boot: ClassVar[bool] = False  # as Android grants its own apps; what was taken away stays away
    debuggable: ClassVar[bool] = False
    libraries: ClassVar[tuple[str, ...]] = ()  # native .so files of its APK
    launchable: ClassVar[bool] = True
    activities: ClassVar[Mapping[str, type]] = {}  # by class name; the first is the launcher's
    handles: ClassVar[tuple[Handles, ...]] = ()
    intents: ClassVar[dict[str, str]] = {}  # action -> activity, for filters without data
    providers: ClassVar[dict[str, str]] = {}  # authority/path -> method that gives the rows of a query
    home: ClassVar[bool] = False  # the launcher

    @classmethod
    def launcher_component(cls) -> str:
        name = next(iter(cls.activities), "")
        return f"{cls.package}/{full_class(cls.package, name)}" if name else ""
