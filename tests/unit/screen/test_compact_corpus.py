"""The goals of the compact text, over real dumps."""

import ast
from functools import cache
from pathlib import Path

import pytest
from bench import raw_dump, screen_quality, seed_outline
from bench.raw_dump import read
from bench.screen_quality import Quality, judge, known_by
from rs_bpe.bpe import openai

from handrail.screen.compact import CompactOptions, render
from handrail.screen.elements import elements, fresh_refs
from handrail.screen.parse import parse
from tests.cases import each
from tests.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus
FOLDERS = ("uiautomator", "pairs", "second")


@cache
def measured(folder: str) -> tuple[list[int], Quality]:
    """Token counts in ascending order, header included, and the quality of all screens together."""
    tokens, quality = [], Quality()
    count = openai.o200k_base().count
    for file in sorted((CORPUS or Path()).joinpath(folder).glob("*.xml")):
        raw = file.read_bytes()
        screen = parse(raw)
        found = elements(screen)
        shown = render(screen, found, fresh_refs(found), CompactOptions(revision=12))
        tokens.append(count(shown.text))
        quality = quality + judge(read(raw), shown.text, known_by(shown.ref_map))
    return sorted(tokens), quality


@pytest.mark.parametrize(
    ("folder", "half", "most"), [("uiautomator", 150, 300), ("pairs", 170, 275), ("second", 195, 340)]
)
def test_a_screen_costs_few_tokens(folder: str, half: int, most: int) -> None:
    tokens, _ = measured(folder)
    assert tokens[len(tokens) // 2] <= half
    assert tokens[len(tokens) * 9 // 10] <= most


@each("folder", FOLDERS)
def test_every_visible_actionable_node_can_be_reached(folder: str) -> None:
    _, quality = measured(folder)
    assert quality.wanted > 900
    assert quality.missed == ()


@each(("folder", "part"), [("uiautomator", 0.985), ("pairs", 0.985), ("second", 0.985)])
def test_nearly_all_text_is_kept(folder: str, part: float) -> None:
    _, quality = measured(folder)
    assert quality.kept >= quality.pieces * part, quality.lost


@each(("folder", "part"), [("uiautomator", 0.035), ("pairs", 0.075), ("second", 0.035)])
def test_few_refs_have_neither_label_nor_id(folder: str, part: float) -> None:
    _, quality = measured(folder)
    assert quality.nameless <= quality.refs * part


def test_the_judge_shares_no_code_with_what_it_judges() -> None:
    for module in (raw_dump, screen_quality, seed_outline):
        source = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        named = [one.module or "" for one in ast.walk(source) if isinstance(one, ast.ImportFrom)]
        named += [name.name for one in ast.walk(source) if isinstance(one, ast.Import) for name in one.names]
        assert not [name for name in named if name.startswith("handrail")]
