"""One window that no picture may show, among others that any may: what the fault `secure_window` asks for."""

from __future__ import annotations

from handrail_sim.system.device import Device
from handrail_sim.view import View, column, text
from handrail_sim.view.view import Style
from handrail_sim.view.windows import Window

PACKAGE = "com.example.authenticator"


class Guarded:
    """Marks the window that was asked for, or adds one of its own that floats above the app."""

    def __init__(self, phone: Device) -> None:
        self.phone = phone
        self._card = Window(
            "Authenticator", PACKAGE, "overlay", _card, placement="bottom", focusable=False, secure=True
        )
        self._marked: list[Window] = []

    def among(self, windows: list[Window]) -> list[Window]:
        """The windows with the secure one among them."""
        for window in self._marked:
            window.secure = False
        self._marked = []
        fault = self.phone.faults.active("secure_window")
        if fault is None:
            return windows
        which = str(fault.options["which"])
        if which == "overlay":
            display = self.phone.display
            foot = display.height - display.navigation_px
            self._card.resize((0, display.status_px, display.width, foot), self.phone.units)
            return [*windows, self._card]
        self._marked = [one for one in windows if which in (one.type, one.package) and not one.secure]
        for window in self._marked:
            window.secure = True
        return windows


def _card() -> View:
    return column(
        text("Your code", "label"),
        text("428 913", "headline", id="code"),
        id="floating_card",
        width="wrap",
        padding=16,
        style=Style(background="surface_container_high", radius=12.0, elevation=6.0),
    )
