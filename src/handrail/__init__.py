"""AI agents and tests operate phones and browsers, and their owners stay in charge.

What is public here is imported when it is first used: a command line should not pay for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # as `typing` has it, which most commands can do without
    from typing import Any

__version__ = "0.2.0"

_PUBLIC = {"Runtime": "handrail.runtime", "simulated_phone": "handrail.simulator"}


def __getattr__(name: str) -> Any:
    import importlib  # noqa: PLC0415

    if name == "sync":
        return importlib.import_module("handrail.sync")
    if name in _PUBLIC:
        importlib.import_module("handrail.system").need_posix(f"handrail.{name}")
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__", "sync"])
