"""The least phone that an ADB daemon can serve: files, ports, faults and a shell, no screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.clock import ManualClock
from handrail_sim.disk.files import Files
from handrail_sim.faults import Faults
from handrail_sim.stream import Stream


class BarePhone:
    boot_ms = 1500.0

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.serial = "bare"
        self.files = Files(self.clock)
        self.faults = Faults(self.clock)
        self.ports: dict[str, Callable[[Stream], Awaitable[None]]] = {}
        self.props = {
            "ro.product.name": "sdk_phone",
            "ro.product.model": "Handrail",
            "ro.product.device": "emu",
        }
        self.reboot_hooks: list[Callable[[], None]] = []
        self.prompts: list[Callable[[bool, bool], object]] = []

    def reboot(self) -> None:
        for hook in self.reboot_hooks:
            hook()

    def debug_prompt(self, fingerprint: str, answer: Callable[[bool, bool], object]) -> None:
        self.prompts.append(answer)

    def catch_up(self) -> None:
        pass

    def debug_prompt_over(self, fingerprint: str) -> None:
        """There is no screen."""


def bare_phone() -> Any:
    """Typed as anything: what it leaves out is what the tests show not to be needed."""
    return BarePhone()
