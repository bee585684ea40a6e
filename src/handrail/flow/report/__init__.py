"""A run as one page that people open, and as lines for a terminal. Values in, text out; no device."""

from handrail.flow.report.page import write

__all__ = ["write"]
