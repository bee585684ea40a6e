"""Lines of text in a picture. Two recognisers: each reads the scripts in which it was measured to be better.

RapidOCR (PP-OCR models in its wheel) finds all lines and reads Latin, Chinese and Japanese. What it is not
sure of is read by Tesseract, one pass for each further script whose language data is installed, and the
surest reading counts. Without Tesseract those lines have no text, and a press on them asks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from handrail.screen.node import Bounds

Picture = NDArray[np.uint8]
"""Rows of pixels, blue, green, red."""
SURE = 0.9
"""RapidOCR's confidence from which a line needs no second reading."""
THREADS = 2
NARROW, TOO_NARROW = 0.85, 0.6
"""A reading whose letters would fill less than this share of the line may have, or has, left some out."""
KEPT = 0.8
"""RapidOCR's confidence from which its reading stays if no other one is better."""
TESSERACT_SURE = 0.85
TESSERACT_LEAST = {"ara": 0.8, "hin": 0.8}
"""Tesseract sees these letters in other scripts too; others count from `USUAL_LEAST` on."""
USUAL_LEAST = 0.6
AGREED = 0.8
"""Tesseract is unsure of most Greek words and mostly right: two readings that agree are believed."""
TILTED = (3, 0.05)
"""Pixels, and share of its length, that a line on a screen rises at most."""
TALLEST = 1.6
"""Height to width of a line with a single character."""
EDGE_INK = 60
SINGLE_SURE = 0.95
MOST_SINGLE = 40
LINE_PX = 44
GREEK_LINE_PX = 36
"""Height of the lines that Tesseract gets; its models were trained near it."""
TIMEOUT_S = 20.0
_GREEK = re.compile("[\u0370-\u03ff]")
"""RapidOCR knows the letters and reads them badly."""
_UNSURE = re.compile("[\u0370-\u03ff\u0400-\u06ff\u0900-\u097f\uac00-\ud7af]")
"""Scripts in which RapidOCR's own reading is not believed."""
_SCRIPTS = {
    "rus+ukr": re.compile("[\u0400-\u052f]"),
    "ell": re.compile("[\u0370-\u03ff]"),
    "kor": re.compile("[\uac00-\ud7af\u1100-\u11ff\u3130-\u318f]"),
    "ara": re.compile("[\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufefc]"),
    "hin": re.compile("[\u0900-\u097f]"),
}
"""Tesseract's language data and the letters that a reading by it must consist of."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, in pixels of the picture."""

    bounds: Bounds
    text: str
    confidence: float
    engine: str


