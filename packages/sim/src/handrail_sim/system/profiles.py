"""Phones that people have, by name: an Android, a maker, a screen, and what is odd about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handrail_sim.errors import BadSetting
from handrail_sim.faults import PROFILES as FAULT_PROFILES
from handrail_sim.system.android import Android
from handrail_sim.system.releases import RELEASES, release_of
from handrail_sim.system.vendors import VENDORS, properties_of, vendor_of


@dataclass(frozen=True, slots=True)
class Profile:
    """What is left out stays as it is."""

    about: str
    android: int | None = None
    vendor: str | None = None
    screen: tuple[int, int, int] | None = None  # width, height, density
    faults: tuple[tuple[str, dict[str, Any]], ...] = ()


_REFUSALS = ("grant_refused", "settings_refused", "install_refused")
_OTHER_LINES = "WARNING: linker: Warning: unable to normalize a library path"
PROFILES: dict[str, Profile] = {
    "plain": Profile("the phone as it is without any profile; takes every fault away", 14, "handrail"),
    "hardware": Profile("as slow as a phone on a cable", faults=tuple(FAULT_PROFILES["hardware"])),
    "work": Profile("a work profile that the shell may not see", faults=(("work_profile", {}),)),
    "two-displays": Profile(
        "a second display, turned, listed before the phone's own",
        faults=(("second_display", {"first": 1, "rotation": 1, "width": 800, "height": 600}),),
    ),
    "galaxy-secure-folder": Profile(
        "a Samsung whose Secure Folder the shell may not see",
        14,
        "samsung",
        (1080, 2340, 450),
        (("work_profile", {"user": 150, "label": "Secure Folder", "flags": "10061030"}),),
    ),
    "galaxy-flip": Profile(
        "a Samsung that folds; open",
        13,
        "samsung",
        (1080, 2640, 420),
        (("fold", {"state": "open", "width": 720, "height": 748, "density": 320}),),
    ),
    "pixel-fold": Profile(
        "a Pixel that folds; shut, its cover in use",
        16,
        "google",
        (1840, 2208, 420),
        (("fold", {"state": "closed", "width": 1080, "height": 2092, "density": 420}),),
    ),
    "xiaomi-locked": Profile(
        "a Xiaomi without its second switch for USB debugging: the shell may neither touch nor grant",
        13,
        "xiaomi",
        faults=(("input_refused", {"helpers": 1}), *((name, {}) for name in _REFUSALS)),
    ),
    "talkative": Profile(
        "an Oppo whose linker says something before every answer",
        12,
        "oppo",
        faults=(("oem_lines", {"text": _OTHER_LINES}),),
    ),
    "private": Profile(
        "one secure window above the app, and a clipboard that helpers may not read",
        faults=(("secure_window", {}), ("clipboard_unreadable", {})),
    ),
    **{f"android-{number}": Profile(f"Android {number}", number) for number in RELEASES},
    **{
        name: Profile(f"made by {entry.manufacturer}", None, name)
        for name, entry in VENDORS.items()
        if name != "handrail"
    },
}


def become(phone: Android, *, android: int | None = None, vendor: str | None = None) -> None:
    """Another version of Android, another maker; what is not named stays."""
    if android is not None and android not in RELEASES:
        raise BadSetting(
            f"no Android {android}; there are {min(RELEASES)} to {max(RELEASES)}", path="android"
        )
    if vendor is not None and vendor not in VENDORS:
        raise BadSetting(f"no vendor {vendor!r}; there are {', '.join(VENDORS)}", path="vendor")
    release = release_of(phone) if android is None else RELEASES[android]
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
