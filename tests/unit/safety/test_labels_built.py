"""The forms of words that the build keeps are those that the table gives now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.safety import labels


def test_kept_forms_are_used_and_those_of_other_words_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = labels.word_forms()
    rows = list(
        zip(computed["forms"], zip(computed["languages"], computed["keys"], strict=True), strict=True)
    )
    monkeypatch.setattr(labels, "WORD_FORMS", tmp_path / "forms.json")
    for kept, expected in (
        (None, rows),
        ("{", rows),
        (json.dumps({**computed, "source": "another table"}), rows),
        (
            json.dumps({**computed, "forms": ["pay"], "languages": ["en"], "keys": ["pay"]}),
            [("pay", ("en", "pay"))],
        ),
    ):
        labels._Words.load.cache_clear()
        if kept is not None:
            labels.WORD_FORMS.write_text(kept, encoding="utf-8")
        assert labels._Words.load().phrases == expected
    labels._Words.load.cache_clear()
