"""What is around a phone: its network, its place, its charger; properties `sim.*` keep it with the phone."""

from __future__ import annotations

from dataclasses import dataclass

from handrail_sim.system.device import Device

SPEEDS = {"gsm": (14_400, 14_400), "hscsd": (14_400, 43_200), "gprs": (28_800, 57_600)}
SPEEDS |= {"edge": (473_600, 473_600), "umts": (384_000, 384_000), "hsdpa": (5_760_000, 13_980_000)}
SPEEDS |= {"lte": (58_000_000, 173_000_000), "evdo": (75_000_000, 280_000_000), "full": (0, 0)}
"""bit/s up and down; 0 is no limit."""
DELAYS = {"none": (0, 0), "gprs": (150, 550), "edge": (80, 400), "umts": (35, 200)}
"""Milliseconds, least and most."""
PLUGS = ("none", "ac", "usb", "wireless")

_SPEED, _DELAY, _OFFLINE = "sim.network.speed", "sim.network.delay", "sim.network.gone"
_PLACE, _PLUG = "sim.location", "sim.power.plug"


def pair(text: str, names: dict[str, tuple[int, int]], unit: int) -> tuple[int, int] | None:
    if text in names:
        return names[text]
    first, colon, second = text.partition(":")
    if not (first.isascii() and first.isdigit()) or (colon and not (second.isascii() and second.isdigit())):
        return None
    return int(first) * unit, int(second or first) * unit


# network


def set_network(phone: Device, *, speed: str | None = None, delay: str | None = None) -> bool:
    """Speed and delay in the emulator console's words; False for an unknown word."""
    fits = (speed is None or pair(speed, SPEEDS, 1000)) and (delay is None or pair(delay, DELAYS, 1))
    for name, value in ((_SPEED, speed), (_DELAY, delay)):
        if fits and value is not None:
            phone.props[name] = value
    return bool(fits)


def set_offline(phone: Device, offline: bool) -> None:
    phone.props[_OFFLINE] = str(int(offline))


def speed(phone: Device) -> tuple[int, int]:
    return pair(phone.props.get(_SPEED, "full"), SPEEDS, 1000) or (0, 0)


def delay(phone: Device) -> tuple[int, int]:
    """Milliseconds, least and most."""
    return pair(phone.props.get(_DELAY, "none"), DELAYS, 1) or (0, 0)


def is_connected(phone: Device) -> bool:
    on = {name for name, value in phone.settings["global"].items() if value not in {"", "0"}}
    return "wifi_on" in on or ("mobile_data" in on and "airplane_mode_on" not in on)


def is_online(phone: Device) -> bool:
    return is_connected(phone) and phone.props.get(_OFFLINE) != "1"


def transfer_ms(phone: Device, kilobytes: float) -> float | None:
    """How much longer than on a good network it takes to load so much; None when it never comes."""
    if not is_online(phone):
        return None
    least, most = delay(phone)
    down = speed(phone)[1]
    waited = phone.random.uniform(least, most) if most > least else float(most)
    return waited + (kilobytes * 8192_000 / down if down else 0.0)


# place


@dataclass(frozen=True, slots=True)
class Place:
    """Degrees and metres."""

    latitude: float
    longitude: float
    altitude: float = 0.0


def set_place(phone: Device, place: Place | None) -> None:
    """None: the phone does not know where it is."""
    if place is None:
        phone.props.pop(_PLACE, None)
        return
    words = [f"{place.latitude:.6f}", f"{place.longitude:.6f}", f"{place.altitude:.1f}", str(phone.wall_ms())]
    phone.props[_PLACE] = ",".join(words)


def last_place(phone: Device) -> tuple[Place, int] | None:
    """Where the phone last was, and when it knew that; None before the first fix."""
    words = phone.props.get(_PLACE, "").split(",")
    if len(words) != 4:
        return None
    return Place(*map(float, words[:3])), int(words[3])


def place_for(phone: Device, package: str) -> Place | None:
    """What an app reads: nothing while location is off, or where the app may not know."""
    on = phone.settings["secure"].get("location_mode", "0") != "0"
    allowed = any(
        phone.packages.is_granted(package, f"android.permission.ACCESS_{kind}_LOCATION")
        for kind in ("FINE", "COARSE")
    )
    existing = last_place(phone)
    return existing[0] if existing is not None and on and allowed else None


# charger


def plug(phone: Device) -> str:
    """What charges it: one of `PLUGS`."""
    return phone.props.get(_PLUG, "usb")


def set_plug(phone: Device, kind: str) -> None:
    """One of `PLUGS`."""
    phone.props[_PLUG] = kind
