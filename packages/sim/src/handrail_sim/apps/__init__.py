"""The apps a simulated phone can carry: one module per app, each naming its class `APP`.

Modules are imported when asked for, so a phone with two apps pays for two. Knows no app's inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from handrail_sim.errors import UnknownApp
from handrail_sim.system.activities import App

# The order in which packages are installed, which is also that of their uids.
DEFAULT = (
    "launcher",
    "settings",
    "contacts",
    "messages",
    "notes",
    "clock",
    "shop",
    "bank",
    "gallery",
    "browser",
    "compose_lab",
    "react_lab",
    "flutter_lab",
    "trouble",
    "camera",
    "files",
    "calendar",
    "dialer",
)
# One needs a folder of recorded screens, one a real browser engine, one eyes: only when named.
OPTIONAL = ("replay", "webview_lab", "canvas_lab")


class _Apps(Mapping[str, "type[App]"]):
    """Short name to app class."""

    def __getitem__(self, name: str) -> type[App]:
        if name not in DEFAULT and name not in OPTIONAL:
            raise KeyError(name)
        match: type[App] = import_module(f"{__name__}.{name}").APP
        return match

    def __iter__(self) -> Iterator[str]:
        return iter((*DEFAULT, *OPTIONAL))

    def __len__(self) -> int:
        return len(DEFAULT) + len(OPTIONAL)


APPS: Mapping[str, type[App]] = _Apps()


def load(names: Sequence[str] | None = None) -> list[type[App]]:
    """The classes of these apps; `replay:FOLDER` is an app made of recorded screens.

    A home screen there always is, so the launcher comes first; and any phone can be called.
    """
    wanted = dict.fromkeys(("launcher", *(DEFAULT if names is None else names), "dialer"))
    return [_find(name) for name in wanted]


def _find(name: str) -> type[App]:
    short, _, folder = name.partition(":")
    if short not in tuple(APPS) or (folder and short != "replay"):
        raise UnknownApp(f"no simulated app is called {name!r}", hint=f"Choose from {', '.join(APPS)}.")
    if folder:
        match: type[App] = import_module(f"{__name__}.{short}").at(folder)
        return match
    return APPS[short]
