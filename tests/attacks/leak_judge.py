"""Judges of secrets that share no code with redaction: they search whatever left the engine, byte by byte.

What stood on the phone is asked of the phone itself, never of our answers.
"""

from __future__ import annotations

import base64
import io
import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from PIL import Image

from handrail_sim.phone import Phone

SYMBOLS = "#!+=_~^@"
_BOX = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_WORDS = ("text", "content-desc", "hint", "tooltip-text", "pane-title", "state-description")
_EDGE = 2  # pixels: a frame that is drawn around a field is no letter


def secret(rng: random.Random, length: int = 12) -> str:
    """Any four characters of it have a symbol among them, so that no hash or base64 has them by chance."""
    letters = string.ascii_letters + string.digits
    return "".join(rng.choice(SYMBOLS if at % 3 == 1 else letters) for at in range(length))


def runs(value: str) -> set[str]:
    return {value[at : at + 4] for at in range(len(value) - 3)}


def leaks_in(text: str, value: str) -> list[str]:
    """What of the secret stands in a text, in plain words or as JSON writes them."""
    return sorted(run for run in runs(value) if run in text or json.dumps(run)[1:-1] in text)


def leaks_in_files(home: Path, value: str) -> list[str]:
    """Every file under the home, the database with its write-ahead log, blobs and reports among them."""
    hits = []
    for file in sorted(home.rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        hits += [f"{run!r} in {file.name}" for run in sorted(runs(value)) if run.encode() in data]
    return hits


def without_pictures(written: Any) -> tuple[Any, list[bytes]]:
    """JSON data without its pictures, and the pictures."""
    pictures: list[bytes] = []

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            for name in ("screenshotBase64", "data"):
                if isinstance(picture := value.get(name), str) and picture.startswith("iVBOR"):
                    pictures.append(base64.b64decode(picture))
                    value = {key: inner for key, inner in value.items() if key != name}
            return {key: walk(inner) for key, inner in value.items()}
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    return walk(written), pictures


def boxes_with(phone: Phone, value: str) -> Iterator[tuple[int, int, int, int]]:
    """Where the phone itself says that the secret or a part of it stands now."""
    phone.catch_up()
    for node in ET.fromstring(phone.dump(all_windows=True)).iter("node"):
        if any(run in node.get(word, "") for run in runs(value) for word in _WORDS):
            found = _BOX.fullmatch(node.get("bounds", ""))
            assert found
            left, top, right, bottom = map(int, found.groups())
            yield (left, top, right, bottom)


def is_uniform(png: bytes, box: tuple[int, int, int, int], width: int) -> bool:
    """One colour: nothing can be read there."""
    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    scale = image.width / width
    left, top, right, bottom = (round(edge * scale) for edge in box)
    inner = image.crop((left + _EDGE, top + _EDGE, max(left + _EDGE + 1, right - _EDGE), bottom - _EDGE))
    return len(inner.getcolors(1 << 20) or ()) <= 1


_PASSING = re.compile(
    r'"(?:actionId|action_id|timestamp|timingsMs|timings_ms|capturedAt)":\s*(?:"[^"]*"|\{[^}]*\})'
    r'|"ms":\s*[\d.]+|"reads":\s*\d+'
)


def comparable(envelope: Any, guess: str) -> str:
    """An answer without ids and times, and without the words that its caller has just said."""
    text = _PASSING.sub("", envelope.to_json())
    text = re.sub(r"\b\d{1,2}:\d{2}\b", "00:00", text)  # the status bar's clock
    # How often the phone was read before the question depends on its pace; only a change is an answer.
    text = re.sub(r'("revision":"|#\w{6} )r\d+', r"\1r", text)
    numbers = [int(number) for number in re.findall(r'"revision_\w+":"r(\d+)"', text)]
    for number in sorted(set(numbers), reverse=True):
        text = text.replace(f'":"r{number}"', f'":"r+{number - min(numbers)}"')
    return text.replace(json.dumps(guess, ensure_ascii=False)[1:-1], "\0").replace(guess, "\0")
