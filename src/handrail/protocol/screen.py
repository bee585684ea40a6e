"""What a door hands out of a screen: OpenPocket's snapshot and AgenTest's dialogs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.protocol.model import CamelModel

Extent = Annotated[int, Field(strict=True, ge=0, le=32_767)]


class ScreenSnapshot(CamelModel):
    """The screen as a picture (seed 000)."""

    device_id: str
    current_app: str
    width: Extent
    height: Extent
    screenshot_base64: str
    captured_at: str


class SystemDialog(CamelModel):
    """A dialog of the system, not of the app: a permission prompt is not a crash."""

    package_name: str
    title: str
    buttons: tuple[str, ...]
    kind: Literal["permission", "crash", "anr", "chooser", "installer"] | None = None
