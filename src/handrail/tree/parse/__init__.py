"""Reads any Android UI dump into a `Screen`: strict readers first, recovery after them."""

from handrail.tree.parse.reader import parse

__all__ = ["parse"]
