"""Errors of setting up a phone: each carries a message and a hint."""

from __future__ import annotations


class SimulatorError(Exception):
    """Anything that the simulator refuses. `message` says what, `hint` what would help, `path` where."""

    def __init__(self, message: str, *, hint: str = "", path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path


class BadSetting(SimulatorError):
    """A port, a fault, a file of faults or another word that the phone does not know."""


class UnknownApp(SimulatorError):
    """No app of this name is built in."""


class UnreadableDump(SimulatorError):
    """A recorded screen that is no UI dump."""
