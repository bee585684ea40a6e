"""Refs on pairs of real screens, judged by rules that share nothing with the matching."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.cases import each
from tests.corpus import CORPUS, needs_corpus
from tests.judge.corpus_pairs import neighbours, recorded, wanted
from tests.judge.dumps import View
from tests.judge.judge import Page, objection
from tests.judge.verdicts import judge
from tests.judge.voyage import Voyage

FLAGS = Path(__file__).parent / "ref_flags.tsv"
"""Every flag that there was or is, and what became of it."""


@needs_corpus
@pytest.mark.parametrize(
    "line", list(wanted(CORPUS)) if CORPUS else [], ids=lambda line: line["label_before"]
)
def test_a_ref_that_once_moved_is_stale(line: dict[str, str]) -> None:
    assert CORPUS is not None
    registry = Registry()
    before = registry.rebuild(parse((CORPUS / line["before"]).read_bytes())).ref_map
    label = line["label_before"]
    refs = {ref: registry.label_of(node) for ref, node in before.items() if label in registry.label_of(node)}
    assert refs
    registry.rebuild(parse((CORPUS / line["after"]).read_bytes()))
    kept = [ref for ref in refs if ref in registry.refs]
    if line["wanted"] == "stale":
        assert not kept
    for ref in kept:
        assert registry.label_of(registry.refs[ref]) == refs[ref]


@needs_corpus
@pytest.mark.slow
def test_neighbouring_dumps_raise_no_flag_that_is_not_explained() -> None:
    assert CORPUS is not None
    found = judge(neighbours(CORPUS))
    print(found)  # noqa: T201
    with FLAGS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    explained = {(row["before"], row["after"], row["flag"]): int(row["flags_now"]) for row in rows}
    assert all(row["outcome"].startswith("explained" if int(row["flags_now"]) else "mended") for row in rows)
    assert found.pairs > 600
    assert Counter((flag.before, flag.after, flag.why) for flag in found.flags) == Counter(explained)
    assert found.share >= 0.92


@needs_corpus
def test_elements_that_are_the_same_keep_their_refs_on_recorded_steps() -> None:
    assert CORPUS is not None
    found = judge(recorded(CORPUS))
    print(found)  # noqa: T201
    assert found.pairs > 40
    assert not found.flags
    assert found.share >= 0.92


@needs_corpus
@pytest.mark.parametrize("every", [100, pytest.param(7, marks=pytest.mark.slow)])
def test_no_navigation_moves_a_ref_to_another_element(every: int) -> None:
    """A few of those that `make fuzz` tries."""
    assert CORPUS is not None
    voyage = Voyage(CORPUS, every)
    wrong = [error for seed in range(15 * len(voyage.screens)) for error in voyage.go(seed)]
    assert voyage.pairs > 40
    assert not wrong


def _view(text: str, box: tuple[int, int, int, int] = (0, 0, 500, 100), *children: View, **more: str) -> View:
    return View(
        "android.widget.Button", text=text, box=box, package=more.pop("package", "a"),
        flags=frozenset({"clickable"}), children=list(children), **more,
    )  # fmt: skip


@each(
    ("old", "new", "why"),
    [
        (_view("Buy"), _view("Buy"), ""),
        (_view("Inbox 3"), _view("Inbox 4"), ""),
        (_view("Buy"), _view("Sell"), "another label"),
        (_view("Buy"), _view("Buy", package="b"), "another app"),
        (_view("Buy", id="a:id/one"), _view("Buy", id="a:id/two"), "another id"),
        (_view("Buy"), _view("Buy", (0, 0, 1000, 2000)), "many times its size"),
        (_view(""), _view("Buy"), "lost or got its words"),
        (
            _view("", (0, 0, 500, 100), _view("Song"), _view("Ann")),
            _view("", (0, 0, 500, 100), _view("Play"), _view("Ann")),
            "another title",
        ),
    ],
)
def test_the_judge_objects_to_what_a_person_would(old: View, new: View, why: str) -> None:
    frame = View("android.widget.FrameLayout", box=(0, 0, 1080, 2400), package="a")
    pages = [Page([frame, view]) for view in (old, new)]
    assert objection(old, new, *pages) == why