class Recogniser:
    """Both engines. Loaded by the first picture; one picture at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ocr: Any = None
        self._recent: list[str] = []
        """Languages in which something was read, the last one first."""

    def lines(self, picture: Picture) -> list[Line]:
        with self._lock:
            boxes = self._boxes(picture)
            lines = self._read(picture, list(boxes))
        return [Line(line.bounds, "", 0.0, "none") if boxes[line.bounds] else line for line in lines]

    def read_single(self, picture: Picture, boxes: Sequence[Bounds]) -> list[Line]:
        """What is written in these boxes, where that is certain: the detector misses single characters."""
        with self._lock:
            lines = self._read(picture, boxes[:MOST_SINGLE], second=False)
        return [line for line in lines if line.confidence >= SINGLE_SURE and line.text.isalnum()]

    def _read(self, picture: Picture, boxes: Sequence[Bounds], *, second: bool = True) -> list[Line]:
        if boxes:
            crops = [picture[box.top : box.bottom, box.left : box.right] for box in boxes]
            answer = self._engine().recognize_txt(crops)
            lines = [
                Line(box, text.strip(), float(score), "rapidocr")
                for box, text, score in zip(boxes, answer.txts, answer.scores, strict=True)
            ]
            return self._second_readings(lines, crops) if second else lines
        return []

    def _engine(self) -> Any:
        if self._ocr is None:
            from rapidocr import RapidOCR  # noqa: PLC0415 - half a second and 70 MB

            self._ocr = RapidOCR(
                params={
                    "Global.use_cls": False,
                    "Global.log_level": "error",
                    "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
                }
            )
        return self._ocr

    def _boxes(self, picture: Picture) -> dict[Bounds, bool]:
        """Each line's box, and whether it is tilted: then its letters are surely read as others."""
        answer = self._engine()(picture, use_det=True, use_cls=False, use_rec=False)
        corners_of_lines = getattr(answer, "boxes", None)
        height, width = picture.shape[:2]
        boxes: dict[Bounds, bool] = {}
        for corners in corners_of_lines if corners_of_lines is not None else ():
            left, top = np.floor(corners.min(axis=0)).astype(int)
            right, bottom = np.ceil(corners.max(axis=0)).astype(int)
            box = Bounds(
                max(0, int(left)), max(0, int(top)), min(width, int(right)), min(height, int(bottom))
            )
            if box.width >= 3 and box.height >= 5:
                across, down = np.abs(corners[1] - corners[0])
                boxes[box] = bool(down > TILTED[0] + TILTED[1] * across)
        return boxes

    def _second_readings(self, lines: list[Line], crops: Sequence[Picture]) -> list[Line]:
        doubtful = [number for number, line in enumerate(lines) if not is_sure(line)]
        if not doubtful or not languages():
            return [_upright(_kept_or_unread(line)) for line in lines]
        best = {number: Line(lines[number].bounds, "", 0.0, "none") for number in doubtful}
        for language in sorted(languages(), key=self._rank):
            open_ones = [
                number
                for number in doubtful
                if best[number].confidence < TESSERACT_SURE
                and (language == "ell" or not _GREEK.search(lines[number].text))
            ]
            if not open_ones:
                continue
            read = read_lines([crops[number] for number in open_ones], language)
            for number, (text, measured) in zip(open_ones, read, strict=True):
                least = TESSERACT_LEAST.get(language, USUAL_LEAST)
                agrees = language == "ell" and _agrees(lines[number].text, text)
                confidence = max(measured, AGREED) if agrees else measured
                if confidence > max(least, best[number].confidence):
                    best[number] = Line(lines[number].bounds, text, confidence, f"tesseract {language}")
                    self._recent = [language, *(other for other in self._recent if other != language)]
        for number, second in best.items():
            first = _kept_or_unread(lines[number])
            least = TESSERACT_SURE if first.confidence >= KEPT else 0.01
            best[number] = second if second.confidence >= least else first
        return [_upright(best.get(number, line)) for number, line in enumerate(lines)]

    def _rank(self, language: str) -> int:
        return self._recent.index(language) if language in self._recent else len(self._recent)


def is_sure(line: Line) -> bool:
    """Whether RapidOCR's reading stands: confident, in a script that it knows, and as wide as the line."""
    return line.confidence >= SURE and not _UNSURE.search(line.text) and _filled_share(line) >= NARROW


def _filled_share(line: Line) -> float:
    """How wide this text would be, in a usual font, of how wide the line is."""
    ems = sum(1.0 if unicodedata.east_asian_width(char) in "WF" else _width(char) for char in line.text)
    return (ems + 0.25) * line.bounds.height / max(1, line.bounds.width)


def _width(char: str) -> float:
    return (
        0.3
        if char in " iljtfrI.,:;|!'()[]"
        else 0.75
        if char in "mwMW@%"
        else 0.6
        if char.isupper()
        else 0.48
    )


def _kept_or_unread(line: Line) -> Line:
    """A reading that leaves nothing out. Else something is written there, and nobody believes the guess."""
    is_foreign = _UNSURE.search(line.text) is not None
    if line.text and not is_foreign and line.confidence >= KEPT and _filled_share(line) >= TOO_NARROW:
        return line
    return Line(line.bounds, "" if is_foreign else line.text, min(line.confidence, 0.5), "none")


