"""Colours by role, light and dark, in the manner of Material 3. Knows no widget."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping

from handrail_sim.resources import table

RGBA = tuple[int, int, int, int]

_TABLE = table("paint/palette.toml")
LIGHT: Mapping[str, str] = _TABLE["light"]

DARK: Mapping[str, str] = {**LIGHT, **_TABLE["dark"]}
THEMES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "": (LIGHT, DARK),
    "ios": ({**LIGHT, **_TABLE["ios"]}, {**DARK, **_TABLE["ios"], **_TABLE["ios_dark"]}),
}
"""Light and dark, by the system that is drawn."""

# What is written on what: the ink that reads well on a background of that role.
INK: Mapping[str, str] = _TABLE["ink"]


def parse(text: str) -> RGBA:
    """`#rgb`, `#rrggbb` or, as Android writes it, `#aarrggbb`."""
    digits = text.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    value = int(digits, 16)
    alpha = value >> 24 if len(digits) == 8 else 255
    return value >> 16 & 255, value >> 8 & 255, value & 255, alpha


def resolve(name: str, dark: bool, theme: str = "") -> RGBA:
    """The colour of a role, or of a literal that begins with `#`; an unknown role is as good as `primary`."""
    roles = THEMES[theme][dark]
    return parse(name if name.startswith("#") else roles.get(name, roles["primary"]))


def ink_on(name: str, dark: bool, theme: str = "") -> RGBA:
    if name.startswith("#"):
        red, green, blue, _ = parse(name)
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 150
        return (26, 27, 32, 255) if bright else (255, 255, 255, 255)
    return resolve(INK.get(name, "on_surface"), dark, theme)


def fade(colour: RGBA, alpha: float) -> RGBA:
    return (*colour[:3], round(colour[3] * alpha))


def hue(seed: int, lightness: float = 0.42, saturation: float = 0.45) -> RGBA:
    """A pleasant colour for avatars and pictures; neighbouring seeds look different."""
    turn = seed * 0.381966 % 1.0
    red, green, blue = colorsys.hls_to_rgb(turn, lightness, saturation)
    return round(red * 255), round(green * 255), round(blue * 255), 255
