"""Packages that every Android has and that are no apps of this phone: names, uids and where they lie."""

from __future__ import annotations

from handrail_sim import resources
from handrail_sim.handset import Handset
from handrail_sim.system.packages import Package

_PLACES = tuple(resources.rows("shell/system/system_packages.txt"))


def all_packages(phone: Handset) -> dict[str, Package]:
    matches = {
        name: Package(name, int(uid), version_name="14", version_code=34, path=path, system=True)
        for uid, name, path in _PLACES
    }
    matches |= phone.packages.installed
    return {name: matches[name] for name in sorted(matches)}