@cache
def languages() -> tuple[str, ...]:
    """Of `_SCRIPTS`, those that the installed Tesseract has data for."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=False)  # noqa: S603
    there = set(listed.stdout.split())
    known = ("+".join(part for part in name.split("+") if part in there) for name in _SCRIPTS)
    return tuple(filter(None, known))


def read_lines(crops: Sequence[Picture], language: str) -> list[tuple[str, float]]:
    """Each line's text and confidence by one call of Tesseract; ("", 0.0) for what is not in that script."""
    with tempfile.TemporaryDirectory(prefix="handrail-vision-") as folder:
        names = []
        for number, crop in enumerate(crops):
            names.append(str(Path(folder, f"{number}.png")))
            cv2.imwrite(names[-1], _dark_on_light(crop, GREEK_LINE_PX if language == "ell" else LINE_PX))
        listing = Path(folder, "lines.txt")
        listing.write_text("\n".join(names))
        command = [
            shutil.which("tesseract") or "tesseract",
            str(listing),
            "-",
            "-l",
            language,
            "--psm",
            "7",
            "tsv",
        ]
        env = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=env
            )
        except (OSError, subprocess.TimeoutExpired):
            return [("", 0.0)] * len(crops)
    words: dict[int, list[tuple[str, float]]] = {}
    for row in done.stdout.splitlines():
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            words.setdefault(int(cells[1]) - 1, []).append((cells[11].strip(), float(cells[10]) / 100))
    return [_joined(words.get(number, []), _letters_of(language)) for number in range(len(crops))]


def _upright(line: Line) -> Line:
    """A line that is turned is not read, whatever came out."""
    is_turned = line.bounds.height > TALLEST * line.bounds.width
    return Line(line.bounds, "", 0.0, "none") if is_turned else line


def _agrees(first: str, second: str) -> bool:
    """Whether the Greek letters that RapidOCR saw are in this reading, in this order."""
    letters = _GREEK.findall(unicodedata.normalize("NFD", first).casefold())
    rest = iter(unicodedata.normalize("NFD", second).casefold())
    return len(letters) >= 3 and all(letter in rest for letter in letters)


def _letters_of(language: str) -> re.Pattern[str]:
    return next(
        script for name, script in _SCRIPTS.items() if set(language.split("+")) <= set(name.split("+"))
    )


def _joined(words: Sequence[tuple[str, float]], script: re.Pattern[str]) -> tuple[str, float]:
    text = _plain(" ".join(word for word, _ in words))
    letters = [char for char in text if char.isalpha()]
    if not letters or sum(bool(script.match(char)) for char in letters) * 2 < len(letters):
        return "", 0.0
    total = sum(len(word) for word, _ in words)
    return text, sum(len(word) * confidence for word, confidence in words) / max(1, total)


def _plain(text: str) -> str:
    """Without marks of direction, which a reader adds and no screen shows."""
    return "".join(char for char in text if unicodedata.category(char) != "Cf" or char == "\u200d")


def _dark_on_light(crop: Picture, height: int) -> Picture:
    """As Tesseract likes a line: grey, of its size, with a margin, and without the edge of a button."""
    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY).astype(np.int16)
    ink = np.abs(grey - int(np.median(grey))).astype(np.uint8)
    ink = cv2.normalize(ink, None, 0, 255, cv2.NORM_MINMAX)
    count, labels = cv2.connectedComponents((ink > EDGE_INK).astype(np.uint8), connectivity=4)
    for label in {int(labels[y, x]) for y in (0, -1) for x in (0, -1)} - {0} if count > 1 else ():
        around = cv2.dilate((labels == label).astype(np.uint8), np.ones((3, 3), np.uint8))
        ink[around > 0] = 0  # what is outside a round corner
    grey = 255 - ink
    scale = height / max(1, grey.shape[0])
    how = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=how)
    return np.asarray(
        cv2.copyMakeBorder(grey, 10, 10, 12, 12, cv2.BORDER_CONSTANT, value=255), dtype=np.uint8
    )
