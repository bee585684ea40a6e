"""Phones that people have, by name: an Android, a maker, a screen, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handrail_sim.errors import BadSetting
from handrail_sim.faults import PROFILES as FAULT_PROFILES
from handrail_sim.resources import table
from handrail_sim.system.android import Android
from handrail_sim.system.releases import OLD_RELEASES, RELEASES, release_of
from handrail_sim.system.vendors import VENDORS, properties_of, vendor_of


@dataclass(frozen=True, slots=True)
class Profile:
    """What is left out stays as it is."""

    about: str
    android: int | None = None
    vendor: str | None = None
    screen: tuple[int, int, int] | None = None  # width, height, density
    faults: Sequence[tuple[str, dict[str, Any]]] = ()


PROFILES = {
    **{
        name: Profile(**{"faults": FAULT_PROFILES.get(name, ()), **fields})
        for name, fields in table("system/profiles.toml").items()
    },
    **{f"android-{number}": Profile(f"Android {number}", number) for number in (*OLD_RELEASES, *RELEASES)},
    **{
        name: Profile(f"made by {entry.manufacturer}", None, name)
        for name, entry in VENDORS.items()
        if name != "handrail"
    },
}


def become(phone: Android, *, android: int | None = None, vendor: str | None = None) -> None:
    """Another version of Android, another maker; what is not named stays."""
    releases = OLD_RELEASES | RELEASES
    if android is not None and android not in releases:
        raise BadSetting(
            f"no Android {android}; there are {min(RELEASES)} to {max(RELEASES)}", path="android"
        )
    if vendor is not None and vendor not in VENDORS:
        raise BadSetting(f"no vendor {vendor!r}; there are {', '.join(VENDORS)}", path="vendor")
    release = release_of(phone) if android is None else releases[android]
    maker = vendor_of(phone) if vendor is None else VENDORS[vendor]
    phone.props = properties_of(release, maker, phone.props)
    phone.put_setting("global", "device_name", maker.model)


def take_on(phone: Android, name: str) -> None:
    """Become the phone of this name; what an earlier profile brought stays unless this one says otherwise."""
    profile = PROFILES.get(name)
    if profile is None:
        raise BadSetting(f"no profile {name!r}; there are {', '.join(PROFILES)}", path="profile")
    if name == "plain":
        phone.faults.clear()
    become(phone, android=profile.android, vendor=profile.vendor)
    if profile.screen is not None:
        phone.faults.clear("fold")
        display = phone.display
        display.physical_width, display.physical_height, display.physical_density = profile.screen
        phone.set_density(None)
        phone.set_size()
    for fault, options in profile.faults:
        phone.faults.add(fault, **options)
