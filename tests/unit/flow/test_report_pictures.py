"""Pictures of a report: each once, small, and never a reason to fail."""

from __future__ import annotations

import base64
import io
import re
from random import Random

from PIL import Image

from handrail.flow.report.page import ReportAlbum
from handrail.flow.run_record import FlowRecord, Picture
from tests.unit.flow.records_made import passing, step


def picture(colour: str, width: int = 1080, height: int = 2400) -> Picture:
    out = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return Picture(out.getvalue(), width, height)


def noise(seed: int) -> Picture:
    """As large as a picture can be: nothing in it can be foretold."""
    out = io.BytesIO()
    Image.frombytes("RGB", (200, 200), Random(seed).randbytes(120_000)).save(out, "PNG")
    return Picture(out.getvalue(), 200, 200)


def flow_of(*pictures: Picture) -> FlowRecord:
    record = passing()
    record.steps = [step(index, "x", "tap", before=one) for index, one in enumerate(pictures)]
    return record


def embedded(album: ReportAlbum) -> list[Image.Image]:
    uris = re.findall(r'href="data:image/webp;base64,([^"]+)"', album.definitions())
    return [Image.open(io.BytesIO(base64.b64decode(uri))) for uri in uris]


def test_many_pictures_become_coarser_until_they_fit() -> None:
    pictures = [noise(seed) for seed in range(8)]
    roomy = ReportAlbum([flow_of(*pictures)])
    fine = sum(len(image.fp.getvalue()) for image in embedded(roomy))
    tight = ReportAlbum([flow_of(*pictures)], budget_bytes=fine)
    assert len(embedded(tight)) == 8
    assert len(tight.definitions()) < fine + 2_000 < len(roomy.definitions())


def test_pictures_that_fit_at_no_grade_are_left_out_and_that_is_said() -> None:
    pictures = [noise(seed) for seed in range(8)]
    album = ReportAlbum([flow_of(*pictures)], budget_bytes=20_000)
    assert len(album.definitions()) < 22_000
    assert "too large" in str(album.place(pictures[-1]))


def test_bytes_that_are_no_picture_are_said_to_be_none() -> None:
    broken = Picture(b"\x89PNG\r\n\x1a\nnot really", 10, 10)
    album = ReportAlbum([flow_of(broken)])
    assert embedded(album) == []
    assert album.place(broken) == "the picture can't be read"


def test_a_screen_that_may_not_be_shown_says_why() -> None:
    hidden = Picture(None, why_not="the app forbids pictures of this screen")
    assert ReportAlbum([flow_of(hidden)]).place(hidden) == "the app forbids pictures of this screen"
