"""The promise of refs, under random changes of an invented phone and of real screens."""

from __future__ import annotations

import csv

import pytest

from handrail.screen.match.features import label_of
from handrail.screen.node import Node
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.corpus import CORPUS, needs_corpus
from tests.unit.screen.corpus_edits import KINDS, Score, measure
from tests.unit.screen.witness import Witness


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 6))])
def test_no_ref_ever_moves_and_survivors_keep_theirs(part: int) -> None:
    witnesses = [Witness(seed).live(6) for seed in range(part * 40, part * 40 + 40)]
    survivors = sum(witness.survivors for witness in witnesses)
    kept = sum(witness.kept for witness in witnesses)
    assert survivors > 2_000
    assert kept / survivors >= 0.98


@pytest.mark.parametrize("seed", [11_935, 12_046, 14_994, 15_003])
def test_what_an_edge_left_of_a_row_is_not_taken_for_its_neighbour(seed: int) -> None:
    """Found by the long run: a row went, and one with the same note came to its place at the edge."""
    assert Witness(seed).live(12).kept


def test_a_stored_registry_keeps_the_promise_too() -> None:
    for seed in range(500, 508):
        witness = Witness(seed)
        for _ in range(4):
            witness.live(1)
            witness.registry = Registry.load(witness.registry.dump())
        assert witness.kept >= 0.9 * witness.survivors


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    assert CORPUS is not None
    return measure(CORPUS)


@needs_corpus
@pytest.mark.parametrize("kind", KINDS)
def test_edits_of_real_screens_keep_the_refs_of_who_survives(scores: dict[str, Score], kind: str) -> None:
    score = scores[kind]
    print(f"{kind}: {score}")  # noqa: T201
    assert score.survivors > 300
    assert score.wrong == 0
    assert score.share >= 0.96


def identity(node: Node) -> tuple[str, str, str]:
    return node.resource_id, node.class_name, label_of(node)


@needs_corpus
def test_no_ref_moves_to_another_element_on_real_pairs() -> None:
    assert CORPUS is not None
    pairs = kept = total = 0
    with (CORPUS / "PAIRS.tsv").open() as table:
        for row in csv.DictReader(table, delimiter="\t"):
            old, new = (parse((CORPUS / row[side]).read_bytes()) for side in ("before", "after"))
            registry = Registry()
            before = registry.rebuild(old).ref_map
            registry.rebuild(new)
            after = registry.refs
            pairs += 1
            total += len(before)
            for ref, node in before.items():
                if ref in after:
                    kept += 1
                    same = [a == b for a, b in zip(identity(node), identity(after[ref]), strict=True)]
                    assert any(same), (row["pair"], ref)
    print(f"{pairs} pairs: {kept} of {total} elements kept their ref ({kept / total:.1%})")  # noqa: T201
    assert pairs > 80
    assert kept > 0.4 * total
