"""Colours by role, light and dark, in the manner of Material 3. Knows no widget."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping

RGBA = tuple[int, int, int, int]

LIGHT: Mapping[str, str] = {
    "primary": "#3D5BA9",
    "on_primary": "#FFFFFF",
    "primary_container": "#DAE2FF",
    "on_primary_container": "#10254F",
    "secondary": "#575E71",
    "on_secondary": "#FFFFFF",
    "secondary_container": "#DCE2F9",
    "on_secondary_container": "#141B2C",
    "tertiary": "#735471",
    "on_tertiary": "#FFFFFF",
    "tertiary_container": "#FDD7F8",
    "on_tertiary_container": "#2B122B",
    "surface": "#FBF9FD",
    "surface_dim": "#DCD9DF",
    "surface_container_lowest": "#FFFFFF",
    "surface_container_low": "#F4F2F8",
    "surface_container": "#EEEDF3",
    "surface_container_high": "#E8E7EE",
    "surface_container_highest": "#E2E1E8",
    "surface_variant": "#E1E2EC",
    "on_surface": "#1A1B20",
    "on_surface_variant": "#45464F",
    "outline": "#757780",
    "outline_variant": "#C5C6D0",
    "error": "#BA1A1A",
    "on_error": "#FFFFFF",
    "error_container": "#FFDAD6",
    "on_error_container": "#410002",
    "inverse_surface": "#303036",
    "inverse_on_surface": "#F2F0F6",
    "inverse_primary": "#B2C5FF",
    "success": "#2E7D32",
    "warning": "#B26A00",
    "star": "#E8A600",
    "keyboard": "#E4E6EE",
    "key": "#FFFFFF",
    "key_special": "#C9CEDD",
    "transparent": "#00000000",
    "white": "#FFFFFF",
    "black": "#000000",
}

DARK: Mapping[str, str] = {
    **LIGHT,
    "primary": "#B2C5FF",
    "on_primary": "#0A2C6C",
    "primary_container": "#254384",
    "on_primary_container": "#DAE2FF",
    "secondary": "#C0C6DC",
    "on_secondary": "#293042",
    "secondary_container": "#404659",
    "on_secondary_container": "#DCE2F9",
    "tertiary": "#E0BBDC",
    "on_tertiary": "#412741",
    "tertiary_container": "#5A3D59",
    "on_tertiary_container": "#FDD7F8",
    "surface": "#121318",
    "surface_dim": "#0E0F13",
    "surface_container_lowest": "#0C0E13",
    "surface_container_low": "#1A1B20",
    "surface_container": "#1F1F25",
    "surface_container_high": "#292A2F",
    "surface_container_highest": "#34343A",
    "surface_variant": "#45464F",
    "on_surface": "#E4E2E9",
    "on_surface_variant": "#C5C6D0",
    "outline": "#8F9099",
    "outline_variant": "#45464F",
    "error": "#FFB4AB",
    "on_error": "#690005",
    "error_container": "#93000A",
    "on_error_container": "#FFDAD6",
    "inverse_surface": "#E4E2E9",
    "inverse_on_surface": "#303036",
    "inverse_primary": "#3D5BA9",
    "success": "#81C784",
    "warning": "#FFB951",
    "star": "#FFCA28",
    "keyboard": "#1E2026",
    "key": "#3A3D46",
    "key_special": "#2B2E37",
}

# What is written on what: the ink that reads well on a background of that role.
INK = {
    "primary": "on_primary",
    "primary_container": "on_primary_container",
    "secondary": "on_secondary",
    "secondary_container": "on_secondary_container",
    "tertiary": "on_tertiary",
    "tertiary_container": "on_tertiary_container",
    "error": "on_error",
    "error_container": "on_error_container",
    "inverse_surface": "inverse_on_surface",
    "success": "white",
    "warning": "white",
}


def parse(text: str) -> RGBA:
    """`#rgb`, `#rrggbb` or, as Android writes it, `#aarrggbb`."""
    digits = text.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    value = int(digits, 16)
    alpha = value >> 24 if len(digits) == 8 else 255
    return value >> 16 & 255, value >> 8 & 255, value & 255, alpha


def resolve(name: str, dark: bool) -> RGBA:
    """The colour of a role, or of a literal that begins with `#`; an unknown role is as good as `primary`."""
    roles = DARK if dark else LIGHT
    return parse(name if name.startswith("#") else roles.get(name, roles["primary"]))


def ink_on(name: str, dark: bool) -> RGBA:
    if name.startswith("#"):
        red, green, blue, _ = parse(name)
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 150
        return (26, 27, 32, 255) if bright else (255, 255, 255, 255)
    return resolve(INK.get(name, "on_surface"), dark)


def fade(colour: RGBA, alpha: float) -> RGBA:
    return (*colour[:3], round(colour[3] * alpha))


def hue(seed: int, lightness: float = 0.42, saturation: float = 0.45) -> RGBA:
    """A pleasant colour for avatars and pictures; neighbouring seeds look different."""
    turn = seed * 0.381966 % 1.0
    red, green, blue = colorsys.hls_to_rgb(turn, lightness, saturation)
    return round(red * 255), round(green * 255), round(blue * 255), 255
