"""Flow files of other programs, which a satellite reads. Without it they are recognised and refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from handrail.satellites import load_plugin, missing_satellite, plugins

if TYPE_CHECKING:
    from handrail.flow.plan import AnyFlow
    from handrail.flow.run_record import FlowRecord

GROUP, MAESTRO = "handrail.flow_readers", "maestro"
_SUFFIXES = (".yaml", ".yml")
_MAESTRO_HEADER = re.compile(r"^(?:appId|url):[^\n]*\n(?:[^\n]*\n)*?---", re.MULTILINE)


class RunningRuntime(NamedTuple):
    """What a reader needs of the runtime that runs its flows."""

    knows_host: Callable[[str], bool]
    """Whether the owner's policy lists a host."""
    note: Callable[[dict[str, Any]], None]
    """Writes an event into the journal."""


class ForeignFlows(Protocol):
    """The flows of one command line that another program's reader took."""

    documents: list[Any]
    was_given: bool
    runtime: RunningRuntime | None
    """None until flows run."""

    def takes(self, path: Path) -> bool: ...

    async def check(self) -> None: ...

    def env_for(self, document: AnyFlow) -> Mapping[str, str]: ...

    def why_left_out(self, document: AnyFlow, records: Sequence[FlowRecord]) -> str: ...


class NoForeignFlows:
    """Stands in where no reader is installed: names what to install for files that need one."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.documents: list[Any] = []
        self.was_given = False
        self.runtime: RunningRuntime | None = None
        self._env = env

    def takes(self, path: Path) -> bool:
        if looks_like_maestro(path):
            raise missing_satellite(MAESTRO, f"{path} is Maestro's and")
        return False

    async def check(self) -> None:
        """There is nothing to check."""

    def env_for(self, document: AnyFlow) -> Mapping[str, str]:  # noqa: ARG002
        return self._env

    def why_left_out(self, document: AnyFlow, records: Sequence[FlowRecord]) -> str:  # noqa: ARG002
        return ""


def is_installed() -> bool:
    return MAESTRO in plugins(GROUP)


def maestro(needed_by: str) -> Any:
    """The reader's module. Raises `Unsupported` that says what to install."""
    return load_plugin(GROUP, MAESTRO, MAESTRO, needed_by)


def looks_like_maestro(path: Path) -> bool:
    """A folder named .maestro, or a file (in the folder) whose header names an app and ends with `---`."""
    if path.is_dir():
        return path.name == ".maestro" or any(map(looks_like_maestro, path.glob("*.y*ml")))
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return False
    try:
        return bool(_MAESTRO_HEADER.search(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return False
