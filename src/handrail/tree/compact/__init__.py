"""A screen as the text an agent reads, in about 150 tokens."""

from handrail.tree.compact.flags import flags_of
from handrail.tree.compact.render import CompactOptions, CompactResult, render

__all__ = ["CompactOptions", "CompactResult", "flags_of", "render"]
