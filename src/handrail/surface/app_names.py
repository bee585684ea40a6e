"""Which app a name means: what its icon says, whatever the case, accents and spaces. Pure.

A name that several apps have, or none, is no app: the candidates are told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

from handrail.errors import AmbiguousTarget, AppNotInstalled
from handrail.surface.values import InstalledApp

_FILLERS = re.compile(r"\b(?:the|app)\b")
_BETWEEN = re.compile(r"[\W_]+")
MOST = 5
"""Candidates that are told."""


def folded(name: str) -> str:
    """The same for all spellings of a name: "Wi-Fi Anályzer", "wifi analyzer"."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(one for one in plain if not unicodedata.combining(one))
    words = _FILLERS.sub(" ", letters)
    return _BETWEEN.sub("", words) or _BETWEEN.sub("", letters)


def choose_app(name: str, apps: Sequence[InstalledApp]) -> InstalledApp:
    """The app of this name in the device's language, else in any other, else of this package."""
    wanted = folded(name)
    for found in (
        [one for one in apps if wanted and folded(one.label) == wanted],
        [one for one in apps if wanted and wanted in map(folded, one.names)],
        [one for one in apps if one.package.casefold() == name.strip().casefold()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise _several(name, found)
    raise _none(name, apps)


def _several(name: str, found: Sequence[InstalledApp]) -> AmbiguousTarget:
    listed = [{"name": one.label, "package": one.package} for one in found]
    packages = " or ".join(one.package for one in found[:MOST])
    return AmbiguousTarget(
        f'{len(found)} apps are called "{name}"',
        hint=f"Name the package: {packages}.",
        candidates=listed[:MOST],
    )


def _none(name: str, apps: Sequence[InstalledApp]) -> AppNotInstalled:
    wanted = folded(name)
    by_name = {folded(called): one for one in apps for called in (one.label, *one.names)}
    inside = [called for called in by_name if wanted and (wanted in called or (called and called in wanted))]
    near = dict.fromkeys([*sorted(inside, key=len), *get_close_matches(wanted, by_name, n=3, cutoff=0.6)])
    found = list(dict.fromkeys(by_name[called] for called in near))[:MOST]
    meant = " or ".join(f'"{one.label}" ({one.package})' for one in found)
    return AppNotInstalled(
        f'no app is called "{name}"',
        hint=f"Did you mean {meant}?" if meant else _there(apps),
        name=name,
        nearest=[{"name": one.label, "package": one.package} for one in found],
    )


TOLD = 20
"""Names of apps that a hint has room for."""


def _there(apps: Sequence[InstalledApp]) -> str:
    """What could have been meant, where nothing is alike."""
    names = sorted({one.label for one in apps}, key=str.casefold)
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return f"There are: {', '.join(names[:TOLD])}{more}."
