"""What changed between two screens, as data and as text."""

from handrail.tree.diff.compare import LIMIT, Change, Diff, diff
from handrail.tree.diff.text import diff_text

__all__ = ["LIMIT", "Change", "Diff", "diff", "diff_text"]
