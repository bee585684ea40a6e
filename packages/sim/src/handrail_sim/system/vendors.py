"""Makers of phones: their names in the properties, and the lines they add to what Android prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    window_words: str = ""  # behind a window's title
    system_window: str = ""  # before the code of a window of the system
    window_flags: str = ""  # behind a window's attributes


_SAMSUNG_BATTERY = (
    "  batterySWSelfDischarging: false",
    "  batteryMiscEvent: 65536",
    "  batteryCurrentEvent: 0",
    "  mSecPlugTypeSummary: 2",
    "  LED Charging: true",
    "  LED Low Battery: true",
    "  current now: 0",
    "  Adaptive Fast Charging Settings: true",
    "USE_FAKE_BATTERY: false",
    "SEC_FEATURE_BATTERY_SIMULATION: false",
    "LLB CAL: 20180831",
    "LLB MAN:",
    "BatteryInfoBackUp",
    "  mSavedBatteryAsoc: 96",
)
VENDORS: dict[str, Vendor] = {
    "handrail": Vendor("Handrail", "Handrail", "Simulated Phone", "sim"),
    "google": Vendor("Google", "google", "Pixel 8", "shiba"),
    "samsung": Vendor(
        "samsung",
        "samsung",
        "SM-S911B",
        "dm1q",
        {"ro.build.version.oneui": "60100", "ro.build.version.sep": "150100", "ro.csc.sales_code": "EUX"},
        {"battery": _SAMSUNG_BATTERY},
    ),
    "xiaomi": Vendor(
        "Xiaomi",
        "Redmi",
        "23021RAA2Y",
        "tapas",
        {"ro.miui.ui.version.name": "V140", "ro.miui.ui.version.code": "14", "ro.miui.notch": "1"},
    ),
    "oppo": Vendor(
        "OPPO",
        "OPPO",
        "CPH2495",
        "OP5961L1",
        {"ro.build.version.opporom": "V13", "ro.oppo.theme.version": "1300"},
    ),
    "realme": Vendor("realme", "realme", "RMX3085", "RMX3085L1", {"ro.build.version.realmeui": "V4.0"}),
    "oneplus": Vendor("OnePlus", "OnePlus", "BE2028", "OnePlusN10TMO", {"ro.rom.version": "11.0.13.BE88CB"}),
    "vivo": Vendor(
        "vivo",
        "vivo",
        "V2318",
        "V2318",
        {"ro.vivo.os.version": "14.0", "ro.vivo.os.build.display.id": "Funtouch OS 14"},
        window_words=" type={type} ",
        system_window="{package}:",
        window_flags=" vivoFlags:0x0 homeIndicatorState=-1 keepFullScreen=0",
    ),
    "huawei": Vendor("HUAWEI", "HUAWEI", "ELE-L29", "HWELE", {"ro.build.version.emui": "EmotionUI_12.0.0"}),
    "motorola": Vendor("motorola", "motorola", "motorola edge 20", "berlin"),
    "lge": Vendor("LGE", "lge", "LM-V600", "timelm"),
    "sony": Vendor("Sony", "Sony", "XQ-BC52", "XQ-BC52"),
}


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
