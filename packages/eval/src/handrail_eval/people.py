"""Invented people for templates: no two of one world share a first name, a last name or a number."""

from __future__ import annotations

from random import Random

_FIRST_NAMES = (
    "Adela Balthasar Cressida Dagny Emrys Fenella Gideon Hester Isolde Jorun Kasimir Linnet Magnus "
    "Nerissa Osric Philippa Quill Runa Sable Torben Umber Viola Wystan Xenia Yorick Zella Ambrose "
    "Briony Caspian Damaris Eskil Floriane Griffin Hanne Ingram Juniper Keziah Lambert Mirabel Nils "
    "Ottilie Piers Rosamund Stellan Thora Ursel Vesper Wilmot Ysolde Zacharie"
)
FIRST = tuple(_FIRST_NAMES.split())
_LAST_NAMES = (
    "Applegarth Birchwood Coldwater Drystone Elderfield Farthing Gullswick Hazelmere Inglenook "
    "Jackdaw Kingfisher Lampwright Millrace Nightjar Oxbow Pennywhistle Quarrington Ropewalk "
    "Saltcote Thistledown Umberleigh Vinegarth Waxwing Yarrowby Zinnhall Ashbourne Brackenridge "
    "Cobblestone Dovecote Eiderdown Fernhollow Gatehouse Hedgerow Ivybridge Juniperley Kelpwater "
    "Larkmoor Marrowfat Netherby Orchardson Plumstead Quicksand Reedham Stonecrop Tidewell "
    "Underbough Vellacott Windlass Yewdale Zephyrine"
)
LAST = tuple(_LAST_NAMES.split())
COMPANIES = (
    "Ferry",
    "Bakery",
    "Cycles",
    "Dental",
    "Heating",
    "Opticians",
    "Garage",
    "Books",
    "Kites",
    "Tailors",
)

Person = dict[str, str]


class InventedPeople:
    """Hands out persons until there is none left: fifty."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._first = random.sample(FIRST, len(FIRST))
        self._last = random.sample(LAST, len(LAST))
        self._tails = random.sample(
            range(310, 1000), len(FIRST)
        )  # below are those of every phone's first people

    def next(self) -> Person:
        """`name`, `first`, `last`, `phone`, `email`, `company`."""
        first, last = self._first.pop(), self._last.pop()
        return {
            "name": f"{first} {last}",
            "first": first,
            "last": last,
            "phone": f"07700 900{self._tails.pop()}",  # 07700 900000 to 900999 are kept free for fiction
            "email": f"{first}.{last}@example.org".lower(),
            "company": f"{last} {self._random.choice(COMPANIES)}",
        }
