"""Hands for AI agents on phones, rails for the people who own them."""

__version__ = "0.1.0"
