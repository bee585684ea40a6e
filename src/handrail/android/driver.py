"""One phone as the surface's capabilities see it: what every channel, alone or together, has to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from handrail.adb.shell import DeviceShell
from handrail.surface.capabilities import ClipboardCapability, KeysCapability, LookCapability, TouchCapability
from handrail.surface.values import Facts, IdleResult, Typed

if TYPE_CHECKING:
    from handrail.android.sync.apps import Syncs
from handrail.android.web.views import WebViews


class Driver(LookCapability, TouchCapability, KeysCapability, ClipboardCapability, Protocol):
    """Every method may raise `DeviceError`; reads are retried inside, input never."""

    @property
    def serial(self) -> str: ...

    @property
    def shell(self) -> DeviceShell:
        """For what is no primitive: apps, state, logs, storage are functions over it."""

    @property
    def syncs(self) -> Syncs | None:
        """What debug builds tell of themselves; None where they are not asked."""

    @property
    def webs(self) -> WebViews | None:
        """What web pages tell of themselves; None where they are not asked."""

    async def facts(self) -> Facts: ...

    async def type_text(self, text: str, *, blind: bool = False) -> Typed: ...

    async def require_way(self, text: str) -> None: ...

    async def clear_text(self) -> Typed: ...

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None: ...

    def channels(self) -> dict[str, str]: ...

    def diagnostics(self) -> list[str]: ...

    async def close(self) -> None: ...
