"""Things a shop sells, drawn in the language of `sketch` on a grid of 48 by 48."""

from __future__ import annotations

import re
from random import Random
from zlib import crc32

from PIL import Image, ImageDraw

from handrail_sim.paint.ground import gradient
from handrail_sim.paint.palette import hue
from handrail_sim.paint.sketch import Sketch

_SIDE = 480
_OVERSAMPLING = 2

# The first ink of each drawing is the product's own colour, chosen by its name.
DRAWINGS = {
    "backpack": "b 12 14 24 28 6; w 2; a 24 13 5 180 360; #2a2c34; b 16 28 16 11 2; #f2c14e; b 16 31 "
    "16 1.6 0; #2a2c34; b 15 20 18 1.5 0",
    "bicycle": "w 2; l 12 31 20 18 32 18 24 31 12 31; l 24 31 19 15; l 32 18 30 13 35 13; l 32 18 36 31; "
    "#2a2c34; w 1.8; c 12 31 7.5; c 36 31 7.5; w 2.6; l 16 14.5 22 14.5",
    "book": "b 11 8 26 33 2; #f7f3e8; b 13 36 24 3.6 0.6; #ffffff; b 16 14 16 2.2 0.5; b 16 19 11 1.8 0.5",
    "bottle": "b 18 16 12 27 3.5; b 21 8 6 10 1; #2a2c34; b 20.4 5 7.2 5 1; #ffffff; b 18 25 12 9 0",
    "box": "#cfa374; p 24 8 41 16 24 24 7 16; #b98b5e; p 7 16 24 24 24 43 7 34; #a0754b; "
    "p 41 16 24 24 24 43 41 34; #f0dcb8; p 15 12.2 19 10.4 36 18.4 36 24 32 26 32 20.2",
    "camera": "b 7 15 34 23 3; #2a2c34; b 17 11 14 6 1.5; d 24 26.5 9; #6f8fb8; d 24 26.5 6; #d7e6f5; "
    "d 22 24.5 1.8; #f2c14e; d 36 20 1.5",
    "chair": "b 14 7 20 18 3; b 12 25 24 5 2; #6b4a32; w 2.4; l 14 31 12 43; l 34 31 36 43; l 19 31 19 "
    "40; l 29 31 29 40",
    "clock": "d 24 24 17; #ffffff; d 24 24 14; #2a2c34; w 2; l 24 24 24 14; l 24 24 31 28; d 24 24 1.6",
    "cup": "b 11 14 22 24 4; w 3; a 32.6 25 6 268 92; #ffffff; b 11 20 22 3 0; #d9cdbf; o 22 40.5 14 2.2",
    "glasses": "w 2.4; c 15 25 7; c 33 25 7; l 22 24 26 24; l 8 23 5 20; l 40 23 43 20",
    "headphones": "w 3.4; a 24 25 14 180 360; b 7 24 7 13 3; b 34 24 7 13 3; #2a2c34; b 12 25 3 11 "
    "1.2; b 33 25 3 11 1.2",
    "keyboard": "b 4 16 40 18 2.5; #ffffff; b 8 19.5 4 3.4 0.6; b 14 19.5 4 3.4 0.6; b 20 19.5 4 3.4 "
    "0.6; b 26 19.5 4 3.4 0.6; b 32 19.5 8 3.4 0.6; b 8 25.5 7 3.4 0.6; b 17 25.5 15 3.4 0.6; b 34 25.5 "
    "6 3.4 0.6",
    "kettle": "p 15 18 33 18 37 41 11 41; b 11 38 26 4 2; #2a2c34; a 24 18 9 180 360; d 24 15.5 2; w "
    "3; l 35 24 42 19; #ffffff; b 17 23 2.4 13 1.2",
    "knife": "#c9ced6; p 6 24 31 18 31 27; #6b4a32; b 31 18.5 13 6 2",
    "lamp": "p 17 8 31 8 38 24 10 24; #f7e3a1; b 12 24 24 2 0; #6b4a32; b 22.8 26 2.4 13 0; b 15 39 18 3 1.5",
    "laptop": "b 10 11 28 20 2; #dfe9f5; b 12.5 13.5 23 15 0.5; #8b93a1; p 6 34 42 34 45 39 3 39",
    "mouse": "b 15 9 18 30 9; #ffffff; b 23.2 14 1.8 7 0.9; #2a2c34; b 15 22.5 18 1 0",
    "pan": "d 20 27 13; #2a2c34; d 20 27 10; w 4; l 31 20 43 12",
    "phone": "b 14 5 20 38 3.5; #dfe9f5; b 16 9 16 29 0.8; #7fa3d8; p 16 30 22 22 27 28 32 20 32 38 16 "
    "38; #2a2c34; b 21 6.5 6 1 0.5",
    "plant": "#4f8a4c; o 18 17 5 10; o 30 17 5 10; o 24 13 5 11; #3d7040; b 23.2 18 1.6 12 0; #c1714a; "
    "p 14 28 34 28 31 43 17 43; b 12.6 26 22.8 4.4 1",
    "shirt": "p 16 9 32 9 43 17 38 24 34 21.5 34 41 14 41 14 21.5 10 24 5 17; #f5f3ef; o 24 9 5.4 4",
    "shoe": "p 6 20 15 20 22 25 34 29 42 31 42 37 6 37; #ffffff; b 5 35.5 38 4.2 2; w 1.5; l 19 25 23 "
    "22; l 23 27.4 27 24.4; l 27 29.2 31 26.4",
    "sofa": "b 8 15 32 16 4; b 4 21 9 16 3.5; b 35 21 9 16 3.5; b 8 27 32 10 2; #2a2c34; b 9 37 3 4 0; "
    "b 36 37 3 4 0; #ffffff; b 23.6 17 0.9 12 0",
    "speaker": "b 14 6 20 36 3; #2a2c34; d 24 29 8; d 24 14 4; #8b93a1; d 24 29 3.5; d 24 14 1.6",
    "towel": "b 10 10 28 30 2; #ffffff; b 10 31 28 2 0; b 10 35 28 2 0; #6b4a32; b 6 8 36 3 1.5",
    "umbrella": "a 24 25 9 180 360; p 6 26 8 18 14 11 24 8 34 11 40 18 42 26; #2a2c34; w 2; l 24 26 24 "
    "39; a 27 39 3 0 180",
    "watch": "#2a2c34; b 18 4 12 40 3; #c9ced6; d 24 24 12; #ffffff; d 24 24 9.5; #2a2c34; w 1.6; l 24 "
    "24 24 18; l 24 24 28.5 26",
}

