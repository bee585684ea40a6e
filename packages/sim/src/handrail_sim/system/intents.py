"""What one app asks of another: intents, what activities declare to handle, what starting them gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
SEND = "android.intent.action.SEND"


@dataclass(slots=True)
class Intent:
    """What an activity was started with."""

    component: str = ""  # package/class, the class in full
    action: str = ""
    data: str = ""
    mime: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    package: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "component": self.component,
            "action": self.action,
            "data": self.data,
            "mime": self.mime,
            "extras": self.extras,
            "categories": list(self.categories),
            "package": self.package,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Intent:
        return cls(**{**data, "categories": tuple(data["categories"])})


@dataclass(frozen=True, slots=True)
class Handles:
    """An intent filter: `scheme` and `mime` may be empty (any), `mime` may end in /*."""

    activity: str
    action: str
    scheme: str = ""
    mime: str = ""
    label: str = ""

    def matches(self, intent: Intent) -> bool:
        if intent.action != self.action:
            return False
        if self.scheme and intent.data.partition(":")[0] not in self.scheme.split(","):
            return False
        if not self.scheme and intent.data and not self.mime:
            return False
        return not self.mime or (
            self.mime in ("*/*", intent.mime)
            or (self.mime.endswith("/*") and intent.mime.startswith(self.mime[:-1]))
        )


@dataclass(frozen=True, slots=True)
class StartResult:
    """`code`: started, brought_to_front, delivered, chooser, canceled, not_found (no class) or unresolved."""

    code: str
    component: str = ""
    launch_ms: int = 0
    cold: bool = False

    @property
    def ok(self) -> bool:
        return self.code not in ("not_found", "unresolved", "canceled")


def full_class(package: str, name: str) -> str:
    """`.Main` and `Main` stand in the app's package; a name with that or another package is whole."""
    if name.startswith("."):
        return package + name
    return name if "." in name and not name[0].isupper() else f"{package}.{name}"


def split_component(component: str) -> tuple[str, str]:
    package, _, name = component.partition("/")
    return package, full_class(package, name) if name else ""


def short_component(component: str) -> str:
    """How dumpsys and am print it: package/.Class when the class stands in the package."""
    package, name = split_component(component)
    return f"{package}/{name[len(package) :]}" if name.startswith(package + ".") else f"{package}/{name}"
