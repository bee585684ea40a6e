"""From a target to one element, or to a failure that tells how to go on."""

from handrail.tree.select.find import Found, find, find_all
from handrail.tree.select.handles import NO_HANDLES, Handles

__all__ = ["NO_HANDLES", "Found", "Handles", "find", "find_all"]
