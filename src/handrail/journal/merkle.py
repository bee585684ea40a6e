"""The hash tree of RFC 6962, as pure arithmetic: roots, inclusion and consistency, made and checked.

Whoever makes a proof gives `at(level, number)`: the hash of the complete subtree of `2**level` leaves that
begins at leaf `number * 2**level`. Where those hashes are kept is nobody's business here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

At = Callable[[int, int], bytes]

HASH_BYTES = 32
MOST_HASHES = 63
"""No proof of a tree that can exist is longer."""
EMPTY_ROOT = hashlib.sha256(b"").digest()


class BadProof(Exception):
    """It proves nothing; the message says why."""


def leaf_hash(data: bytes) -> bytes:
    """A leaf can never be taken for a node: their first bytes differ."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over the two nodes below it."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """A growing tree that remembers only the complete subtrees on its right edge, the largest first."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[bytes] = []

    def copy(self) -> Frontier:
        """A second frontier that grows independently."""
        other = Frontier()
        other.size, other._edge = self.size, list(self._edge)
        return other

    def add(self, leaf: bytes) -> None:
        filled, self.size = self.size, self.size + 1
        while filled & 1:
            leaf = node_hash(self._edge.pop(), leaf)
            filled >>= 1
        self._edge.append(leaf)

    def root(self) -> bytes:
        return join_subtrees(self._edge)


def join_subtrees(edge: Sequence[bytes]) -> bytes:
    """The root over neighbouring subtrees, the largest first."""
    if not edge:
        return EMPTY_ROOT
    root = edge[-1]
    for left in reversed(edge[:-1]):
        root = node_hash(left, root)
    return root


def root_of_complete_subtree(hashes: Sequence[bytes]) -> bytes:
    """The root over a power of two of hashes."""
    sha256 = hashlib.sha256
    while len(hashes) > 1:
        pairs = zip(hashes[::2], hashes[1::2], strict=True)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in pairs]
    return hashes[0]


def root_of_span(at: At, start: int, end: int) -> bytes:
    """The root over leaves `start` to `end`, where `start` is where RFC 6962 would split."""
    edge = []
    while start < end:  # the complete subtrees that cover the span, the largest first
        level = (end - start).bit_length() - 1
        edge.append(at(level, start >> level))
        start += 1 << level
    return join_subtrees(edge)


def _largest_power_below(size: int) -> int:
    """The largest power of two that is smaller."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_path(at: At, index: int, size: int) -> list[bytes]:
    """The hashes beside the way from a leaf to the root, the lowest first."""
    if not 0 <= index < size:
        raise BadProof(f"a tree of {size} leaves has no leaf {index}")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _largest_power_below(end - start)
        if index < middle:
            path.append(root_of_span(at, middle, end))
            end = middle
        else:
            path.append(root_of_span(at, start, middle))
            start = middle
    return path[::-1]


def consistency_path(at: At, old: int, new: int) -> list[bytes]:
    """What shows that the tree of `new` leaves begins with the one of `old`."""
    if not 0 <= old <= new:
        raise BadProof(f"a tree of {new} leaves can't begin with {old}")
    if old in (0, new):
        return []
    path: list[bytes] = []
    start, end, is_complete = 0, new, True
    while old != end:
        middle = start + _largest_power_below(end - start)
        if old <= middle:
            path.append(root_of_span(at, middle, end))
            end = middle
        else:
            path.append(root_of_span(at, start, middle))
            start, is_complete = middle, False
    if not is_complete:
        path.append(root_of_span(at, start, end))
    return path[::-1]


def root_of_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root that this path leads to. Only a comparison with a signed one makes it a proof."""
    if not 0 <= index < size:
        raise BadProof(f"a tree of {size} leaves has no leaf {index}")
    inner = (index ^ (size - 1)).bit_length()
    border = (index >> inner).bit_count()
    _check_hashes(path, inner + border)
    root = leaf
    for level, beside in enumerate(path[:inner]):
        root = node_hash(beside, root) if index >> level & 1 else node_hash(root, beside)
    for beside in path[inner:]:
        root = node_hash(beside, root)
    return root


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Raises `BadProof` unless the leaf stands there in the tree of this root."""
    if root_of_inclusion(leaf, index, size, path) != root:
        raise BadProof("the path leads to another root")


def check_consistency(old: int, new: int, path: Sequence[bytes], old_root: bytes, new_root: bytes) -> None:
    """Raises `BadProof` unless the tree of `new` leaves begins with the one of `old`."""
    if not 0 <= old <= new:
        raise BadProof(f"a tree of {new} leaves can't begin with {old}")
    if old in (0, new):
        _check_hashes(path, 0)
        if old_root != (new_root if old else EMPTY_ROOT):
            raise BadProof("trees of the same size have other roots")
        return
    # Both roots are made from the same hashes: the old one from those to the left, the new one from all.
    shift = (old & -old).bit_length() - 1
    index = (old >> shift) - 1
    # Whether the path begins with the last complete subtree; else that is the whole old tree.
    seeded = old != 1 << shift
    inner = ((old - 1) ^ (new - 1)).bit_length() - shift
    border = (index >> inner).bit_count()
    _check_hashes(path, inner + border + seeded)
    first = path[0] if seeded else old_root
    beside = path[1:] if seeded else path
    older = newer = first
    for level, hashed in enumerate(beside[:inner]):
        if index >> level & 1:
            older, newer = node_hash(hashed, older), node_hash(hashed, newer)
        else:
            newer = node_hash(newer, hashed)
    for hashed in beside[inner:]:
        older, newer = node_hash(hashed, older), node_hash(hashed, newer)
    if older != old_root:
        raise BadProof("the proof leads to another old root")
    if newer != new_root:
        raise BadProof("the proof leads to another new root")


def _check_hashes(path: Sequence[bytes], count: int) -> None:
    if len(path) != count:
        raise BadProof(f"a proof has {count} hashes here, not {len(path)}")
    if any(len(node) != HASH_BYTES for node in path):
        raise BadProof("a hash has 32 bytes")


def frontier_of(leaves: Iterable[bytes]) -> Frontier:
    """The tree over these hashes of leaves."""
    tree = Frontier()
    for leaf in leaves:
        tree.add(leaf)
    return tree
