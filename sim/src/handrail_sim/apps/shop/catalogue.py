"""What the shop sells: an endless shelf, each product a function of its number. Knows no cart, no screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

PAGE = 12
REACH = 1540  # how far a search looks: twenty series of everything
_THINGS = (
    ("Mug", "mug", 900),
    ("Kettle", "kettle", 3400),
    ("Lamp", "lamp", 4200),
    ("Notebook", "notebook", 650),
    ("Umbrella", "umbrella", 2400),
    ("Backpack", "backpack", 5900),
    ("Plant pot", "plant", 1800),
    ("Headphones", "headphones", 7900),
    ("Wool blanket", "blanket", 4900),
    ("Wall clock", "clock", 3100),
    ("Water bottle", "bottle", 1500),
)
_MAKES = ("Blue", "Enamel", "Travel", "Oak", "Quiet", "Little", "Harbour")
_WORDS = (
    "Made to be used every day and to be mended when it breaks.",
    "Holds its colour in sun and rain.",
    "Packed flat, put together in ten minutes without tools.",
    "Comes with a spare part, because the first one always gets lost.",
    "Tested for two winters on a small island.",
)
DEPARTMENTS = ("All", "Kitchen", "Home", "Travel")
_DEPARTMENT = {
    "mug": "Kitchen",
    "kettle": "Kitchen",
    "bottle": "Travel",
    "umbrella": "Travel",
    "backpack": "Travel",
    "headphones": "Travel",
}


@dataclass(frozen=True, slots=True)
class Product:
    """One thing for sale; the price is in cents."""

    number: int
    name: str
    picture: str
    cents: int
    rating: float
    reviews: int
    words: str
    department: str


@lru_cache(maxsize=2048)
def product(number: int) -> Product:
    """The n-th product, from 0. 7 makes and 11 things share no factor: 77 products before a name returns."""
    thing, picture, base = _THINGS[number % len(_THINGS)]
    series = number // (len(_THINGS) * len(_MAKES))
    name = f"{_MAKES[number % len(_MAKES)]} {thing.lower()}" + (f" No. {series + 1}" if series else "")
    return Product(
        number,
        name,
        f"product:{name.lower()}",
        base + 50 * (number * 7 % 13),
        3.0 + number * 7 % 21 / 10,
        4 + number * 37 % 480,
        _WORDS[number % len(_WORDS)],
        _DEPARTMENT.get(picture, "Home"),
    )


class Catalogue:
    """The products of one phone: those that it was given, else the endless shelf."""

    def __init__(self, given: Sequence[Product] = ()) -> None:
        self._given = given

    def product(self, number: int) -> Product:
        return self._given[number] if self._given else product(number)

    def shelf(self, count: int, department: str = "All", query: str = "") -> list[Product]:
        """The first `count` products of a department whose names hold the query."""
        wanted = query.strip().casefold()
        found = (
            one
            for one in self._given or map(product, range(REACH))
            if department in ("All", one.department) and wanted in one.name.casefold()
        )
        return list(islice(found, count))


def given_product(number: int, row: Mapping[str, Any]) -> Product:
    """One from a phone's world; what it does not say is as it is for the product with this number."""
    usual = product(number)
    name = str(row["name"])
    kind = next((picture for thing, picture, _ in _THINGS if thing.casefold() in name.casefold()), "")
    return Product(
        number,
        name,
        f"product:{name.lower()}",
        int(row["cents"]),
        float(row.get("rating", usual.rating)),
        int(row.get("reviews", usual.reviews)),
        str(row.get("words", usual.words)),
        str(row.get("department", _DEPARTMENT.get(kind, "Home"))),
    )


def money(cents: int) -> str:
    """`€12.50`"""
    return f"€{cents // 100}.{cents % 100:02d}"
