"""Answers that people gave once and that count again."""

from handrail.engine.policy.permissions import Gate, Permissions

__all__ = ["Gate", "Permissions"]
