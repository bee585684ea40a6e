"""What happened, provably: hash-chained events in the store, trees and pictures as blobs beside them."""

from handrail.journal.journal import Journal

__all__ = ["Journal"]
