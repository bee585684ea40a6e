"""The thirty people a new phone knows. All invented; the numbers are from ranges kept free for fiction."""

from __future__ import annotations

# first name, last name, company, starred
PEOPLE = (
    ("Alba", "Thornquill", "Northwick Bakery", False),
    ("Barnaby", "Fenwhistle", "", False),
    ("Clementine", "Ashgrove", "Ashgrove & Daughters", True),
    ("Dorian", "Mapleby", "", False),
    ("Edwina", "Larkspur", "Larkspur Dental", False),
    ("Fabian", "Quillfeather", "", False),
    ("Greta", "Moonhollow", "Hollow Road School", False),
    ("Horatio", "Pebblewick", "", True),
    ("Imelda", "Saltmarsh", "Saltmarsh Ferries", False),
    ("Jasper", "Oakenshade", "", False),
    ("Kestrel", "Windermoor", "", False),
    ("Leopold", "Brambleton", "Brambleton Cycles", False),
    ("Marigold", "Tansley-Reed", "", False),
    ("Nigella", "Frostpike", "Frostpike Heating", False),
    ("Octavia", "Dunmarrow", "", False),
    ("Percival", "Hathersedge", "", False),
    ("Quentin", "Silverbrook", "Silverbrook Library", False),
    ("Rosalind", "Copperfen", "", True),
    ("Sylvester", "Greywater", "", False),
    ("Tabitha", "Harrowgate", "Harrowgate Taxis", False),
    ("Ulysses", "Merriwether", "", False),
    ("Verity", "Stonebridge", "", False),
    ("Wilfred", "Nettlecombe", "Nettlecombe Garage", False),
    ("Xanthe", "Riverdene", "", False),
    ("Yolanda", "Cloverfield", "", False),
    ("Zebedee", "Winterbourne", "", False),
    ("Anselm", "Foxglove", "Foxglove Opticians", False),
    ("Bettina", "Hollowell", "", False),
    ("Cosmo", "Larchmount", "", False),
    ("Delphine", "Underhill", "Underhill Post Office", False),
)


def number(index: int) -> str:
    """A number no exchange will ever connect: 07700 900000 to 900999 are reserved for drama."""
    return f"07700 900{100 + index * 7}"
