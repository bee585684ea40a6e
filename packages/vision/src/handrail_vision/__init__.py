"""Texts, codes and shapes on screens that have no tree, read on this machine.

The core finds `new_reader` by the entry point `vision` of `handrail.runners`. Nothing heavy is imported here:
RapidOCR, ONNX Runtime and OpenCV are loaded by the first picture that has to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from handrail.screen.node import Bounds, DrawnPart

if TYPE_CHECKING:
    from handrail_vision.reader import Reader

__version__ = "0.2.0"


class LazyReader:
    """One surface's reader, made when the first picture has to be looked at."""

    @cached_property
    def reader(self) -> Reader:
        from handrail_vision.reader import Reader  # noqa: PLC0415 - OpenCV: 40 MB

        return Reader()

    def is_same(self, png: bytes, other: bytes) -> bool:
        return self.reader.is_same(png, other)

    def read(self, png: bytes, boxes: Sequence[Bounds], width: int, height: int) -> list[list[DrawnPart]]:
        return self.reader.read(png, boxes, width, height)


def new_reader() -> LazyReader | None:
    """A reader for one surface; None where the extra `handrail[vision]` is not installed."""
    if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
        return None
    return LazyReader()
