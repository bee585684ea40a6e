"""The snippets of docs/training.md run as they stand, and print what the page says of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "training.md"


def snippets() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def said(code: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.splitlines()


def test_one_phone_is_stepped_to_a_verdict() -> None:
    wording, at_first, opened, verdict = said(snippets()[0])
    assert wording.startswith("Start a timer of")
    assert at_first.endswith(" 0")
    assert opened == "com.google.android.deskclock 0.0 False False True"
    assert verdict.startswith("0.0 True clock.timer is")


def test_only_the_phone_that_was_acted_on_shows_it() -> None:
    [apps] = said(snippets()[1])
    assert apps.count("com.android.settings") == 1


def test_there_is_no_other_snippet() -> None:
    assert len(snippets()) == 2
