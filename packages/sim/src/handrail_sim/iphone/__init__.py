"""A simulated iPhone: the phone's apps as iOS shows them, behind WebDriverAgent and usbmuxd."""

from __future__ import annotations

from handrail_sim.iphone.doors import ServedIPhone, make_iphone, serve_iphone, simulated_iphone
from handrail_sim.iphone.phone import IPhone

__all__ = ["IPhone", "ServedIPhone", "make_iphone", "serve_iphone", "simulated_iphone"]
