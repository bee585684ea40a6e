"""Makers of phones: their names in the properties, and the lines they add to what Android prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handrail_sim.resources import table
from handrail_sim.system.device import Device
from handrail_sim.system.releases import Release


@dataclass(frozen=True, slots=True)
class Vendor:
    """One maker; `lines` are what its phones add at the end of a service's dump."""

    manufacturer: str
    brand: str
    model: str
    device: str
    props: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    window_words: str = ""  # behind a window's title
    system_window: str = ""  # before the code of a window of the system
    window_flags: str = ""  # behind a window's attributes


VENDORS = {name: Vendor(**fields) for name, fields in table("system/vendors.toml").items()}


def vendor_of(phone: Device) -> Vendor:
    return VENDORS.get(phone.props.get("ro.product.manufacturer", "").lower(), VENDORS["handrail"])


def properties_of(release: Release, vendor: Vendor, old: Mapping[str, str]) -> dict[str, str]:
    """The properties by which a phone is told to be this one; those of another maker are gone."""
    others = {name for entry in VENDORS.values() for name in entry.props}
    saved = {name: value for name, value in old.items() if name not in others}
    kind = f"{old.get('ro.build.type', 'user')}/{old.get('ro.build.tags', 'release-keys')}"
    device = f"{vendor.brand}/{vendor.device}/{vendor.device}"
    fingerprint = f"{device}:{release.version}/{release.build}/1:{kind}"
    return saved | {
        "ro.build.display.id": release.build,
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": release.build,
        "ro.build.product": vendor.device,
        "ro.build.version.release": release.version,
        "ro.build.version.sdk": str(release.sdk),
        "ro.build.version.security_patch": release.patch,
        "ro.product.brand": vendor.brand,
        "ro.product.device": vendor.device,
        "ro.product.first_api_level": str(release.sdk),
        "ro.product.manufacturer": vendor.manufacturer,
        "ro.product.model": vendor.model,
        "ro.product.name": vendor.device,
        **vendor.props,
    }
