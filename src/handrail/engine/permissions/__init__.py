"""Answers that people gave once and that count again."""

from handrail.engine.permissions.gate import Gate
from handrail.engine.permissions.permissions import Permissions

__all__ = ["Gate", "Permissions"]
