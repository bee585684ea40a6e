"""What the core loads by the entry point `handrail.flow_readers`; each part when it is first used."""

import importlib
from typing import Any

_PARTS = {
    "MaestroFlows": "command_run",
    "check_files": "check",
    "is_config": "workspace",
    "is_flow": "workspace",
    "to_handrail": "convert",
    "to_maestro": "convert_back",
}


def __getattr__(name: str) -> Any:
    if name not in _PARTS:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"handrail_maestro.{_PARTS[name]}"), name)