_WORDS = {
    "bag": "backpack",
    "rucksack": "backpack",
    "bike": "bicycle",
    "notebook": "book",
    "novel": "book",
    "flask": "bottle",
    "mug": "cup",
    "tea": "cup",
    "coffee": "cup",
    "teapot": "kettle",
    "earbuds": "headphones",
    "light": "lamp",
    "torch": "lamp",
    "candle": "lamp",
    "computer": "laptop",
    "tablet": "phone",
    "charger": "phone",
    "pot": "pan",
    "skillet": "pan",
    "cactus": "plant",
    "flower": "plant",
    "jumper": "shirt",
    "jacket": "shirt",
    "coat": "shirt",
    "sweater": "shirt",
    "boots": "shoe",
    "trainers": "shoe",
    "stool": "chair",
    "desk": "chair",
    "radio": "speaker",
    "blanket": "towel",
    "cushion": "towel",
    "scarf": "towel",
    "sunglasses": "glasses",
    "alarm": "clock",
}

_COLOURS = {
    "black": (52, 54, 62),
    "blue": (52, 98, 186),
    "brown": (128, 88, 58),
    "copper": (184, 110, 66),
    "cream": (222, 208, 176),
    "green": (62, 132, 84),
    "grey": (126, 132, 142),
    "linen": (206, 192, 166),
    "oak": (176, 132, 82),
    "orange": (220, 122, 46),
    "pink": (214, 120, 150),
    "red": (186, 58, 54),
    "silver": (164, 172, 184),
    "white": (214, 216, 222),
    "wool": (196, 178, 152),
    "yellow": (216, 176, 54),
}


def product(name: str, random: Random) -> Image.Image:
    """The thing on a pale ground with a soft shadow below it."""
    side = _SIDE * _OVERSAMPLING
    image = gradient((side, side), (248, 247, 244), (228, 229, 234))
    draw = ImageDraw.Draw(image)
    scale = side / 60
    draw.ellipse((14 * scale, 47.4 * scale, 46 * scale, 51 * scale), fill=(208, 208, 212))
    own = _colour_of(name) or hue(crc32(name.encode()) % 997 + random.randrange(3), 0.45, 0.5)[:3]
    sketch = Sketch(draw, scale, ink=own, ground=(236, 237, 240), origin=6)
    sketch.path(DRAWINGS[_drawing_of(name)])
    return image.reduce(_OVERSAMPLING)


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z]+", name.lower())


def _colour_of(name: str) -> tuple[int, int, int] | None:
    """A blue mug is blue."""
    return next((_COLOURS[word] for word in _words(name) if word in _COLOURS), None)


def _drawing_of(name: str) -> str:
    for word in _words(name):
        for candidate in (word, word.removesuffix("s")):
            if candidate in DRAWINGS:
                return candidate
            if candidate in _WORDS:
                return _WORDS[candidate]
    return "box"
