"""A run as a page that people open, as JUnit XML, and as lines for a terminal. Values in, text out."""

from handrail.flow.report.page import write

__all__ = ["write"]
