"""The prompt that asks for a finger, as apps bring it up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.system.overlays import panel
from handrail_sim.view import View, button, column, icon, text

KIND = "biometric"
PACKAGE = "com.android.systemui"
TRIES = 5
"""Wrong fingers until the prompt gives up."""


def build(prompt: dict[str, Any], cancel: Callable[[], None]) -> View:
    """Title, the app's line, the sensor's sign, and the way out."""
    words = "Not recognized" if prompt["wrong"] else "Touch the fingerprint sensor"
    return panel(
        column(
            text(prompt["title"], "headline", id="title"),
            text(prompt["subtitle"], "body", id="subtitle"),
            icon("lock", "Fingerprint icon", 64.0, id="biometric_icon", align="center_h"),
            text(words, "label", id="indicator", align="center_h"),
            button(prompt["negative"], cancel, "text", id="button_negative", align="start"),
            padding=24.0,
            gap=12.0,
        )
    )
