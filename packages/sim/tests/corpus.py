"""Where recorded screens of real apps are, for the tests that walk through them; they are kept elsewhere."""

import os
from pathlib import Path

import pytest


def _find() -> Path | None:
    named = os.environ.get("HANDRAIL_CORPUS")
    place = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "corpus"
    return place if place.is_dir() else None


CORPUS: Path | None = _find()
needs_corpus = pytest.mark.skipif(
    CORPUS is None, reason="no corpus of dumps: set HANDRAIL_CORPUS to its folder"
)
