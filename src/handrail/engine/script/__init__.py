"""A model's scripts on the owner's machine: parsed, held against a list, run within limits, recorded."""

from handrail.engine.script.executor import ScriptExecutor, ScriptResult

__all__ = ["ScriptExecutor", "ScriptResult"]
