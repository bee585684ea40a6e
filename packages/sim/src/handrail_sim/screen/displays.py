"""Displays besides the one in use: a second one, and the other side of a phone that folds.

Everything else on the phone knows one `Display`, the one in use; dumps and screencap ask here for all.
"""

from __future__ import annotations

from dataclasses import dataclass

from handrail_sim.system.android import Android

DISPLAY_ID = 4619827259835644672
"""What SurfaceFlinger calls the first panel; the others count on."""
SECOND_PORT = 2


@dataclass(frozen=True, slots=True)
class Panel:
    """One display. `number` is the logical one, None for a panel that is off; virtual ones have no `port`."""

    number: int | None
    port: int | None
    name: str
    width: int
    height: int
    density: int
    rotation: int = 0

    @property
    def physical_id(self) -> int:
        return DISPLAY_ID + (self.port or 0)

    @property
    def unique_id(self) -> str:
        return (
            f"virtual:com.android.shell,2000,{self.name},0"
            if self.port is None
            else f"local:{self.physical_id}"
        )


class Displays:
    """All panels of a phone; folding it changes which one is in use."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self._inner: tuple[int, int, int] | None = None  # what the phone has when it is open
        phone.faults.listeners.append(self._fault)

    @property
    def folded(self) -> bool:
        fold = self.phone.faults.active("fold")
        return fold is not None and fold.options["state"] == "closed"

    def main(self) -> Panel:
        display = self.phone.display
        size = display.width, display.height, display.density
        return Panel(0, int(self.folded), "Built-in Screen", *size, display.rotation)

    def logical(self) -> list[Panel]:
        second = self._second()
        if second is None:
            return [self.main()]
        first = bool(self.phone.faults.active("second_display").options["first"])  # type: ignore[union-attr]
        return [second, self.main()] if first else [self.main(), second]

    def physical(self) -> list[Panel]:
        panels = [self.main(), *self._unused()]
        second = self._second()
        if second is not None and second.port is not None:
            panels.append(second)
        return sorted(panels, key=lambda panel: panel.port or 0)

    def _second(self) -> Panel | None:
        fault = self.phone.faults.active("second_display")
        if fault is None:
            return None
        fields = fault.options
        wide, high = fields["width"], fields["height"]
        if fields["rotation"] % 2:
            wide, high = high, wide
        port = SECOND_PORT if fields["physical"] else None
        name = "HDMI Screen" if fields["physical"] else "Overlay #1"
        return Panel(fields["id"], port, name, wide, high, fields["density"], fields["rotation"])

    def _unused(self) -> list[Panel]:
        fault = self.phone.faults.active("fold")
        if fault is None or self._inner is None:
            return []
        if self.folded:
            return [Panel(None, 0, "Built-in Screen", *self._inner)]
        return [Panel(None, 1, "Cover Screen", *self._cover())]

    def _cover(self) -> tuple[int, int, int]:
        fields = self.phone.faults.active("fold").options  # type: ignore[union-attr]
        return fields["width"], fields["height"], fields["density"]

    def _fault(self, name: str, _on: bool) -> None:
        if name != "fold":
            return
        display = self.phone.display
        if self._inner is None:
            self._inner = (display.physical_width, display.physical_height, display.physical_density)
        display.physical_width, display.physical_height, display.physical_density = (
            self._cover() if self.folded else self._inner
        )
        if self.phone.faults.active("fold") is None:
            self._inner = None
        display.density = display.physical_density
        self.phone.set_size()
        self.phone.bars_changed()
