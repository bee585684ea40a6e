"""The HTTP helper of seed 003: two APKs, run by `am instrument`, spoken to on device port 8765."""

from handrail.android.helper.channel import open_helper

__all__ = ["open_helper"]
