"""The command line's fixture, for every test beside it."""

from tests.unit.cli.command import handrail

__all__ = ["handrail"]
