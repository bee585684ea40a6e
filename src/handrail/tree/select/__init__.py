"""From a target to one element, or to a failure that tells how to go on."""

from handrail.tree.mention import NO_HANDLES, Handles
from handrail.tree.select.find import FoundElement, find, find_all

__all__ = ["NO_HANDLES", "FoundElement", "Handles", "find", "find_all"]
