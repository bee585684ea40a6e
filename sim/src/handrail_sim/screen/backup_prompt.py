"""What the phone asks before a computer gets a copy of its data: `adb backup`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.system.overlays import panel
from handrail_sim.view import View, button, column, text

KIND = "backup"
PACKAGE = "com.android.backupconfirm"
TITLE = f"{PACKAGE}/.BackupRestoreConfirmation"
WORDS = (
    "A full backup of all data to a connected desktop computer has been requested. Do you want to allow "
    "this to happen? If you did not request the backup yourself, do not allow the operation to proceed."
)


def build(prompt: dict[str, Any], close: Callable[[int], object]) -> View:
    """The question and its two answers."""

    def answer(allowed: bool) -> Callable[[], None]:
        def run() -> None:
            close(prompt["number"])
            prompt["answer"]["live"](allowed)

        return run

    return panel(
        column(
            text("Full backup", "headline", id="android:id/alertTitle"),
            text(WORDS, "body", id="confirm_text"),
            button("Do not back up", answer(False), "text", id="button_deny", align="end"),
            button("Back up my data", answer(True), "text", id="button_allow", align="end"),
            padding=24.0,
            gap=12.0,
        )
    )
