"""RFC 6962 as its text reads, slowly and without our code: the judge of trees and proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def split(count: int) -> int:
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def root(leaves: Sequence[bytes]) -> bytes:
    """MTH of section 2.1, over hashes of leaves."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    at = split(len(leaves))
    return hashlib.sha256(b"\x01" + root(leaves[:at]) + root(leaves[at:])).digest()


def path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PATH of section 2.1.1."""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return [*path(index, leaves[:at]), root(leaves[at:])]
    return [*path(index - at, leaves[at:]), root(leaves[:at])]


def proof(old: int, leaves: Sequence[bytes], whole: bool = True) -> list[bytes]:
    """SUBPROOF of section 2.1.2."""
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    at = split(len(leaves))
    if old <= at:
        return [*proof(old, leaves[:at], whole), root(leaves[at:])]
    return [*proof(old - at, leaves[at:], False), root(leaves[:at])]
