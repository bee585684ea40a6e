"""Maestro's flow language: read as it is, and lowered to Handrail's own actions while it runs."""

__version__ = "0.2.0"
