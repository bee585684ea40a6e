"""The goals of the compact text, over real dumps."""

from functools import cache
from pathlib import Path

import pytest
from bench.screen_quality import Quality, judge
from rs_bpe.bpe import openai

from handrail.tree.compact import CompactOptions, render
from handrail.tree.element import elements, fresh_refs
from handrail.tree.parse import parse
from tests.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus
FOLDERS = ("uiautomator", "pairs")


@cache
def measured(folder: str) -> tuple[list[int], Quality]:
    """Token counts in ascending order, header included, and the quality of all screens together."""
    tokens, quality = [], Quality()
    count = openai.o200k_base().count
    for file in sorted((CORPUS or Path()).joinpath(folder).glob("*.xml")):
        screen = parse(file.read_bytes())
        found = elements(screen)
        shown = render(screen, found, fresh_refs(found), CompactOptions(revision=12))
        tokens.append(count(shown.text))
        quality = quality + judge(screen, shown)
    return sorted(tokens), quality


@pytest.mark.parametrize(("folder", "half", "most"), [("uiautomator", 150, 300), ("pairs", 168, 245)])
def test_a_screen_costs_few_tokens(folder: str, half: int, most: int) -> None:
    tokens, _ = measured(folder)
    assert tokens[len(tokens) // 2] <= half
    assert tokens[len(tokens) * 9 // 10] <= most


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_visible_actionable_node_can_be_reached(folder: str) -> None:
    _, quality = measured(folder)
    assert quality.wanted > 900
    assert quality.missed == ()


@pytest.mark.parametrize(("folder", "part"), [("uiautomator", 0.985), ("pairs", 0.95)])
def test_nearly_all_text_is_kept(folder: str, part: float) -> None:
    _, quality = measured(folder)
    assert quality.kept >= quality.pieces * part, quality.lost


@pytest.mark.parametrize(("folder", "part"), [("uiautomator", 0.05), ("pairs", 0.10)])
def test_few_refs_have_no_name(folder: str, part: float) -> None:
    _, quality = measured(folder)
    assert quality.nameless <= quality.refs * part
