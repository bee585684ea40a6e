"""One phone with one session on it, as the core's stories have it."""

from tests.scenario.conftest import w

__all__ = ["w"]
