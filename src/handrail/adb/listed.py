"""The adb server's list of devices, as data. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

_PROPS = frozenset({"usb", "product", "model", "device", "features", "transport_id"})
_TWO_WORDS = "no permissions"


@dataclass(frozen=True, slots=True)
class Listed:
    """A device as the server lists it; only those in state `device` can be used."""

    serial: str
    state: str
    props: dict[str, str] = field(default_factory=dict)


def parse_devices(text: str) -> list[Listed]:
    """`SERIAL STATE key:value …` a line; the one state of two words brings its explanation along."""
    return [_listed(*line.split(None, 1)) for line in text.splitlines() if len(line.split(None, 1)) == 2]


def _listed(serial: str, rest: str) -> Listed:
    state = _TWO_WORDS if rest.startswith(_TWO_WORDS) else rest.split(maxsplit=1)[0]
    words = [word.partition(":") for word in rest.removeprefix(state).split()]
    return Listed(serial, state, {key: value for key, colon, value in words if key in _PROPS and colon})
