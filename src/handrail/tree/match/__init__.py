"""Who is who on two screens."""

from handrail.tree.match.matching import Matching, Scroll, match

__all__ = ["Matching", "Scroll", "match"]
