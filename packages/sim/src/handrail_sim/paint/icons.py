"""Icons as own drawings in the language of `sketch`, on a grid of 24 by 24. Plain data, free of Pillow."""

from __future__ import annotations

from handrail_sim.resources import table

GRID = 24

_TABLE = table("paint/icons.toml")
PATHS: dict[str, str] = _TABLE["paths"]

# Other names by which apps may know the same drawing.
ALIASES: dict[str, str] = _TABLE["aliases"]


# Characters common on screens that the font does not have.
SIGNS: dict[str, str] = _TABLE["signs"]


def exists(name: str) -> bool:
    return name in PATHS or name in ALIASES


def path(name: str) -> str:
    """The drawing of that name; an unknown name is a plain dot."""
    return PATHS.get(ALIASES.get(name, name), PATHS["dot"])
