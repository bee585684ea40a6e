"""The hash tree: against RFC 6962 written down naively, against published roots, and against forgers."""

from __future__ import annotations

from random import Random

import pytest

from handrail.journal import merkle
from handrail.journal.merkle import BadProof, check_consistency, check_inclusion
from tests.cases import each
from tests.unit.journal import naive

DATA = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Of the first so many of these leaves, as Certificate Transparency's own tests have them."""
LEAVES = [merkle.leaf_hash(number.to_bytes(2, "big")) for number in range(130)]


def at(level: int, number: int) -> bytes:
    return naive.root(LEAVES[number << level : (number + 1) << level])


@each("size", range(9))
def test_the_published_roots_come_out(size: int) -> None:
    leaves = [merkle.leaf_hash(bytes.fromhex(data)) for data in DATA[:size]]
    assert merkle.frontier_of(leaves).root().hex() == ROOTS[size]
    assert naive.root(leaves).hex() == ROOTS[size], "the judge, too"


def test_every_root_path_and_proof_is_the_one_of_the_rfc_and_checks() -> None:
    tree, roots = merkle.Frontier(), []
    for size in range(70):
        roots.append(naive.root(LEAVES[:size]))
        assert tree.root() == merkle.root_of_span(at, 0, size) == roots[size]
        for index in range(size):
            found = merkle.inclusion_path(at, index, size)
            assert found == naive.path(index, LEAVES[:size])
            check_inclusion(LEAVES[index], index, size, found, roots[size])
        for old in range(1, size + 1):
            found = merkle.consistency_path(at, old, size)
            assert found == naive.proof(old, LEAVES[:size])
            check_consistency(old, size, found, roots[old], roots[size])
        tree.add(LEAVES[size])


def test_a_proof_with_anything_changed_proves_nothing() -> None:
    random = Random(17)
    for _ in range(2_000):
        size = random.randrange(2, len(LEAVES))
        index, old = random.randrange(size), random.randrange(1, size)
        root, old_root = naive.root(LEAVES[:size]), naive.root(LEAVES[:old])
        path, grown = naive.path(index, LEAVES[:size]), naive.proof(old, LEAVES[:size])
        with pytest.raises(BadProof):
            check_inclusion(LEAVES[index], index, size, spoiled(path, random), root)
        with pytest.raises(BadProof):
            check_inclusion(LEAVES[index], (index + random.randrange(1, size)) % size, size, path, root)
        with pytest.raises(BadProof):
            check_inclusion(merkle.leaf_hash(b"another"), index, size, path, root)
        with pytest.raises(BadProof):
            check_consistency(old, size, spoiled(grown, random), old_root, root)
        with pytest.raises(BadProof):
            check_consistency(old, size, grown, naive.root([*LEAVES[: old - 1], b"x" * 32]), root)


def spoiled(path: list[bytes], random: Random) -> list[bytes]:
    """A hash changed, left out, added, or two that changed places."""
    path = list(path)
    way = random.randrange(4)
    place = random.randrange(len(path)) if path else 0
    if not path or way == 0:
        path.insert(place, random.randbytes(32))
    elif way == 1:
        path.pop(place)
    elif way == 2 and len(path) > 1:
        path[place], path[place - 1] = path[place - 1], path[place]
    else:
        flipped = bytearray(path[place])
        flipped[random.randrange(32)] ^= 1 << random.randrange(8)
        path[place] = bytes(flipped)
    return path


def test_sizes_and_places_that_can_not_be_are_refused() -> None:
    root = naive.root(LEAVES[:4])
    for index, size in ((4, 4), (-1, 4), (0, 0)):
        with pytest.raises(BadProof):
            merkle.inclusion_path(at, index, size)
        with pytest.raises(BadProof):
            check_inclusion(LEAVES[0], index, size, [], root)
    with pytest.raises(BadProof):
        check_consistency(5, 4, [], root, root)
    with pytest.raises(BadProof):
        merkle.consistency_path(at, 5, 4)
    with pytest.raises(BadProof, match="same size"):
        check_consistency(4, 4, [], root, naive.root(LEAVES[1:5]))
    with pytest.raises(BadProof, match="32 bytes"):
        check_inclusion(LEAVES[0], 0, 2, [b"short"], root)


def test_a_leaf_is_never_taken_for_a_node() -> None:
    """The second preimage that trees without the first byte have."""
    pair = LEAVES[0] + LEAVES[1]
    assert merkle.leaf_hash(pair) != merkle.node_hash(LEAVES[0], LEAVES[1])
